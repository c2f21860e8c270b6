"""The fold as a Spark step: frames to merged facts, per partition, in Spark's Python workers."""

import os
from collections.abc import Callable, Iterable, Iterator

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from lineage_bridge.errors import StoreError
from lineage_bridge.graph.carried import Carried
from lineage_bridge.graph.facts import Names
from lineage_bridge.graph.fold import empty_tables, flat, fold_frames
from lineage_bridge.graph.relations import Row
from lineage_bridge.pipeline.schemas import FACTS, FACTS_ARROW, SPAN
from lineage_bridge.ports import Batch

Refused = frozenset[tuple[int, str, str]]
_CARRIED = ("source", "part", "place", "kind", "event", "arrival", "channel", "principal", "note", "body")
_NAMES: dict[tuple[bytes, Refused], Names] = {}
_ROWS = msgspec.msgpack.Decoder(list[tuple[object, ...]])


def fold(frames: DataFrame, *, key: bytes, refused: Refused = frozenset()) -> DataFrame:
    """FRAMES to FACTS: verdict, facts and merge of each partition. `key` is the installation's; `refused` names share a node id."""
    return frames.mapInArrow(partition_fold(key, refused), FACTS)


def partition_fold(key: bytes, refused: Refused) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """The function Spark's workers run."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = _names(key, refused)
        tables, spans = empty_tables(), set()
        for batch in batches:
            fold_frames(_carried(batch), names, tables)
            spans |= set(zip(*(batch.column(name).to_pylist() for name in ("source", "part", "start", "end")), strict=True))
        rows = {SPAN: [(*span, os.getpid()) for span in sorted(spans)], **dict(flat(tables))}
        packed = [msgspec.msgpack.encode(some) for some in rows.values()]
        yield pa.RecordBatch.from_arrays([pa.array(list(rows), pa.string()), pa.array(packed, pa.binary())], schema=FACTS_ARROW)

    return run


def _names(key: bytes, refused: Refused) -> Names:
    """The worker's names, kept from batch to batch: they are a pure function of the key."""
    if (key, refused) not in _NAMES:
        _NAMES.clear()
        _NAMES[key, refused] = Names(key, refused)
    return _NAMES[key, refused]


def _carried(batch: pa.RecordBatch) -> Iterator[Carried]:
    return map(Carried, *(batch.column(name).to_pylist() for name in _CARRIED))


def collect(facts: DataFrame) -> tuple[Batch, list[int]]:
    """FACTS as one batch for the store, with the process ids of the workers that made it. Runs one Spark job."""
    table = facts.toArrow()
    return gather(zip(table.column("relation").to_pylist(), table.column("rows").to_pylist(), strict=True))


def gather(packed: Iterable[tuple[str, bytes]]) -> tuple[Batch, list[int]]:
    """The rows of all partitions as one batch. Raises StoreError when their stretches leave a gap."""
    rows: dict[str, list[Row]] = {}
    for relation, some in packed:
        rows.setdefault(relation, []).extend(_ROWS.decode(some))
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    workers = set()
    for source, part, start, end, worker in sorted(rows.pop(SPAN, [])):
        known = spans.get((source, part))
        if known and known[1] != start:
            raise StoreError(f"the batch of {source}/{part} leaves out {known[1]} to {start}")
        spans[source, part] = (known[0] if known else start), end
        workers.add(worker)
    return Batch(spans, rows), sorted(workers)
