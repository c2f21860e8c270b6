"""Analyses the whole graph in a Spark batch: Spark joins and reduces the rows, the driver walks the edges in memory.

The nodes are groups: all names of a dataset are one node. Self-flows are ignored. A hub is an extra vertex between its inputs and its
outputs, so that its pairs are not enumerated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from lineage_bridge.graph.analysis.closure import Condensed, Ints, Marks, condense, downstream_counts
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.analysis import Analysis, GraphTable, LastUse, NodeMeasure
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.analysis import GraphTables

_ROWS = 50_000
_INT, _TEXT = pa.int64(), pa.string()
_SCHEMAS = {
    GraphTable.NODE: {"id": _INT, "head": _INT, "kind": _INT, "namespace": _TEXT, "name": _TEXT, "dashboard": _INT},
    GraphTable.FLOW: {"source": _INT, "target": _INT},
    GraphTable.HUB: {"hub": _INT, "side": _INT, "dataset": _INT},
    GraphTable.SHAPE_IO: {"shape": _INT, "side": _INT, "dataset": _INT},
    GraphTable.JOB_SHAPE: {"job": _INT, "shape": _INT, "last": _INT},
}
Frames = dict[GraphTable, DataFrame]


@dataclass(frozen=True)
class CollectedRows:
    """The rows in the driver's memory: groups (id, kind, namespace, name, dashboard), the edges that `edges_of` returns, and the rows that
    `touched_of` returns.
    """

    nodes: pa.Table
    edges: pa.Table
    touched: pa.Table


def write_tables(tables: GraphTables, folder: Path) -> None:
    """Write the whole graph to Parquet files in a folder."""
    for table, columns in _SCHEMAS.items():
        _write_rows(tables.rows(table), pa.schema(list(columns.items())), folder / f"{table.value}.parquet")


def analyse(session: SparkSession, folder: Path, *, unused_before_us: int) -> Analysis:
    """Analyse the graph that `write_tables` wrote. A dataset is unused if it was written but not read since `unused_before_us`."""
    return measure(_collect({table: session.read.parquet(str(folder / f"{table.value}.parquet")) for table in _SCHEMAS}), unused_before_us)


def _write_rows(rows: Iterator[Row], schema: pa.Schema, path: Path) -> None:
    """Write rows to a Parquet file in batches."""
    with pq.ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, _ROWS)):
            columns = [pa.array(values, field.type) for values, field in zip(zip(*some, strict=True), schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _collect(frames: Frames) -> CollectedRows:
    heads = frames[GraphTable.NODE].select("id", "head")
    names = (F.max(name).alias(name) for name in ("kind", "namespace", "name", "dashboard"))
    nodes = frames[GraphTable.NODE].groupBy(F.col("head").alias("id")).agg(*names).orderBy("id")
    return CollectedRows(nodes.toArrow(), edges_of(frames, heads).toArrow(), touched_of(frames, heads).toArrow())


def edges_of(frames: Frames, heads: DataFrame) -> DataFrame:
    """The distinct edges (from_hub, from, to_hub, to) between different groups, or between a group and a hub."""
    flows = frames[GraphTable.FLOW].transform(_grouped, heads, "source").transform(_grouped, heads, "target")
    flows = flows.where("source <> target").select(*_edge(F.lit(False), F.col("source"), F.lit(False), F.col("target")))
    ends = frames[GraphTable.HUB].transform(_grouped, heads, "dataset")
    into = ends.where(F.col("side") == int(Side.INPUT)).select(*_edge(F.lit(False), F.col("dataset"), F.lit(True), F.col("hub")))
    out = ends.where(F.col("side") == int(Side.OUTPUT)).select(*_edge(F.lit(True), F.col("hub"), F.lit(False), F.col("dataset")))
    return flows.union(into).union(out).distinct()


def _edge(*columns: Column) -> Iterator[Column]:
    return (column.alias(name) for column, name in zip(columns, ("from_hub", "from", "to_hub", "to"), strict=True))


def touched_of(frames: Frames, heads: DataFrame) -> DataFrame:
    """When a job last wrote each group, and when one last read it: one row per group for writing, and one for reading."""
    touches = frames[GraphTable.SHAPE_IO].join(frames[GraphTable.JOB_SHAPE], on="shape", how="inner")
    return touches.transform(_grouped, heads, "dataset").groupBy("dataset", "side").agg(F.max("last").alias("last"))


def _grouped(rows: DataFrame, heads: DataFrame, column: str) -> DataFrame:
    """The same rows, with the node ids in one column replaced by those of their groups."""
    joined = rows.join(heads.withColumnsRenamed({"id": column, "head": "group"}), on=column, how="inner")
    return joined.select(*(F.col("group").alias(column) if name == column else F.col(name) for name in rows.columns))


def measure(collected: CollectedRows, unused_before_us: int) -> Analysis:
    """Compute the analysis from the collected rows."""
    nodes = [Node(id_, NodeKind(kind), space, name) for id_, kind, space, name in _tuples(collected.nodes, 4)]
    ids = _ints(collected.nodes, "id")
    hubs = np.unique(np.concatenate([_ints(collected.edges, end)[_marks(collected.edges, f"{end}_hub")] for end in ("from", "to")]))
    sources, targets = (_vertices(collected.edges, end, ids, hubs) for end in ("from", "to"))
    count = len(ids) + len(hubs)
    kinds = np.concatenate([_ints(collected.nodes, "kind"), np.zeros(len(hubs), dtype=np.int64)])
    dashboards = np.concatenate([_ints(collected.nodes, "dashboard"), np.zeros(len(hubs), dtype=np.int64)]) > 0
    down, up = condense(count, sources, targets), condense(count, targets, sources)
    datasets = kinds == NodeKind.DATASET
    below, exact = downstream_counts(down, datasets)
    dashboards_below, dashboards_exact = downstream_counts(down, dashboards)
    above, above_exact = downstream_counts(up, datasets)
    touched = {(dataset, side): last for dataset, side, last in _tuples(collected.touched, 3)}
    ends = set(np.unique(np.concatenate([sources, targets])).tolist())
    return Analysis(
        nodes=tuple(NodeMeasure(node, *map(int, (below[n], dashboards_below[n], above[n]))) for n, node in enumerate(nodes)),
        cycles=tuple(_cycles(down, nodes)),
        orphans=tuple(node for n, node in enumerate(nodes) if _is_orphan(node, n in ends, touched)),
        unused=tuple(_unused(nodes, touched, unused_before_us)),
        flows=len(sources),
        exact=exact and dashboards_exact and above_exact,
    )


def _cycles(graph: Condensed, nodes: list[Node]) -> Iterator[tuple[Node, ...]]:
    """Find the cycles: sets of groups that all reach each other, largest first. A set has at least two groups, because a hub between a
    dataset and itself is a self-flow.
    """
    members: dict[int, list[Node]] = {}
    for node, component in zip(nodes, graph.component.tolist(), strict=False):
        members.setdefault(component, []).append(node)
    found = [sorted(some, key=_by_name) for some in members.values() if len(some) > 1]
    for some in sorted(found, key=lambda some: (-len(some), _by_name(some[0]))):
        yield tuple(some)


def _is_orphan(node: Node, has_flow: bool, touched: dict[tuple[int, int], int]) -> bool:
    is_touched = any((node.id, int(side)) in touched for side in (Side.INPUT, Side.OUTPUT))
    return node.kind is NodeKind.DATASET and not has_flow and not is_touched


def _unused(nodes: list[Node], touched: dict[tuple[int, int], int], before_us: int) -> Iterator[LastUse]:
    for node in nodes:
        written, read = (touched.get((node.id, int(side))) for side in (Side.OUTPUT, Side.INPUT))
        if node.kind is NodeKind.DATASET and written is not None and (read is None or read < before_us):
            yield LastUse(node, written, read)


def _by_name(node: Node) -> tuple[str, str, int]:
    return node.namespace, node.name, node.kind


def _vertices(edges: pa.Table, end: str, ids: Ints, hubs: Ints) -> Ints:
    """The numbers of the vertices at one end of the edges. Groups are numbered first, hubs after them."""
    values, is_hub = _ints(edges, end), _marks(edges, f"{end}_hub")
    return np.where(is_hub, len(ids) + np.searchsorted(hubs, values), np.searchsorted(ids, values))


def _ints(table: pa.Table, column: str) -> Ints:
    found: Ints = table.column(column).to_numpy().astype(np.int64)
    return found


def _marks(table: pa.Table, column: str) -> Marks:
    found: Marks = table.column(column).to_numpy(zero_copy_only=False).astype(np.bool_)
    return found


def _tuples(table: pa.Table, columns: int) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns[:columns]), strict=True) if table.num_rows else iter(())
