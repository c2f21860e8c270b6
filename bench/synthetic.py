"""Events for stores of a given shape, and a plain way to fold them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from uuid import UUID

from bench.engines import KEY
from bench.generator import BASE_US
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.write.apply import GraphWriter

NAMESPACE = "bench://made"
JOBS = "bench"
_BATCH = 20_000


def complete(job: str, run: int, inputs: Iterable[str], outputs: Iterable[str], columns: str = "") -> bytes:
    """One COMPLETE event of the `run`-th run; `columns` are the members of its outputs' facets."""
    output_facets = f',"facets":{{{columns}}}' if columns else ""
    sides = (
        ",".join(f'{{"namespace":"{NAMESPACE}","name":"{name}"{facets}}}' for name in names)
        for names, facets in ((inputs, ""), (outputs, output_facets))
    )
    return (
        f'{{"eventType":"COMPLETE","eventTime":"2026-01-01T00:00:00Z","run":{{"runId":"{UUID(int=run, version=4)}"}},'
        f'"job":{{"namespace":"{JOBS}","name":"{job}"}},"inputs":[{next(sides)}],"outputs":[{next(sides)}],"producer":"b","schemaURL":"b"}}'
    ).encode()


class Folder:
    """Folds events into a store, without Spark and without a log."""

    def __init__(self, place: Path | StoreConnection) -> None:
        self.names = Names(KEY)
        self.store = GraphWriter(place, self.names)
        self.next_offset = self.store.position(LOG_SOURCE).get(0, 0)

    def fold(self, bodies: Iterable[bytes]) -> None:
        """Fold in batches of the product's size, and derive everything at the end."""
        waiting = iter(bodies)
        while batch := list(islice(waiting, _BATCH)):
            self.single_batch(batch)
        while self.store.settle(Budget(100_000)):
            continue

    def single_batch(self, bodies: list[bytes]) -> None:
        """Fold one batch with the product's budget; what the budget leaves is not derived."""
        tables = fold_records(self._records(bodies), self.names)
        self.store.apply(
            Batch({(LOG_SOURCE, 0): OffsetRange(self.next_offset, self.next_offset + len(bodies))}, dict(flat(tables))), Budget(5_000)
        )
        self.next_offset += len(bodies)

    def _records(self, bodies: list[bytes]) -> Iterator[StoredRecord]:
        for number, body in enumerate(bodies):
            yield StoredRecord(
                LOG_SOURCE, 0, self.next_offset + number, LogRecord(RecordKind.EVENT, event_id(body), BASE_US, "http", "", b"", body)
            )

    def close(self) -> None:
        """Close the store."""
        self.store.close()
