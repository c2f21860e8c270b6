"""Stores that a test writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.events import KEY, T0, dataset, records_of, run_event
from tests.store.reading import reader_of

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import OffsetRange, RecordKind, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.migration import migrate
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)
CONTENT_ADDRESSED = {"facet_set", "facet", "declared_io"}


@cache
def empty_store() -> bytes:
    """A migrated store file: a migration takes far longer than a test's batch."""
    with TemporaryDirectory() as folder:
        migrate(Path(folder) / "graph.db", GRAPH)
        return (Path(folder) / "graph.db").read_bytes()


@contextmanager
def opened() -> Iterator[GraphWriter]:
    with TemporaryDirectory() as folder:
        (Path(folder) / "graph.db").write_bytes(empty_store())
        writer = GraphWriter(Path(folder) / "graph.db", Names(KEY))
        yield writer
        writer.close()


def apply(writer: GraphWriter, records: list[StoredRecord], budget: int = 10_000) -> None:
    start = writer.position("log").get(0, 0)
    rows = dict(flat(fold_records(records, NAMES)))
    writer.apply(Batch({("log", 0): OffsetRange(start, start + 1)}, rows), Budget(budget))


def settle(writer: GraphWriter) -> None:
    while writer.settle(Budget(1)):
        pass


def add(
    writer: GraphWriter,
    *bodies: bytes,
    arrival: int = T0 + 400 * DAY_US,
    kind: RecordKind = RecordKind.EVENT,
    seed: int | None = None,
    batches: int = 1,
    budget: int = 10**6,
) -> StoreReader:
    """Fold events in so many batches, in the order in which they are written here, or in an order that the seed decides."""
    records = records_of(list(bodies), arrival=arrival, kind=kind)
    if seed is not None:
        Random(seed).shuffle(records)
    for number in range(batches):
        writer.apply(Batch({}, dict(flat(fold_records(records[number::batches], NAMES)))), Budget(budget))
    return reader_of(writer)


def moves(*pairs: tuple[str, str, str], **facets: Any) -> list[bytes]:
    """One run for each (input, job, output)."""
    return [run_event(run=f"{a} {job} {b}", job=job, inputs=[dataset(a)], outputs=[dataset(b, **facets)]) for a, job, b in pairs]
