"""The job facet `kafka_rebalance`, in which observers report that a group or the tasks of a connector were distributed anew."""

from typing import Final

import msgspec

from lineage_bridge.openlineage.times import parse_time

KAFKA_REBALANCE: Final = "kafka_rebalance"
"""The facet's key. The facet belongs to the job."""


class KafkaRebalanceFacet(msgspec.Struct, frozen=True):
    """A rebalance that happened after `since`, the last poll that did not see it, and not later than `until`, the first poll that saw it
    (both RFC 3339).
    """

    since: str
    until: str


_DECODER: Final = msgspec.json.Decoder(KafkaRebalanceFacet)


def read_rebalance(text: str) -> tuple[int, int] | None:
    """The bounds of the time of a rebalance in a JSON text, UTC microseconds; None if the facet is a tombstone or malformed."""
    try:
        facet = _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    since, until = parse_time(facet.since), parse_time(facet.until)
    return (since.us, until.us) if since and until and since.us <= until.us else None
