"""Translates cluster links into OpenLineage events. Pure.

A link is a streaming job that copies topics to their mirrors. A run starts when the link is first seen copying, and lasts while any of its
mirrors is copying. It ends when no mirror is copying: with FAIL if some failed, ABORT if some are paused, COMPLETE if all are stopped
(promoted or failed over). A link that copies nothing when first seen only gets the end of a run, because it has copied before. When a
mirror is removed, the run completes and another starts; when the link is deleted, its run is aborted.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.cluster_links.rest import Link, Mirror
from lineage_bridge.sources.confluent.kafka_rest import LINK_JOB
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import PlaneContext

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent")
_ENDS = (("FAIL", ("FAILED", "LINK_FAILED", "SOURCE_UNAVAILABLE")), ("ABORT", ("PAUSED", "LINK_PAUSED")), ("COMPLETE", ("STOPPED",)))
"""Types of the event that ends a run, with the mirror statuses that cause them. The first match is used."""
_NOT_COPYING = frozenset(status for _, statuses in _ENDS for status in statuses)

LinkState = Mapping[str, Any]
"""A link's part of the snapshot: `pairs` (mirror to source topic), `start` of its open run (us) if there is one, `told` (digest)."""


class LinkEvents:
    """Converts the links of one cluster, as one poll found them, to events."""

    def __init__(self, context: PlaneContext, cluster: KafkaCluster, shared: SharedMetadata, now_us: int) -> None:
        self._context, self._cluster, self._shared, self._now_us = context, cluster, shared, now_us

    def link_events(self, link: Link, before: LinkState) -> tuple[list[Json], LinkState]:
        """Return the events about a link, and its part of the snapshot."""
        events: list[Json] = []
        pairs = {mirror.topic: mirror.source for mirror in link.mirrors}
        start, emitted = before.get("start"), before.get("told", "")
        if start is not None and before["pairs"].items() - pairs.items():
            events.append(self.end_event("COMPLETE", link.name, before))
            start, emitted = None, ""
        facets = [self._job_facets(link), self._lineage(link), [self._mirror_facet(link, mirror) for mirror in link.mirrors]]
        fingerprint = digest(facets)
        is_changed = fingerprint != emitted
        if any(mirror.status not in _NOT_COPYING for mirror in link.mirrors):
            kind = "RUNNING" if start is not None else "START"
            start = self._now_us if start is None else start
            events.append(self._event(kind, link, start, in_full=is_changed or kind == "START"))
            return events, {"pairs": pairs, "start": start, "told": fingerprint}
        if start is not None or is_changed:
            events.append(self._event(_end_type(link), link, self._now_us if start is None else start, in_full=is_changed))
        return events, {"pairs": pairs, "told": fingerprint}

    def end_event(self, kind: str, name: str, state: LinkState) -> Json:
        """Return an event without facets that ends the open run of a link."""
        return PRODUCER.run_event(kind, self._now_us, self._run(name, state["start"]), self._job(name))

    def _event(self, kind: str, link: Link, start: int, *, in_full: bool) -> Json:
        run_facets: dict[str, Json] = {}
        lags = {mirror.topic: mirror.lag for mirror in link.mirrors if mirror.lag >= 0 and mirror.status not in _NOT_COPYING}
        if lags:
            run_facets["confluent_mirror_lag"] = PRODUCER.own_facet(
                "1-0-0", "ConfluentMirrorLagRunFacet", rows=sum(lags.values()), topics=lags
            )
        if kind == "FAIL":
            run_facets["errorMessage"] = PRODUCER.error_message(_failure(link), "")
        sources = sorted({self._source(link, mirror) for mirror in link.mirrors})
        outputs = [
            PRODUCER.dataset(self._target(mirror), {"confluent_mirror": self._mirror_facet(link, mirror)}) for mirror in link.mirrors
        ]
        return PRODUCER.run_event(
            kind,
            self._now_us,
            self._run(link.name, start),
            self._job(link.name),
            run_facets=run_facets,
            job_facets={**self._job_facets(link), "lineage": PRODUCER.lineage(self._lineage(link))} if in_full else {},
            inputs=[PRODUCER.dataset(name) for name in sources] if in_full else (),
            outputs=outputs if in_full else (),
        )

    def _job_facets(self, link: Link) -> dict[str, Json]:
        members: Json = {
            "link_name": link.name,
            "source_cluster_id": link.source,
            "destination_cluster_id": self._cluster.id,
            "environment_id": self._cluster.environment,
        }
        members |= {key: value for key, value in (("link_id", link.id), ("state", link.state), ("error", link.error)) if value}
        return {
            "jobType": PRODUCER.job_type("STREAMING", "CONFLUENT", "CLUSTER_LINK", self._context.settings.heartbeat_s),
            "confluent_cluster_link": PRODUCER.own_facet("1-0-0", "ConfluentClusterLinkJobFacet", **members),
        }

    def _mirror_facet(self, link: Link, mirror: Mirror) -> Json:
        members: Json = {
            "link_name": link.name,
            "source_cluster_id": link.source,
            "source_topic": mirror.source,
            "status": mirror.status,
        }
        if mirror.since_us:
            members["since"] = format_time(mirror.since_us)
        if mirror.error:
            members["error"] = mirror.error
        return PRODUCER.own_facet("1-0-0", "ConfluentMirrorDatasetFacet", **members)

    def _lineage(self, link: Link) -> list[Json]:
        return [{**_dataset(self._target(mirror)), "inputs": [_dataset(self._source(link, mirror))]} for mirror in link.mirrors]

    def _source(self, link: Link, mirror: Mirror) -> DatasetName:
        cluster = self._context.organization.cluster(link.source)
        return cluster.namespace if cluster else self._shared.namespace(link.source), mirror.source

    def _target(self, mirror: Mirror) -> DatasetName:
        return self._cluster.namespace, mirror.topic

    def _job(self, name: str) -> DatasetName:
        return self._cluster.namespace, f"{LINK_JOB}{name}"

    def _run(self, name: str, start: int) -> UUID:
        return run_id("confluent", self._cluster.id, "cluster-link", name, start)


def _end_type(link: Link) -> str:
    """Return the type of the event that ends the run of a link that copies nothing."""
    statuses = {mirror.status for mirror in link.mirrors}
    return next(kind for kind, ending in _ENDS if statuses & set(ending))


def _failure(link: Link) -> str:
    failed = [mirror for mirror in link.mirrors if mirror.status in dict(_ENDS)["FAIL"]]
    messages = [f"{mirror.topic}: {mirror.status}" + (f", {mirror.error}" if mirror.error else "") for mirror in failed]
    return "; ".join([link.error, *messages] if link.error else messages)


def _dataset(name: DatasetName) -> Json:
    return {"type": "DATASET", "namespace": name[0], "name": name[1]}
