"""The demo as OpenLineage events, and the run ids by which it can be removed."""

import json
from uuid import NAMESPACE_URL, UUID, uuid5

from lineage_bridge.demo.facets import PRODUCER, facets
from lineage_bridge.demo.pipeline import Moment, Run, heartbeats, moments
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.facets.rebalance import KAFKA_REBALANCE
from lineage_bridge.openlineage.times import format_time

SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"

_RUN_IDS = uuid5(NAMESPACE_URL, PRODUCER)


def events(now_us: int, edition: str) -> list[bytes]:
    """The demo's RunEvents, each as JSON, ordered by event time, over the two days before `now_us` (UTC microseconds).

    The same arguments give the same bytes. Every edition (each time that the demo is loaded) has its own runs of the same jobs. One event
    is in the list twice, with the same bytes, as after a retry.
    """
    return [_encode(_event(moment, now_us, edition)) for moment in moments()]


def heartbeat_events(now_us: int, loaded_us: int, edition: str) -> list[bytes]:
    """The heartbeats of an edition's streaming jobs at `now_us`, each event as JSON. The edition was loaded at `loaded_us`."""
    since_s = max(0, (now_us - loaded_us) // 1_000_000)
    return [_encode(_event(moment, loaded_us, edition)) for moment in heartbeats(since_s)]


def run_ids(edition: str) -> list[bytes]:
    """The 16-byte ids of all runs of an edition, sorted. They do not depend on the current time."""
    return sorted({_run_id(moment.run, edition).bytes for moment in moments()})


def _event(moment: Moment, now_us: int, edition: str) -> Json:
    job: Json = dict(moment.run.job.node)
    if moment.type != "RUNNING":
        job["facets"] = moment.run.job.facets
    if moment.rebalanced is not None:
        since_us, until_us = (now_us - age_s * 1_000_000 for age_s in moment.rebalanced)
        job["facets"] = {KAFKA_REBALANCE: facets.rebalance(since_us, until_us, "TASKS", moved=1)}
    return {
        "eventType": moment.type,
        "eventTime": _time(moment.age_s, now_us),
        "producer": PRODUCER,
        "schemaURL": SCHEMA_URL,
        "run": {
            "runId": str(_run_id(moment.run, edition)),
            "facets": {**_run_facets(moment.run, now_us, edition), **moment.facets},
        },
        "job": job,
        "inputs": moment.inputs,
        "outputs": moment.outputs,
    }


def _run_facets(run: Run, now_us: int, edition: str) -> Json:
    described: Json = {"processing_engine": facets.processing_engine(*run.job.engine)}
    if run.parent is not None:
        described["parent"] = facets.parent(str(_run_id(run.parent, edition)), run.parent.job.node)
    if run.due_s is not None:
        described["nominalTime"] = facets.nominal_time(_time(run.due_s, now_us))
    return described


def _run_id(run: Run, edition: str) -> UUID:
    return uuid5(_RUN_IDS, json.dumps([edition, run.job.namespace, run.job.name, run.generation]))


def _time(age_s: int, now_us: int) -> str:
    return format_time(now_us - age_s * 1_000_000)


def _encode(event: Json) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
