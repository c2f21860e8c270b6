"""The run facet `kafka_lag`, in which observers report how far a consumer group, or another job that reads topics, is behind."""

from typing import Annotated, Final

import msgspec

KAFKA_LAG: Final = "kafka_lag"
"""The facet's key. The facet belongs to the run of a consumer group, or of the job that owns one."""
KAFKA_LAG_FACET: Final = "KafkaLagRunFacet"
"""The name of the facet's schema."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class StuckPartitions(msgspec.Struct, frozen=True):
    """The partitions of a topic on which a group makes no progress while it reads others: how many there are, the one with the most unread
    records, and the number of these records.
    """

    partitions: _Count
    worst: _Count
    rows: _Count


class KafkaLagFacet(msgspec.Struct, frozen=True):
    """The records that a group has not read yet, by topic, and the partitions on which it makes no progress. `namespaces`: those of topics
    that are not in the namespace of the job.
    """

    topics: dict[str, _Count]
    stuck: dict[str, StuckPartitions] = {}
    namespaces: dict[str, str] = {}


_DECODER: Final = msgspec.json.Decoder(KafkaLagFacet)


def read_lag(text: str) -> KafkaLagFacet | None:
    """The facet in a JSON text; None if it is a tombstone or malformed."""
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
