"""What the JobManager's REST API, and a history server's, tell of jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lineage_bridge.errors import SourceError, UnreachableError
from lineage_bridge.sources.flink.plan import Operator, Plan, read_plan
from lineage_bridge.sources.http import Http
from lineage_bridge.sources.observer import Unseen

Answer = Mapping[str, Any]
Counts = dict[str, float]
"""What one operator counts, by the name of the counter, summed over its subtasks."""
_T = TypeVar("_T")

ENDED = ("FINISHED", "FAILED", "CANCELED")
_READ = ("numRecordsIn", "numRecordsOut", "numBytesIn")
_WRITTEN = ("numRecordsSend", "numBytesSend", "numRecordsIn")
_TOPIC, _PARTITION = ".KafkaSourceReader.topic.", ".partition."
_LISTENERS = "execution.job-status-changed-listeners"
_LISTENER = "io.openlineage.flink"
_ERRORS = ("FAILED", "FAILING", "RESTARTING")


@dataclass(frozen=True)
class Look:
    """What one poll tells of a job; what was not asked or not told is None.

    `overview` is its line of `/jobs/overview`. `topics` are those that the metrics of a source name, by its place in the plan.
    """

    overview: Answer
    detail: Answer | None = None
    plan: Plan = field(default_factory=Plan)
    settings: Answer | None = None
    exceptions: Answer | None = None
    checkpoints: Answer | None = None
    restarts: int | None = None
    counts: Mapping[Operator, Counts] = field(default_factory=dict)
    topics: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    unseen: tuple[Unseen, ...] = ()


class JobManager:
    """A JobManager, or a history server."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def version(self) -> str:
        """The version of Flink. Raises SourceError."""
        return str(_object(self._http.get("/overview"), "flink-version")["flink-version"])

    def jobs(self) -> list[Answer]:
        """All jobs that it has, with state, name and times. Raises SourceError."""
        listed = _object(self._http.get("/jobs/overview"), "jobs")["jobs"]
        if not isinstance(listed, list) or not all(isinstance(job, dict) and job.keys() >= _LISTED for job in listed):
            raise SourceError("the list of jobs is not one of Flink's", "is the address that of a JobManager's REST API?")
        return listed

    def applications(self) -> dict[str, str]:
        """The names of applications by their ids; none before Flink 2.3. Raises SourceError."""
        listed = _object(self._http.get("/applications/overview"), "applications")["applications"]
        return {str(one.get("id")): str(one.get("name")) for one in listed}

    def listener(self) -> dict[str, str]:
        """The settings of OpenLineage's own listener, empty if jobs are not told to it. Raises SourceError."""
        told = self._http.get("/jobmanager/config")
        settings = {str(one.get("key")): str(one.get("value")) for one in told} if isinstance(told, list) else {}
        if _LISTENER not in settings.get(_LISTENERS, ""):
            return {}
        return {key: value for key, value in settings.items() if key.startswith("openlineage.job.")}

    def job(self, jid: str) -> Answer:
        """A job with its vertices and plan. Raises SourceError, MissingError for one that it has no more."""
        detail = _object(self._http.get(f"/jobs/{jid}"), "vertices")
        if not isinstance(detail["vertices"], list):
            raise SourceError("a job's vertices are no list", "is the address that of a JobManager's REST API?")
        return detail if "plan" in detail else {**detail, **_object(self._http.get(f"/jobs/{jid}/plan"), "plan")}

    def exceptions(self, jid: str) -> Answer:
        """Why its tasks failed. Raises SourceError."""
        return _object(self._http.get(f"/jobs/{jid}/exceptions"))

    def look(self, overview: Answer, before: Mapping[str, Any] | None, known: Plan | None) -> Look:
        """What there is to know of a job. `before` is what was known of it, `known` its plan as it was.

        Raises SourceError if the job as a whole cannot be seen, UnreachableError if the JobManager is gone.
        """
        jid, name, state = str(overview["jid"]), str(overview["name"]), str(overview["state"])
        changed = before is None or known is None or before["state"] != state or before["modified"] != overview.get("last-modification")
        detail = self.job(jid) if changed else None
        unseen: list[Unseen] = []

        def attempt(what: str, ask: Callable[[], _T]) -> _T | None:
            try:
                return ask()
            except UnreachableError:
                raise
            except SourceError as error:
                unseen.append(Unseen(f"job {name}: {what}", str(error)))
                return None

        plan = read_plan(detail["plan"], detail["vertices"]) if detail is not None else known or Plan()
        return Look(
            overview,
            detail,
            plan,
            attempt("settings", lambda: _object(self._http.get(f"/jobs/{jid}/config"))) if before is None else None,
            self.exceptions(jid) if changed and state in _ERRORS else None,
            attempt("checkpoints", lambda: _object(self._http.get(f"/jobs/{jid}/checkpoints"))),
            attempt("restarts", lambda: self._restarts(jid)),
            attempt("metrics", lambda: self._counts(jid, plan)) or {},
            attempt("topics", lambda: self._topics(jid, plan, before)) or {},
            tuple(unseen),
        )

    def _restarts(self, jid: str) -> int | None:
        told = self._values(f"/jobs/{jid}/metrics", ["numRestarts"], "value")
        return int(told["numRestarts"]) if "numRestarts" in told else None

    def _counts(self, jid: str, plan: Plan) -> dict[Operator, Counts]:
        """What sources and sinks count: one call for each vertex that has any."""
        wanted = [
            (operator, name) for side, names in ((plan.sources, _READ), (plan.sinks, _WRITTEN)) for operator in side for name in names
        ]
        found: dict[Operator, Counts] = {}
        for vertex in dict.fromkeys(operator.vertex for operator, _ in wanted if operator.name):
            ids = {
                f"{operator.metrics}.{name}": (operator, name) for operator, name in wanted if operator.vertex == vertex and operator.name
            }
            for id_, value in self._values(f"/jobs/{jid}/vertices/{vertex}/subtasks/metrics", list(ids), "sum").items():
                if id_ in ids:
                    operator, name = ids[id_]
                    found.setdefault(operator, {})[name] = value
        return found

    def _topics(self, jid: str, plan: Plan, before: Mapping[str, Any] | None) -> dict[int, tuple[str, ...]]:
        """The topics that the metrics of Kafka's sources name, asked for until they are there, a few times."""
        if before is not None and (before["topics"] or before["tries"] <= 0):
            return {int(place): tuple(topics) for place, topics in before["topics"]}
        found: dict[int, tuple[str, ...]] = {}
        for vertex in dict.fromkeys(operator.vertex for operator in plan.sources if operator.name):
            listed = self._http.get(f"/jobs/{jid}/vertices/{vertex}/subtasks/metrics")
            ids = [str(one.get("id")) for one in listed] if isinstance(listed, list) else []
            for place, operator in enumerate(plan.sources):
                head = operator.metrics + _TOPIC
                topics = {id_[len(head) :].rpartition(_PARTITION)[0] for id_ in ids if operator.vertex == vertex and id_.startswith(head)}
                if topics - {""}:
                    found[place] = tuple(sorted(topics - {""}))
        return found

    def _values(self, path: str, ids: list[str], member: str) -> dict[str, float]:
        told = self._http.get(path, get=",".join(ids), **({"agg": member} if member != "value" else {}))
        if not isinstance(told, list):
            raise SourceError(f"the metrics of {path} are no list")
        return {str(one["id"]): float(one[member]) for one in told if isinstance(one, dict) and _is_number(one.get(member))}


_LISTED = {"jid", "name", "state", "start-time"}


def _object(answer: Any, *members: str) -> Answer:  # noqa: ANN401  # JSON
    """An answer that is an object with these members. Raises SourceError."""
    if not isinstance(answer, dict) or any(member not in answer for member in members):
        raise SourceError(f"an answer lacks {', '.join(members) or 'all members'}", "is the address that of a JobManager's REST API?")
    return answer


def _is_number(value: object) -> bool:
    try:
        return value is not None and float(str(value)) >= 0
    except ValueError:
        return False
