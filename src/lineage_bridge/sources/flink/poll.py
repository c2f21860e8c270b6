"""Polls a Flink cluster once: decides which requests go to which server, and records what could not be fetched."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from lineage_bridge.errors import ConfigError, MissingError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.flink.flows import flows_of
from lineage_bridge.sources.common.flink.plan import Plan
from lineage_bridge.sources.common.flink.tables import DeclaredTables, read_declarations
from lineage_bridge.sources.common.flink.values import JobEvidence, JobFlows
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, SameJob, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.flink import gateway
from lineage_bridge.sources.flink.fetch import ENDED, NAME, NAMESPACE, Answer, JobAnswers, JobManager, shaped
from lineage_bridge.sources.flink.settings import FlinkSettings
from lineage_bridge.sources.flink.shared_metadata import metadata_of
from lineage_bridge.sources.flink.translate import ClusterContext, Remembered, began_again, events_of, plan_of, remember, replaced
from lineage_bridge.sql.names import Name, parsed, written

_REMEMBERED_US = 86_400_000_000
"""How long to look for a job that left the JobManager's list while it was running."""
_OF_SESSIONS = "default_catalog"
_T = TypeVar("_T")


class FlinkClients(NamedTuple):
    """The clients of a cluster's servers. The SQL gateway and the history server are optional."""

    manager: HttpClient
    gateway: HttpClient | None
    history: HttpClient | None


