"""The fold as a Spark step: frames to merged facts, per partition, in Spark's Python workers."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from lineage_bridge.errors import StoreError
from lineage_bridge.graph.facts.events import Names
from lineage_bridge.graph.facts.fold import flat, fold_frames
from lineage_bridge.graph.log_record import Carried
from lineage_bridge.graph.relations import Row
from lineage_bridge.pipeline.schemas import FACTS, FACTS_ARROW, SPAN
from lineage_bridge.ports.graph_store import Batch
from lineage_bridge.ports.log import CarriedFrames

Refused = frozenset[tuple[int, str, str]]
Span = tuple[str, int, int, int]
_CARRIED = ("source", "part", "place", "kind", "event", "arrival", "channel", "principal", "note", "body")
_NAMES: dict[tuple[bytes, Refused], Names] = {}
_ROWS = msgspec.msgpack.Decoder(list[tuple[object, ...]])


def fold(frames: DataFrame, *, key: bytes, refused: Refused = frozenset()) -> DataFrame:
    """FRAMES to FACTS: verdict, facts and merge of each partition. `key` is the installation's; `refused` names share a node id."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        spans: set[Span] = set()
        yield fold_partition(_noting(batches, spans), spans, key, refused)

    return frames.mapInArrow(run, FACTS)


def fold_stretches(stretches: DataFrame, *, read: CarriedFrames, key: bytes, refused: Refused = frozenset()) -> DataFrame:
    """STRETCHES to FACTS: the same, of frames that the worker reads itself, so that they need not pass through Spark."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        spans = {span for batch in batches for span in _spans(batch)}
        yield fold_partition(chain.from_iterable(read(start, end) for _, _, start, end in sorted(spans)), spans, key, refused)

    return stretches.mapInArrow(run, FACTS)


def fold_partition(frames: Iterable[Carried], spans: Iterable[Span], key: bytes, refused: Refused) -> pa.RecordBatch:
    """What Spark's workers run: the frames that cover `spans` to one batch of FACTS."""
    with _no_collection():
        rows = dict(flat(fold_frames(frames, _names(key, refused))))
        packed = {SPAN: [(*span, os.getpid()) for span in sorted(spans)], **rows}
        texts = [msgspec.msgpack.encode(some) for some in packed.values()]
        return pa.RecordBatch.from_arrays([pa.array(list(packed), pa.string()), pa.array(texts, pa.binary())], schema=FACTS_ARROW)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection: what a fold makes lives until it is packed, and to look through it costs a tenth of the fold."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _names(key: bytes, refused: Refused) -> Names:
    """The worker's names, kept from batch to batch: they are a pure function of the key."""
    if (key, refused) not in _NAMES:
        _NAMES.clear()
        _NAMES[key, refused] = Names(key, refused)
    return _NAMES[key, refused]


def _spans(batch: pa.RecordBatch) -> Iterator[Span]:
    return zip(*(batch.column(name).to_pylist() for name in ("source", "part", "start", "end")), strict=True)


def _noting(batches: Iterable[pa.RecordBatch], spans: set[Span]) -> Iterator[Carried]:
    """The frames of batches, whose spans are added to `spans` on the way."""
    for batch in batches:
        spans.update(_spans(batch))
        yield from _carried(batch)


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
