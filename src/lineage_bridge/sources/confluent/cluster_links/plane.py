"""Cluster links: streaming jobs that copy topics from one cluster to another, each to its mirror.

A run begins when a link is first seen to copy, and goes on while any of its mirrors is. It ends when none is: COMPLETE if all are stopped
(promoted, failed over), ABORT if some are paused, FAIL if some failed. A link that copies nothing when it is first seen is told once, by
its end: it has copied. If a mirror is no more, what the link copies from then on is another run; if the link is, its run is aborted.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from lineage_bridge.errors import MissingError
from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.kafka_rest import LINKS, ClusterPlane, Millis, Offset, Text, for_each_cluster

OUT = EventBuilder("https://lineagebridge.dev/sources/confluent")
_ENDS = (("FAIL", ("FAILED", "LINK_FAILED", "SOURCE_UNAVAILABLE")), ("ABORT", ("PAUSED", "LINK_PAUSED")), ("COMPLETE", ("STOPPED",)))
_OVER = frozenset(status for _, statuses in _ENDS for status in statuses)

State = Mapping[str, Any]
"""What is remembered of a link: `pairs` (mirror to its source), `run` and its `start` (us) if one is open, `told` (digest)."""


class _Link(msgspec.Struct):
    link_name: Text
    link_id: str | None = None
    source_cluster_id: str | None = None
    remote_cluster_id: str | None = None
    link_state: str | None = None
    link_error: str | None = None
    link_error_message: str | None = None


class _Lag(msgspec.Struct):
    lag: Offset | None = None


class _Lags(msgspec.Struct):
    items: list[_Lag] = []


class _Mirror(msgspec.Struct):
    link_name: Text
    mirror_topic_name: Text
    source_topic_name: Text
    mirror_status: str
    state_time_ms: Millis | None = None
    mirror_lags: _Lags | list[_Lag] | None = None
    mirror_topic_error: str | None = None


class Mirror(NamedTuple):
    """A mirror topic. `lag` is -1 if it is not told; `since_us` is 0 if it is not."""

    topic: str
    source: str
    status: str
    since_us: int = 0
    lag: int = -1
    error: str = ""


class Link(NamedTuple):
    """A link with its mirrors, in the order of their names."""

    name: str
    id: str
    source: str
    state: str
    error: str
    mirrors: tuple[Mirror, ...]


class Linked(NamedTuple):
    """All links of a cluster that copy to it."""

    links: tuple[Link, ...]
    unseen: tuple[Unseen, ...] = ()


class Links(ClusterPlane[Linked]):
    """The links that a cluster is the destination of. Its snapshot: `links`, each a State."""

    name, stage = "links", 5

    def fetch(self, before: Snapshot | None, now_us: int) -> Linked:
        """A call, and another if there are links. Raises SourceError. A cluster that knows no such call, and never did, has none."""
        del now_us
        rest = self.rest()
        try:
            links = rest.listed(_Link, "links")
        except MissingError:
            if before and before["links"]:
                raise
            return Linked(())
        mirrors = rest.listed(_Mirror, "links", "-", "mirrors") if links else []
        by_link: dict[str, list[Mirror]] = {}
        for one in mirrors:
            by_link.setdefault(one.link_name, []).append(_mirror(one))
        return Linked(tuple(_link(one, by_link[one.link_name]) for one in _sorted(links) if one.link_name in by_link))

    def tell(self, fetched: Linked, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Links that began, go on, or ended."""
        held: Mapping[str, State] = (before or {}).get("links", {})
        listed = {one.name for one in fetched.links}
        telling = _Telling(self, around, now_us)
        events = [telling.end("ABORT", name, state) for name, state in sorted(held.items()) if name not in listed and "start" in state]
        after: dict[str, State] = {}
        for link in fetched.links:
            told, after[link.name] = telling.step(link, held.get(link.name, {}))
            events += told
        return Observation({"links": after}, tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Linked:
        """No link."""
        return Linked(())


planes = for_each_cluster(Links)


class _Telling:
    """Tells of the links of one cluster at one time."""

    def __init__(self, plane: Links, around: SharedMetadata, now_us: int) -> None:
        self.plane, self.here, self.around, self.now_us = plane, plane.cluster, around, now_us

    def step(self, link: Link, before: State) -> tuple[list[Json], State]:
        """The events about a link, and what is remembered of it."""
        events: list[Json] = []
        pairs = {one.topic: one.source for one in link.mirrors}
        start, told = before.get("start"), before.get("told", "")
        if start is not None and before["pairs"].items() - pairs.items():
            events.append(self.end("COMPLETE", link.name, before))
            start, told = None, ""
        now = digest([self._job_facets(link), self._flows(link), [self._mirror_facet(link, one) for one in link.mirrors]])
        copies = any(one.status not in _OVER for one in link.mirrors)
        if copies:
            kind = "RUNNING" if start is not None else "START"
            start = self.now_us if start is None else start
            events.append(self._event(kind, link, start, whole=now != told or kind == "START"))
            return events, {"pairs": pairs, "start": start, "told": now}
        if start is not None or now != told:
            events.append(self._event(_end_of(link), link, self.now_us if start is None else start, whole=now != told))
        return events, {"pairs": pairs, "told": now}

    def end(self, kind: str, name: str, state: State) -> Json:
        """The end of an open run of which no more is to be said."""
        return OUT.run_event(kind, self.now_us, self._run(name, state["start"]), self._job(name))

    def _event(self, kind: str, link: Link, start: int, *, whole: bool) -> Json:
        run_facets: dict[str, Json] = {}
        lags = {one.topic: one.lag for one in link.mirrors if one.lag >= 0 and one.status not in _OVER}
        if lags:
            run_facets["confluent_mirror_lag"] = OUT.own_facet("1-0-0", "ConfluentMirrorLagRunFacet", rows=sum(lags.values()), topics=lags)
        if kind == "FAIL":
            run_facets["errorMessage"] = OUT.error_message(_failure(link), "")
        inputs = [OUT.dataset(name) for name in sorted({self._source(link, one) for one in link.mirrors})]
        outputs = [OUT.dataset(self._mirror(one), {"confluent_mirror": self._mirror_facet(link, one)}) for one in link.mirrors]
        return OUT.run_event(
            kind,
            self.now_us,
            self._run(link.name, start),
            self._job(link.name),
            run_facets=run_facets,
            job_facets={**self._job_facets(link), "lineage": OUT.lineage(self._flows(link))} if whole else {},
            inputs=inputs if whole else (),
            outputs=outputs if whole else (),
        )

    def _job_facets(self, link: Link) -> dict[str, Json]:
        members: Json = {
            "link_name": link.name,
            "source_cluster_id": link.source,
            "destination_cluster_id": self.here.id,
            "environment_id": self.here.environment,
        }
        members |= {key: said for key, said in (("link_id", link.id), ("state", link.state), ("error", link.error)) if said}
        return {
            "jobType": OUT.job_type("STREAMING", "CONFLUENT", "CLUSTER_LINK", self.plane.settings.heartbeat_s),
            "confluent_cluster_link": OUT.own_facet("1-0-0", "ConfluentClusterLinkJobFacet", **members),
        }

    def _mirror_facet(self, link: Link, one: Mirror) -> Json:
        members: Json = {"link_name": link.name, "source_cluster_id": link.source, "source_topic": one.source, "status": one.status}
        if one.since_us:
            members["since"] = format_time(one.since_us)
        if one.error:
            members["error"] = one.error
        return OUT.own_facet("1-0-0", "ConfluentMirrorDatasetFacet", **members)

    def _flows(self, link: Link) -> list[Json]:
        return [{**_dataset(self._mirror(one)), "inputs": [_dataset(self._source(link, one))]} for one in link.mirrors]

    def _source(self, link: Link, one: Mirror) -> DatasetName:
        known = self.plane.around.whole.cluster(link.source)
        return known.space if known else self.around.namespace(link.source), one.source

    def _mirror(self, one: Mirror) -> DatasetName:
        return self.here.space, one.topic

    def _job(self, name: str) -> DatasetName:
        return self.here.space, f"{LINKS}{name}"

    def _run(self, name: str, start: int) -> UUID:
        return run_id("confluent", self.here.id, "cluster-link", name, start)


def _end_of(link: Link) -> str:
    """How a link that copies nothing ended."""
    statuses = {one.status for one in link.mirrors}
    return next(kind for kind, some in _ENDS if statuses & set(some))


def _failure(link: Link) -> str:
    failed = dict(_ENDS)["FAIL"]
    told = [f"{one.topic}: {one.status}" + (f", {one.error}" if one.error else "") for one in link.mirrors if one.status in failed]
    return "; ".join([link.error, *told] if link.error else told)


def _dataset(name: DatasetName) -> Json:
    return {"type": "DATASET", "namespace": name[0], "name": name[1]}


def _sorted(links: list[_Link]) -> list[_Link]:
    return sorted({one.link_name: one for one in links}.values(), key=lambda one: one.link_name)


def _link(one: _Link, mirrors: list[Mirror]) -> Link:
    error = one.link_error_message or one.link_error or ""
    source = one.source_cluster_id or one.remote_cluster_id or ""
    unique = {mirror.topic: mirror for mirror in mirrors}
    return Link(
        one.link_name,
        one.link_id or "",
        source,
        one.link_state or "",
        "" if error == "NO_ERROR" else error,
        tuple(unique[topic] for topic in sorted(unique)),
    )


def _mirror(one: _Mirror) -> Mirror:
    lags = one.mirror_lags.items if isinstance(one.mirror_lags, _Lags) else one.mirror_lags or []
    counted = [part.lag for part in lags if part.lag is not None]
    error = one.mirror_topic_error or ""
    return Mirror(
        one.mirror_topic_name,
        one.source_topic_name,
        one.mirror_status,
        (one.state_time_ms or 0) * 1000,
        sum(counted) if counted else -1,
        "" if error == "NO_ERROR" else error,
    )
