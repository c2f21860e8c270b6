"""Decides when to fetch the offsets of managed connectors, and what the snapshot keeps of them. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lineage_bridge.sources.common.connect.catalogue.family import SINK
from lineage_bridge.sources.common.connect.generation import fingerprint
from lineage_bridge.sources.common.connect.lineage.evidence import sums_of
from lineage_bridge.sources.common.connect.worker import RUNNING, ConnectorDetail, ConnectorState

_FETCH_AGAIN_US = {"sink": 900_000_000, "source": 3_600_000_000}
"""How long fetched offsets are reused. A sink's offsets count rows; a source's offsets only name its inputs."""


class OffsetsRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The offsets of a connector as last fetched: the time (microseconds), the configuration at that time, and the sums of offsets by
    topic; if there are none, `why`.
    """

    at_us: int
    config: str
    sums: dict[str, int] = msgspec.field(default_factory=dict)
    why: str = ""


def is_due(connector: ConnectorState, record: OffsetsRecord | None, now_us: int) -> bool:
    """Whether it is time to fetch the offsets of a connector."""
    if not any(status.state == RUNNING for status in (connector.status, *connector.tasks.values())):
        return False
    if record is None or record.config != version_of(connector):
        return True
    return now_us - record.at_us >= _FETCH_AGAIN_US.get(connector.direction, 0)


def version_of(connector: ConnectorState) -> str:
    """The fingerprint of those settings of a connector on which the connector's offsets depend."""
    return fingerprint(connector.config, frozenset())


def record_offsets(connector: ConnectorState, offsets: tuple[Mapping[str, Any], ...], now_us: int) -> OffsetsRecord:
    """Return what the snapshot keeps of a connector's offsets."""
    sums = sums_of(connector, ConnectorDetail(offsets=offsets), None) if connector.direction == SINK else {}
    return OffsetsRecord(now_us, version_of(connector), sums)


def recorded_detail(connector: ConnectorState, record: OffsetsRecord) -> ConnectorDetail:
    """Return the last fetched offsets of a sink, in the form in which Kafka Connect reports offsets."""
    entries = tuple({"partition": {"kafka_topic": topic}, "offset": {"kafka_offset": sum_}} for topic, sum_ in sorted(record.sums.items()))
    return ConnectorDetail(offsets=entries) if connector.direction == SINK and entries else ConnectorDetail()
