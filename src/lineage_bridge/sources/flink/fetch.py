"""Fetches jobs from the REST APIs of the JobManager and the history server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lineage_bridge.errors import SourceError, UnreachableError
from lineage_bridge.sources.common.flink.metrics import PENDING, Counts, JobMetrics, metrics_of, topics_of, wanted_of
from lineage_bridge.sources.common.flink.plan import Operator, Plan, read_plan
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen

Answer = Mapping[str, Any]
_T = TypeVar("_T")

ENDED = ("FINISHED", "FAILED", "CANCELED")
_LISTENERS = "execution.job-status-changed-listeners"
_LISTENER, _LISTENERS_NAMESPACE = "io.openlineage.flink", "flink-jobs"
"""A part of the class name of OpenLineage's listener, and the default namespace of its jobs."""
NAMESPACE, NAME = "openlineage.job.namespace", "openlineage.job.name"
_ERRORS = ("FAILED", "FAILING", "RESTARTING")


@dataclass(frozen=True)
class JobAnswers:
    """The answers about a job in one poll; None if not requested or not answered. `overview` is the job's entry in `/jobs/overview`."""

    overview: Answer
    detail: Answer | None = None
    plan: Plan = field(default_factory=Plan)
    settings: Answer | None = None
    exceptions: Answer | None = None
    checkpoints: Answer | None = None
    restarts: int | None = None
    metrics: JobMetrics = field(default_factory=JobMetrics)
    unseen: tuple[Unseen, ...] = ()


