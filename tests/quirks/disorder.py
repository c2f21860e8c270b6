"""The corpus as it may arrive: shuffled, doubled, over two channels, cut into batches; and tables without what differs by that alone."""

import random
from collections.abc import Iterator, Mapping

from hypothesis import settings

from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.openlineage.redaction import mask
from tests.events import T0
from tests.quirks import bodies

ARRIVAL = T0 + 40 * DAY_US
"""When everything of the corpus has arrived: after the last of its events."""
CHANNELS = (("log", 0, "http"), ("kafka", 3, "kafka"))
_DOUBLED = 0.3


def seeds(most: int) -> range:
    """That many seeds, or a fifth of them where tests are to be quick."""
    return range(most // 5 if settings.get_current_profile_name() == "quick" else most)


def masked(*, huge: bool) -> list[bytes]:
    """The corpus as the door lets it in."""
    return [mask(body) for body in bodies(huge=huge)]


def arriving(bodies: list[bytes], seed: int) -> list[StoredRecord]:
    """Every body at least once, some twice, in any order, each copy over one of two channels."""
    order = random.Random(seed)
    copies = [*bodies, *(body for body in bodies if order.random() < _DOUBLED)]
    order.shuffle(copies)
    return [_copy(body, offset, order) for offset, body in enumerate(copies, 1)]


def _copy(body: bytes, offset: int, order: random.Random) -> StoredRecord:
    source, part, channel = order.choice(CHANNELS)
    arrival = ARRIVAL + order.randrange(3600) * 1_000_000
    return StoredRecord(source, part, offset, LogRecord(RecordKind.EVENT, event_id(body), arrival, channel, "", b"", body))


def batches(records: list[StoredRecord], seed: int, most: int = 120) -> Iterator[list[StoredRecord]]:
    """The records cut anywhere."""
    order, left = random.Random(seed), records
    while left:
        size = order.randint(1, most)
        yield left[:size]
        left = left[size:]


def alike(tables: Mapping[str, Mapping[Row, Row]]) -> Mapping[str, Mapping[Row, Row]]:
    """The tables without the rows of copies: which record an event or a rejected body came in, and when."""
    quarantine = {key[:1]: values[:5] for key, values in tables["quarantine"].items()}
    return {**tables, "event_record": {key[:2]: () for key in tables["event_record"]}, "quarantine": quarantine}


def in_order(bodies: list[bytes]) -> list[StoredRecord]:
    """Every body once, in the order it is told."""
    return [
        StoredRecord("log", 0, offset, LogRecord(RecordKind.EVENT, event_id(body), ARRIVAL, "http", "", b"", body))
        for offset, body in enumerate(bodies, 1)
    ]
