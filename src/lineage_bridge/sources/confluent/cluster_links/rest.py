"""Fetches the cluster links of a Kafka cluster and their mirror topics from the REST API of the destination cluster."""

from typing import NamedTuple

import msgspec

from lineage_bridge.errors import MissingError
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.confluent.kafka_rest import KafkaRest, Listing, Millis, Offset, Text


class _Link(msgspec.Struct):
    link_name: Text
    cluster_link_id: str | None = None
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
    """A mirror topic. `since_us`: time of its last change of status, 0 if unknown; `lag`: over all partitions, -1 if unknown."""

    topic: str
    source: str
    status: str
    since_us: int = 0
    lag: int = -1
    error: str = ""


class Link(NamedTuple):
    """A cluster link with its mirrors, in the order of their names. `source`: id of the source cluster."""

    name: str
    id: str
    source: str
    state: str
    error: str
    mirrors: tuple[Mirror, ...]


class LinkListing(NamedTuple):
    """The links that copy to a cluster, by name.

    `hidden`: names of links that were not listed but may exist. None: any link may exist that is not listed, and the listed links may have
    more mirrors.
    """

    links: tuple[Link, ...]
    hidden: frozenset[str] | None = frozenset()
    unseen: tuple[Unseen, ...] = ()


def list_links(rest: KafkaRest, *, had_links: bool) -> LinkListing:
    """Fetch all links that have mirrors on this cluster. If a mirror cannot be read, its whole link counts as hidden. Raises
    SourceError.

    If the cluster does not know the call, it has no links; with `had_links`, the error is raised instead.
    """
    try:
        links = rest.list_readable(_Link, "links")
    except MissingError:
        if had_links:
            raise
        return LinkListing(())
    mirrors = rest.list_readable(_Mirror, "links", "-", "mirrors") if links.entries else Listing[_Mirror]([], [])
    failures = Failures()
    links.record_unreadable("links", failures)
    mirrors.record_unreadable("mirror topics", failures)
    unreadable = [entry.get("link_name") for entry, _ in (*links.unreadable, *mirrors.unreadable)]
    hidden = frozenset(name for name in unreadable if isinstance(name, str) and name)
    by_link: dict[str, list[Mirror]] = {}
    for mirror in mirrors.entries:
        by_link.setdefault(mirror.link_name, []).append(_parse_mirror(mirror))
    unique = sorted({link.link_name: link for link in links.entries}.values(), key=lambda link: link.link_name)
    found = (_parse_link(link, by_link[link.link_name]) for link in unique if link.link_name in by_link and link.link_name not in hidden)
    return LinkListing(tuple(found), hidden if len(hidden) == len(set(map(str, unreadable))) else None, failures.unseen())


def _parse_link(link: _Link, mirrors: list[Mirror]) -> Link:
    error = link.link_error_message or link.link_error or ""
    source = link.source_cluster_id or link.remote_cluster_id or ""
    unique = {mirror.topic: mirror for mirror in mirrors}
    return Link(
        link.link_name,
        link.cluster_link_id or link.link_id or "",
        source,
        link.link_state or "",
        "" if error == "NO_ERROR" else error,
        tuple(unique[topic] for topic in sorted(unique)),
    )


def _parse_mirror(mirror: _Mirror) -> Mirror:
    partitions = mirror.mirror_lags.items if isinstance(mirror.mirror_lags, _Lags) else mirror.mirror_lags or []
    lags = [partition.lag for partition in partitions if partition.lag is not None]
    error = mirror.mirror_topic_error or ""
    return Mirror(
        mirror.mirror_topic_name,
        mirror.source_topic_name,
        mirror.mirror_status.upper(),
        (mirror.state_time_ms or 0) * 1000,
        sum(lags) if lags else -1,
        "" if error == "NO_ERROR" else error,
    )