@contextmanager
def shaped(what: str) -> Iterator[None]:
    """A context manager: if an answer lacks the shape that Flink documents, the resulting error of the code inside becomes a
    SourceError.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise SourceError(
            f"{what}: the answer has an unexpected shape", "check that the address is that of a JobManager's REST API"
        ) from error


class JobManager:
    """A client of the REST API of a JobManager or a history server."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def version(self) -> str:
        """Fetch the version of Flink. Raises SourceError."""
        return str(_object(self._http.get("/overview"), "flink-version")["flink-version"])

    def jobs(self) -> list[Answer]:
        """Fetch all jobs, with state, name and times. Raises SourceError."""
        listed = _object(self._http.get("/jobs/overview"), "jobs")["jobs"]
        with shaped("jobs"):
            if not isinstance(listed, list) or any(type(job[member]) is not kind for job in listed for member, kind in _LISTED.items()):
                raise TypeError("a job in the list lacks a member, or one has the wrong type")
        return list(listed)

    def applications(self) -> dict[str, str]:
        """Fetch the names of applications by id; none before Flink 2.3. Raises SourceError."""
        listed = _object(self._http.get("/applications/overview"), "applications")["applications"]
        with shaped("applications"):
            return {str(job["id"]): str(job["name"]) for job in listed}

    def listener(self) -> dict[str, str]:
        """Fetch the settings of OpenLineage's own listener; none if it is not configured. Raises SourceError."""
        config = self._http.get("/jobmanager/config")
        with shaped("settings"):
            settings = {str(entry["key"]): str(entry["value"]) for entry in config}
        if _LISTENER not in settings.get(_LISTENERS, ""):
            return {}
        return {NAMESPACE: _LISTENERS_NAMESPACE, **{key: value for key, value in settings.items() if key in (NAMESPACE, NAME)}}

    def job(self, jid: str) -> Answer:
        """Fetch a job with its vertices and plan. Raises SourceError, MissingError if the job is gone."""
        detail = _object(self._http.get(f"/jobs/{jid}"), "vertices")
        if not isinstance(detail["vertices"], list):
            raise SourceError("a job's vertices are not a list", "check that the address is that of a JobManager's REST API")
        return detail if "plan" in detail else {**detail, **_object(self._http.get(f"/jobs/{jid}/plan"), "plan")}

    def exceptions(self, jid: str) -> Answer:
        """Fetch the failures of a job's tasks. Raises SourceError."""
        return _object(self._http.get(f"/jobs/{jid}/exceptions"))

    def look(self, overview: Answer, before: Mapping[str, Any] | None, known: Plan | None) -> JobAnswers:
        """Fetch everything about a job. `before` is its part of the snapshot, `known` its plan at the previous poll.

        Raises SourceError if the job itself cannot be read, UnreachableError if the JobManager is gone.
        """
        jid, name, state = str(overview["jid"]), str(overview["name"]), str(overview["state"])
        changed = before is None or known is None or before["state"] != state or before["modified"] != overview.get("last-modification")
        detail = self.job(jid) if changed else None
        unseen: list[Unseen] = []

        def attempt(what: str, ask: Callable[[], _T]) -> _T | None:
            try:
                with shaped(what):
                    return ask()
            except UnreachableError:
                raise
            except SourceError as error:
                unseen.append(Unseen(f"job {name}: {what}", str(error)))
                return None

        with shaped(f"job {name}"):
            plan = read_plan(detail["plan"], detail["vertices"]) if detail is not None else known or Plan()
        was = metrics_of(before)
        return JobAnswers(
            overview,
            detail,
            plan,
            attempt("settings", lambda: _object(self._http.get(f"/jobs/{jid}/config"))) if before is None else None,
            self.exceptions(jid) if changed and state in _ERRORS else None,
            attempt("checkpoints", lambda: _object(self._http.get(f"/jobs/{jid}/checkpoints"))),
            attempt("restarts", lambda: self._restarts(jid)),
            attempt("metrics", lambda: self._metrics(jid, plan, was)) or was,
            tuple(unseen),
        )

    def _restarts(self, jid: str) -> int | None:
        restarts = self._values(f"/jobs/{jid}/metrics", ["numRestarts"], "value")
        return int(restarts["numRestarts"]) if "numRestarts" in restarts else None

    def _metrics(self, jid: str, plan: Plan, was: JobMetrics) -> JobMetrics:
        """Fetch the counters of a job: one call per vertex with a source or sink, and a second call as long as the ids of its counters are
        not all known. The gauge of what a source of Kafka has not read exists once the source has read something.

        Flink returns nothing at all if one of the requested ids does not exist.
        """
        counts: dict[Operator, Counts] = {}
        settled: set[str] = set()
        ids: dict[str, tuple[str, ...]] = {}
        topics = dict(was.topics)
        for vertex, names in wanted_of(plan).items():
            path = f"/jobs/{jid}/vertices/{vertex}/subtasks/metrics"
            known = was.ids.get(vertex, ())
            lacks_gauge = any(name == PENDING and id_ not in known for id_, (_, name) in names.items())
            lacks_operator = {names[id_][0] for id_ in known if id_ in names} != {operator for operator, _ in names.values()}
            if lacks_operator or (lacks_gauge and vertex not in was.settled):
                listed = self._listed(path)
                known = tuple(sorted(names.keys() & listed))
                topics |= topics_of(plan, vertex, listed)
            values = self._values(path, known, "sum")
            ids[vertex] = known if values else ()
            for id_, value in values.items():
                operator, name = names[id_]
                counts.setdefault(operator, {})[name] = value
            if vertex in was.settled or any(value for id_, value in values.items() if names[id_][1] != PENDING):
                settled.add(vertex)
        return JobMetrics(counts, ids, topics, frozenset(settled))

    def _listed(self, path: str) -> frozenset[str]:
        answer = self._http.get(path)
        if not isinstance(answer, list):
            raise SourceError(f"GET {path} did not return a list of metrics", "check that the address is that of a JobManager's REST API")
        return frozenset(str(entry.get("id")) for entry in answer if isinstance(entry, dict))

    def _values(self, path: str, ids: Sequence[str], member: str) -> dict[str, float]:
        if not ids:
            return {}
        answer = self._http.get(path, get=",".join(ids), **({"agg": member} if member != "value" else {}))
        if not isinstance(answer, list):
            raise SourceError(f"GET {path} did not return a list of metrics", "check that the address is that of a JobManager's REST API")
        return {str(entry["id"]): float(entry[member]) for entry in answer if isinstance(entry, dict) and _is_number(entry.get(member))}


_LISTED = {"jid": str, "name": str, "state": str, "start-time": int, "end-time": int}


def _object(answer: Any, *members: str) -> Answer:  # noqa: ANN401  # JSON
    """Return an answer that must be an object with these members. Raises SourceError otherwise."""
    if not isinstance(answer, dict) or any(member not in answer for member in members):
        raise SourceError(
            f"an answer lacks one of the members {', '.join(members)}" if members else "an answer is not an object",
            "check that the address is that of a JobManager's REST API",
        )
    return answer


def _is_number(value: object) -> bool:
    try:
        return value is not None and float(str(value)) >= 0
    except ValueError:
        return False
