"""The corpus of quirks, and a store of it."""

from functools import cache

from tests.quirks.disorder import masked
from tests.store.writing import NAMES

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter


@cache
def corpus_events() -> list[bytes]:
    return masked(huge=True)


def put(writer: GraphWriter, records: list[StoredRecord], budget: int) -> None:
    writer.apply(Batch({}, dict(flat(fold_records(records, NAMES)))), Budget(budget))
