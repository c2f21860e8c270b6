"""Removes what is old from a store that a test writes, and what is compared before and after."""

from collections.abc import Sequence
from contextlib import nullcontext

from tests.quirks.disorder import ARRIVAL
from tests.store.reading import reader_of
from tests.store.tables import contents
from tests.store.writing import NAMES, settle

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import OffsetRange, RecordAddress, StoredRecord
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.model.keeping.retention import Cutoffs, ExpiredCounts, RetentionPolicy
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.derive.verify import MAY_HOLD_MORE, STORED
from lineage_bridge.store.retention.expiry import Expiry
from lineage_bridge.store.write.apply import GraphWriter

OLD = ARRIVAL + 10 * DAY_US


class Gone:
    """Implements ports.ExpiredRecords: the addresses of the records that nothing needs any more."""

    def __init__(self) -> None:
        self.prepared: dict[int, Sequence[RecordAddress]] = {}
        self.addresses: set[RecordAddress] = set()

    def newest(self) -> int:
        return max(self.prepared, default=0)

    def prepare(self, number: int, records: Sequence[RecordAddress]) -> None:
        assert number not in self.prepared
        self.prepared[number] = records

    def commit(self, number: int) -> None:
        self.addresses.update(self.prepared[number])

    def recover(self, committed: int) -> None:
        assert committed >= 0


def put(writer: GraphWriter, records: list[StoredRecord]) -> None:
    """Fold records, up to the end of what can have been read."""
    ranges = {(source, number): OffsetRange(0, 2**40) for source, number in {record[:2] for record in records}}
    writer.apply(Batch(ranges, dict(flat(fold_records(records, NAMES)))), Budget(10**9))
    settle(writer)


def retain(writer: GraphWriter, cutoffs: Cutoffs) -> tuple[ExpiredCounts, set[RecordAddress]]:
    counts, gone = ExpiredCounts(), Gone()
    for step in Expiry(writer, RetentionPolicy([("*", cutoffs)]), gone).steps(lambda: nullcontext(writer.connection), OLD):
        counts.add(step())
    return counts, gone.addresses


def tables(writer: GraphWriter) -> dict[str, set[tuple[object, ...]]]:
    return {name: contents(writer, name) for name in sorted({*BY_NAME, *STORED} - MAY_HOLD_MORE)}


def graph_of(writer: GraphWriter) -> list[bytes]:
    """The exported graph, without the list of runs."""
    lines = reader_of(writer).whole.lines(frozenset(), now_us=ARRIVAL)
    return [line for line in lines if not line.startswith(b'{"type":"run"')]


def is_in(record: StoredRecord, gone: set[RecordAddress]) -> bool:
    return RecordAddress(*record[:3]) in gone
