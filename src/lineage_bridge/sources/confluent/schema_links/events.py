"""Translates exporters into OpenLineage events. Pure.

An exporter is a streaming job. Its run starts when the exporter is first seen, is aborted when the exporter is paused, and fails when the
exporter fails; copying after that starts another run.
"""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.confluent.organization import SchemaRegistry
from lineage_bridge.sources.confluent.schema_links.client import Exporter

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent/schema-links")
_ENDS = {"PAUSED": "ABORT", "ERROR": "FAIL"}
ExporterState = Mapping[str, Any]
"""An exporter's snapshot: `run`, when it `began` (us), whether it `ended`, digests of its `shape` and of what was emitted (`told`)."""


class ExporterEvents:
    """Converts the exporters of one registry, as one poll found them, to events."""

    def __init__(self, registry: SchemaRegistry, heartbeat_s: int, now_us: int) -> None:
        self._registry, self._heartbeat_s, self._now_us = registry, heartbeat_s, now_us

    def exporter_events(self, exporter: Exporter, before: ExporterState | None) -> tuple[ExporterState, list[Json]]:
        """Return an exporter's part of the snapshot, and the events about it."""
        job, facets = self._job(exporter.name), self._facets(exporter)
        inputs = [PRODUCER.dataset((self._registry.namespace, subject)) for subject, _ in exporter.pairs]
        outputs = [PRODUCER.dataset((exporter.target_namespace, subject)) for _, subject in exporter.pairs]
        ended, shape = exporter.state in _ENDS, digest([exporter.pairs, exporter.target_namespace])
        continues = before is not None and not before["ended"] and before["shape"] == shape
        stays_ended = before is not None and before["ended"] and ended and before["shape"] == shape
        began = before["began"] if before and (continues or stays_ended) else self._now_us
        run = str(run_id("schema-link", self._registry.namespace, exporter.name, began))
        state = {"run": run, "began": began, "ended": ended, "shape": shape, "told": digest([facets, exporter.state])}
        events: list[Json] = []
        if stays_ended:
            return state, events
        if before and not continues and not before["ended"]:
            events.append(PRODUCER.run_event("COMPLETE", self._now_us - 2, before["run"], job))
        if not continues:
            events.append(PRODUCER.run_event("START", self._now_us - 1, run, job, job_facets=facets, inputs=inputs, outputs=outputs))
        is_changed = continues and before is not None and before["told"] != state["told"]
        kind = _ENDS.get(exporter.state, "RUNNING")
        events.append(
            PRODUCER.run_event(
                kind,
                self._now_us,
                run,
                job,
                run_facets=_error(exporter) if kind == "FAIL" else {},
                job_facets=facets if is_changed else {},
                inputs=inputs,
                outputs=outputs,
            )
        )
        return state, events

    def abort_event(self, name: str, state: ExporterState) -> Json:
        """Return the event that aborts the open run of a deleted exporter."""
        return PRODUCER.run_event("ABORT", self._now_us, state["run"], self._job(name))

    def _job(self, name: str) -> DatasetName:
        return self._registry.namespace, f"schema-link/{name}"

    def _facets(self, exporter: Exporter) -> dict[str, Json]:
        namespace = self._registry.namespace
        entries = [
            {
                "type": "DATASET",
                "namespace": exporter.target_namespace,
                "name": target,
                "inputs": [{"type": "DATASET", "namespace": namespace, "name": subject}],
            }
            for subject, target in exporter.pairs
        ]
        members = {
            "exporter": exporter.name,
            "environment_id": self._registry.environment,
            "source_registry_id": self._registry.id,
            "destination": exporter.destination,
            "context_type": exporter.kind,
            "context": exporter.context,
            "subjects": list(exporter.patterns),
            "rename": exporter.rename,
            "state": exporter.state,
        }
        given = {key: value for key, value in members.items() if value}
        return {
            "jobType": PRODUCER.job_type("STREAMING", "CONFLUENT", "SCHEMA_LINK", self._heartbeat_s),
            "confluent_schema_link": PRODUCER.own_facet("1-0-0", "ConfluentSchemaLinkJobFacet", **given),
            "lineage": PRODUCER.lineage(entries),
        }


def _error(exporter: Exporter) -> dict[str, Json]:
    message = exporter.trace or "the exporter failed; the registry does not report why"
    return {"errorMessage": PRODUCER.error_message(message, exporter.trace)}