class Poll:
    """One poll of a Flink cluster. `before` is the previous snapshot, which is empty at the first poll."""

    def __init__(
        self, settings: FlinkSettings, clients: FlinkClients, namespace: str, before: Snapshot, shared: SharedMetadata, now_us: int
    ) -> None:
        self._settings, self._clients, self._namespace = settings, clients, namespace
        self._before, self._around, self._now_us = before, shared, now_us
        self._manager = JobManager(clients.manager)
        self._known: Mapping[str, Remembered] = before.get("jobs", {})
        self._unseen: list[Unseen] = []
        self._events: list[Json] = []

    def observation(self) -> Observation:
        """Run the poll. Raises SourceError if the JobManager does not list its jobs."""
        listed = {str(job["jid"]): job for job in self._manager.jobs()}
        selected = {jid: job for jid, job in listed.items() if self._settings.wants(job)}
        is_new = any(self._memory(job) is None for job in selected.values()) or "version" not in self._before
        version = self._asked("the version of Flink", self._manager.version, "version", "", is_new)
        unanswered: dict[str, str] = {}
        listener = self._asked("settings of the JobManager", self._manager.listener, "listener", unanswered, is_new)
        applications = self._asked("applications", self._manager.applications, "applications", unanswered, is_new)
        cluster = ClusterContext(self._namespace, version, self._settings.heartbeat_s, self._now_us, applications, self._settings.address)
        looks = self._fetch_jobs(selected)
        ddl, evidence, open_paths = self._evidence(looks)
        jobs = {jid: known for jid, known in self._known.items() if jid in selected and jid not in looks}
        for jid, look in sorted(looks.items(), key=lambda job: (int(job[1].overview["start-time"]), job[0])):
            jobs[jid] = self._events_of_job(jid, look, self._memory(look.overview), evidence, cluster, open_paths)
        jobs |= self._end_lost_jobs(listed, evidence, cluster)
        same, reported_same = self._job_aliases(listener, looks)
        snapshot = {
            "namespace": self._namespace,
            "version": version,
            "listener": listener,
            "applications": applications,
            "ddl": {written(path): text for path, text in ddl.items()},
            "jobs": jobs,
            "same": reported_same,
        }
        return Observation(snapshot, tuple(self._events), same, tuple(dict.fromkeys(self._unseen)))

    def _memory(self, job: Answer) -> Remembered | None:
        """The snapshot's entry about a job; None if the job ended and was started again under the same id."""
        known = self._known.get(str(job["jid"]))
        return None if began_again(job, known) else known

    def _asked(self, what: str, ask: Callable[[], _T], member: str, unanswered: _T, is_new: bool) -> _T:
        """Fetch something that changes only when the JobManager restarts, if there are new jobs (`is_new`); otherwise return the
        previous answer.
        """
        was: _T = self._before.get(member, unanswered)
        if not is_new:
            return was
        try:
            return ask()
        except MissingError:
            return unanswered
        except SourceError as error:
            self._unseen.append(Unseen(what, str(error)))
            return was

    def _fetch_jobs(self, selected: Mapping[str, Answer]) -> dict[str, JobAnswers]:
        """Fetch the answers about all jobs whose end was not reported yet."""
        going_on = [job for job in selected.values() if not (self._memory(job) or {}).get("ended")]
        found = self._clients.manager.map(self._look, going_on)
        looks: dict[str, JobAnswers] = {}
        for job, look in zip(going_on, found, strict=True):
            if isinstance(look, JobAnswers):
                looks[str(job["jid"])] = look
                self._unseen += look.unseen
            elif not isinstance(look, MissingError):
                self._unseen.append(Unseen(f"job {job['name']}", str(look)))
        return looks

    def _look(self, job: Answer) -> JobAnswers:
        known = self._memory(job)
        return _require_whole(self._manager.look(job, known, plan_of(known)), known)

    def _evidence(self, looks: Mapping[str, JobAnswers]) -> tuple[dict[Name, str], JobEvidence | None, frozenset[Name]]:
        """Return the DDL from the gateway, all evidence that does not come from the jobs, and the tables that the gateway could not
        look up.

        The evidence is None if a file cannot be read, so that nothing it declares is reported as deleted.
        """
        ddl = {parsed(path): str(text) for path, text in self._before.get("ddl", {}).items()}
        try:
            text, scripts, annotations = self._settings.ddl(), self._settings.scripts(), self._settings.read_annotations()
        except ConfigError as error:
            self._unseen.append(Unseen("evidence about jobs", str(error)))
            return ddl, None, frozenset()
        asked = _unknown_tables(looks, self._known, read_declarations(text, scripts))
        open_paths: frozenset[Name] = frozenset()
        if asked and self._clients.gateway is not None:
            try:
                ddl |= {path: mask_text(made) for path, made in gateway.tables(self._clients.gateway, text, asked).items()}
            except SourceError as error:
                self._unseen.append(Unseen("the SQL gateway", str(error)))
                open_paths = frozenset(asked) - ddl.keys()
        known = read_declarations(";\n".join((text, *(made for made in ddl.values() if made))), scripts)
        return ddl, JobEvidence(known, annotations, self._around, self._settings.kafka, self._namespace), open_paths

    def _events_of_job(
        self,
        jid: str,
        look: JobAnswers,
        before: Remembered | None,
        evidence: JobEvidence | None,
        cluster: ClusterContext,
        open_paths: frozenset[Name],
    ) -> dict[str, Any]:
        """Build the events of a job; return its part of the next snapshot."""
        facts = remember(look, before)
        if before is None and jid in self._known:
            facts["again"] = True
        flows: JobFlows | None = None
        if evidence is not None and not any(operator.table in open_paths for operator in (*look.plan.sources, *look.plan.sinks)):
            flows = flows_of(facts["name"], look.plan, look.metrics.topics, evidence)
            self._unseen += flows.unseen
        after, events = events_of(jid, facts, flows, cluster)
        self._events += events
        kept = ("groups", "schemas", "inferred")
        others = {key: (before or {}).get(key, []) for key in kept} if flows is None else metadata_of(flows)
        self._events += replaced((before or {}).get("inferred", ()), others["inferred"], self._now_us)
        return after if after.get("ended") else {**after, **others}

    def _end_lost_jobs(self, listed: Mapping[str, Answer], evidence: JobEvidence | None, cluster: ClusterContext) -> dict[str, Any]:
        """Report the end of jobs that have no reported end and that the JobManager no longer lists. Returns the jobs to look for again at
        the next poll.
        """
        kept: dict[str, Any] = {}
        for jid, known in sorted(self._known.items()):
            if jid in listed or known.get("ended"):
                continue
            look = self._archived(jid, known)
            if look is not None:
                kept[jid] = self._events_of_job(jid, look, known, evidence, cluster, frozenset())
                continue
            since = known.get("lost", self._now_us)
            if self._now_us - since < _REMEMBERED_US:
                kept[jid] = {**known, "lost": since}
                hint = "" if self._clients.history else "; set `history_url` to look it up on a history server"
                why = f"it left the JobManager's list while it was {known['state']}, and how it ended is not known{hint}"
                self._unseen.append(Unseen(f"job {known['name']} ({jid}): end", why))
        return {jid: known for jid, known in kept.items() if not known.get("ended")}

    def _archived(self, jid: str, known: Remembered) -> JobAnswers | None:
        """Fetch what the history server has about a job that ended."""
        if self._clients.history is None:
            return None
        archive = JobManager(self._clients.history)
        try:
            detail = archive.job(jid)
            exceptions = archive.exceptions(jid) if detail.get("state") == "FAILED" else None
            overview = {
                "last-modification": None,
                "end-time": -1,
                **detail,
                "jid": jid,
                "name": known["name"],
                "start-time": known["start"],
            }
            look = _require_whole(JobAnswers(overview, detail, plan_of(known) or Plan(), exceptions=exceptions), known)
        except MissingError:
            return None
        except SourceError as error:
            self._unseen.append(Unseen("the history server", str(error)))
            return None
        return look if detail.get("state") in ENDED else None

    def _job_aliases(self, listener: Mapping[str, str], looks: Mapping[str, JobAnswers]) -> tuple[tuple[SameJob, ...], list[list[str]]]:
        """Return new aliases for the names that OpenLineage's own Flink listener gives to the jobs, and all pairs of job and namespace that
        were reported so far.
        """
        emitted = {(name, other) for name, other in self._before.get("same", ())}
        found: dict[tuple[str, str], SameJob] = {}
        for look in looks.values():
            if look.settings is None:
                continue
            own, name = _configured(look.settings), str(look.overview["name"])
            namespace = (own or listener).get(NAMESPACE, "")
            # A job name in the cluster's configuration applies to all its jobs.
            other = own.get(NAME, name) if own or NAME not in listener else ""
            if namespace and other and namespace != self._namespace and (name, namespace) not in emitted:
                where = "the job's" if own else "the JobManager's"
                evidence = f"OpenLineage's listener, by {where} configuration"
                found[name, namespace] = SameJob(namespace, other, self._namespace, name, evidence)
        return tuple(found.values()), sorted([list(pair) for pair in emitted | found.keys()])


