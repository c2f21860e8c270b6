"""Converts the answers about a job to its events and its part of the snapshot. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lineage_bridge.openlineage import event_builder
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.facets.console import CONSOLE
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.counters import Held, hold, key_of, read_of, written_of
from lineage_bridge.sources.common.flink.facets import OUTGOING, inputs_of, job_facets, lag_of, outputs_of
from lineage_bridge.sources.common.flink.metrics import PENDING
from lineage_bridge.sources.common.flink.plan import Operator, Plan
from lineage_bridge.sources.common.flink.values import JobFlows
from lineage_bridge.sources.flink.fetch import ENDED, Answer, JobAnswers
from lineage_bridge.sources.flink.status import checkpoints_of, error_of, parallelism_of

Remembered = Mapping[str, Any]
"""A job's part of the snapshot, as JSON."""

_ENDS = {"FINISHED": "COMPLETE", "FAILED": "FAIL", "CANCELED": "ABORT"}
_NOT_YET = ("INITIALIZING", "CREATED")
_SAME_FOR_ALL = "0" * 32
"""The job id that Flink gives to the single job of a highly available application, in every deployment."""


@dataclass(frozen=True)
class ClusterContext:
    """The context that the events of all jobs in a poll share."""

    namespace: str
    version: str
    heartbeat_s: int
    now_us: int
    applications: Mapping[str, str]
    address: str

    def job_facets(self, jid: str, flows: JobFlows, kind: str) -> dict[str, Json]:
        """The facets of a job, with its page in Flink's web interface; `kind` is STREAMING or BATCH."""
        page = OUTGOING.console("Flink", f"{self.address}/#/job/running/{jid}/overview")
        return {**job_facets(flows, kind, self.heartbeat_s), CONSOLE: page}


def plan_of(remembered: Remembered | None) -> Plan | None:
    """Read the plan of a job from its part of the snapshot."""
    if remembered is None or "plan" not in remembered:
        return None
    sources, sinks, pairs = remembered["plan"]
    return Plan(
        tuple(Operator(vertex, name, tuple(table)) for vertex, name, table in sources),
        tuple(Operator(vertex, name, tuple(table)) for vertex, name, table in sinks),
        tuple((source, sink) for source, sink in pairs),
    )


def began_again(overview: Answer, before: Remembered | None) -> bool:
    """Whether a job that had ended is running again under the same id."""
    return before is not None and bool(before.get("ended")) and int(overview["start-time"]) > int(before["start"])


def remember(look: JobAnswers, before: Remembered | None) -> dict[str, Any]:
    """Return a job's part of the next snapshot, except for what is known only after its events were built."""
    overview, known = look.overview, before or {}
    held: Held = dict(known.get("held", {}))
    for operators, counted in ((look.plan.sources, read_of), (look.plan.sinks, written_of)):
        for operator in operators:
            if operator in look.metrics.counts:
                held.update(hold(held, key_of(operator), counted(look.metrics.counts[operator])))
    facts: dict[str, Any] = {
        "name": str(overview["name"]),
        "start": int(overview["start-time"]),
        "end": int(overview.get("end-time", -1)),
        "state": str(overview["state"]),
        "modified": overview.get("last-modification"),
        "kind": "BATCH"
        if str(overview.get("jobType") or (look.detail or {}).get("job-type") or known.get("kind")) == "BATCH"
        else "STREAMING",
        "parallelism": parallelism_of(look.detail, known),
        "application": str((look.detail or {}).get("application-id") or known.get("application", "")),
        "restarts": known.get("restarts", 0) if look.restarts is None else look.restarts,
        "checkpoints": checkpoints_of(look.checkpoints) or known.get("checkpoints"),
        "error": error_of(look.exceptions) or known.get("error"),
        "plan": [[[*access[:2], list(access.table)] for access in side] for side in look.plan[:2]]
        + [[list(pair) for pair in look.plan.pairs]],
        "ids": {vertex: list(ids) for vertex, ids in look.metrics.ids.items()},
        "topics": [[index, list(topics)] for index, topics in sorted(look.metrics.topics.items())],
        "settled": sorted(look.metrics.settled),
        "held": held,
        "unread": {
            key_of(operator): int(look.metrics.counts[operator][PENDING])
            for operator in look.plan.sources
            if PENDING in look.metrics.counts.get(operator, {})
        },
    }
    return {**facts, "run": known.get("run") or "", "said": known.get("said", ""), "told": known.get("told", ""), "at": known.get("at", 0)}


def events_of(jid: str, facts: dict[str, Any], known: JobFlows | None, cluster: ClusterContext) -> tuple[dict[str, Any], list[Json]]:
    """Return the events of a job, and its part of the next snapshot.

    `known` is None if its flows cannot be determined now; they are reported once they can be.
    """
    state, is_new, flows = facts["state"], not facts["run"], known or JobFlows()
    job = (cluster.namespace, facts["name"])
    start_us = facts["start"] * 1000
    facts = {**facts, "run": facts["run"] or _run_id(jid, facts, cluster)}
    events: list[Json] = []
    whole = [cluster.job_facets(jid, flows, facts["kind"]), inputs_of(flows, {}, whole=True), outputs_of(flows, {}, whole=True)]
    digest = facts["said"] if known is None else _hash(whole)
    engine = {"processing_engine": OUTGOING.processing_engine("flink", cluster.version)}
    own = {"flink_job": _flink_job(jid, facts, cluster)}
    own_digest = _hash([own])
    if is_new:
        events.append(_event("START", start_us, jid, job, facts, {**engine, **own}, flows, cluster, whole=True, counted=False))
    is_restated = digest != facts["said"] and not is_new
    run_facets = {**(engine if is_restated else {}), **(own if own_digest != facts["told"] and not is_new else {})}
    at_us = max(cluster.now_us, start_us)
    if state in ENDED:
        end_us = max(facts.get("end", start_us // 1000) * 1000, facts["at"], start_us)
        run_facets |= own | _failure(facts) if state == "FAILED" else own
        events.append(_event(_ENDS[state], end_us, jid, job, facts, run_facets, flows, cluster, whole=is_restated))
        return {key: facts[key] for key in ("name", "start", "state", "run")} | {"ended": True}, events
    if state == "SUSPENDED":
        if own_digest != facts["told"]:
            events.append(_event("OTHER", at_us, jid, job, facts, run_facets | own, flows, cluster, whole=is_restated))
    elif state not in _NOT_YET or not is_new:
        run_facets |= lag_of(flows, facts["unread"], at_us)
        events.append(_event("RUNNING", at_us, jid, job, facts, run_facets, flows, cluster, whole=is_restated))
    error = facts["error"] and {key: facts["error"][key] for key in ("message", "at")}
    return {**facts, "error": error, "said": digest, "told": own_digest, "at": at_us}, events


def replaced(before: Iterable[Sequence[str]], now: Iterable[Sequence[str]], now_us: int) -> list[Json]:
    """Return events that drop inferred datasets whose real names are now known."""
    gone = sorted({tuple(name) for name in before} - {tuple(name) for name in now})
    facets = {"lifecycleStateChange": OUTGOING.lifecycle("DROP")}
    return [OUTGOING.dataset_event(now_us, (namespace, name), facets) for namespace, name in gone]


def _event(
    kind: str,
    time_us: int,
    jid: str,
    job: DatasetName,
    facts: Mapping[str, Any],
    run_facets: Mapping[str, Json],
    flows: JobFlows,
    cluster: ClusterContext,
    *,
    whole: bool,
    counted: bool = True,
) -> Json:
    held: Held = facts["held"] if counted else {}
    return OUTGOING.run_event(
        kind,
        time_us,
        facts["run"],
        job,
        run_facets=run_facets,
        job_facets=cluster.job_facets(jid, flows, facts["kind"]) if whole else {},
        inputs=inputs_of(flows, held, whole=whole),
        outputs=outputs_of(flows, held, whole=whole),
    )


def _run_id(jid: str, facts: Mapping[str, Any], cluster: ClusterContext) -> str:
    """Return the id of a job's run. It is derived from the job's id and, if several deployments or runs have the same id, from the
    start time.
    """
    parts: list[str | int] = [facts["start"]] if jid == _SAME_FOR_ALL or facts.get("again") else []
    return str(event_builder.run_id("flink", cluster.namespace, jid, *parts))


def _flink_job(jid: str, facts: Mapping[str, Any], cluster: ClusterContext) -> Json:
    members: Json = {"jid": jid, "state": facts["state"], "restarts": facts["restarts"]}
    members |= {key: facts[key] for key in ("parallelism", "checkpoints") if facts[key]}
    if facts["application"] and facts["application"] != jid:
        members["application"] = {"id": facts["application"], "name": cluster.applications.get(facts["application"], "")}
    if facts["error"] and facts["state"] != "FAILED":
        members["last_error"] = {key: facts["error"][key] for key in ("message", "at")}
    return OUTGOING.own_facet("1-0-0", "FlinkJobRunFacet", **members)


def _failure(facts: Mapping[str, Any]) -> dict[str, Json]:
    error = facts["error"]
    return {"errorMessage": OUTGOING.error_message(error["message"], error.get("trace", ""))} if error else {}


def _hash(value: list[Any]) -> str:
    return hashlib.sha256(event_builder.encode({"": value})).hexdigest()[:16]