def _require_whole(look: JobAnswers, known: Remembered | None) -> JobAnswers:
    """Check that all answers about a job can be read, and return them. Raises SourceError."""
    with shaped(f"job {look.overview['name']}"):
        remember(look, known)
        _configured(look.settings)
    return look


def _configured(settings: Answer | None) -> Mapping[str, str]:
    own = ((settings or {}).get("execution-config") or {}).get("user-config") or {}
    return own if NAMESPACE in own else {}


def _unknown_tables(looks: Mapping[str, JobAnswers], known: Mapping[str, Remembered], declared: DeclaredTables) -> list[Name]:
    """Return the tables of new jobs that no DDL defines, if they have a catalog and database. Tables of a session are not visible in
    other sessions.
    """
    found: dict[Name, None] = {}
    for jid, look in looks.items():
        operators = (*look.plan.sources, *look.plan.sinks) if not known.get(jid, {}).get("said") else ()
        databases = dict.fromkeys(operator.table[:2] for operator in operators if len(operator.table) == 3)
        for operator in operators:
            paths = (
                [operator.table] if len(operator.table) == 3 else [(*database, *operator.table) for database in databases if operator.table]
            )
            found |= dict.fromkeys(path for path in paths if path[0] != _OF_SESSIONS and declared.defined(operator.table) is None)
    return list(found)
