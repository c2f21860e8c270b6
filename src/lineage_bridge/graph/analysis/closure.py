"""Measures of a whole graph, computed in memory: which nodes are on cycles, and how many nodes are downstream of each.

A graph has the nodes 0..n-1, and two arrays with the source and the target of each edge. No edge occurs twice, and no edge leads from a
node to itself. Nodes that reach each other count as downstream of each other.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import rustworkx
from numpy.typing import NDArray

Ints = NDArray[np.int64]
UInts = NDArray[np.uint64]
Marks = NDArray[np.bool_]

EXACT_WORDS = 20_000_000_000
"""Counts that take at most this many 64-bit operations are exact; others are estimated."""
BLOCK = 4096
"""By default, how many marked nodes (the nodes to be counted) are handled at once; a multiple of 64."""
REGISTERS = 512
"""The number of registers of a HyperLogLog sketch; its error is about 4%."""
_REGISTER_BLOCK = 64
_64 = np.uint64(64)
_ALPHA = 0.7213 / (1 + 1.079 / REGISTERS)


@dataclass(frozen=True)
class Condensed:
    """The strongly connected components of a graph, numbered so that edges lead from a higher number to a lower one, and the edges between
    these components.

    `component` has the number of each node's component. Edges are sorted by the level of their source, then by the source. A component's
    level is 1 + the highest level of its targets, or 0 if it has no targets. `incoming` lists the edges by target: the edges into a
    component are at `starts[component]` up to, not including, `starts[component + 1]`.
    """

    count: int
    component: Ints
    sources: Ints
    targets: Ints
    levels: Ints
    incoming: Ints
    starts: Ints


def condense(count: int, sources: Ints, targets: Ints) -> Condensed:
    """Contract every strongly connected component of a graph to one node."""
    component = components(count, sources, targets)
    number = int(component.max()) + 1 if count else 0
    ends = np.stack([component[sources], component[targets]], axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0) if len(ends) else ends
    level = _levels(number, ends[:, 0], ends[:, 1])
    order = np.lexsort((ends[:, 0], level[ends[:, 0]]))
    sources, targets = ends[order, 0], ends[order, 1]
    incoming = np.argsort(targets, kind="stable")
    starts = np.searchsorted(targets[incoming], np.arange(number + 1))
    return Condensed(number, component, sources, targets, level[sources], incoming, starts)


def components(count: int, sources: Ints, targets: Ints) -> Ints:
    """The number of each node's strongly connected component. An edge never leads to a component with a higher number."""
    graph: rustworkx.PyDiGraph[None, None] = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * count)
    graph.add_edges_from_no_data(list(zip(sources.tolist(), targets.tolist(), strict=True)))
    component = np.zeros(count, dtype=np.int64)
    # rustworkx lists components in reverse topological order.
    for number, members in enumerate(rustworkx.strongly_connected_components(graph)):
        component[members] = number
    return component


def _levels(count: int, sources: Ints, targets: Ints) -> Ints:
    """The level of each component. Edges lead to lower numbers, so in order of sources, a target's level is final before it is used."""
    order = np.argsort(sources, kind="stable")
    level = [0] * count
    for source, target in zip(sources[order].tolist(), targets[order].tolist(), strict=True):
        level[source] = max(level[source], level[target] + 1)
    return np.array(level, dtype=np.int64)


def downstream_counts(graph: Condensed, marked: Marks, exact_words: int = EXACT_WORDS, block: int = BLOCK) -> tuple[Ints, bool]:
    """For each node, how many marked nodes lie downstream of it (itself not counted), and whether the counts are exact.

    `block` is how many marked nodes are counted at once, a multiple of 64. The memory used grows with `block`.
    """
    chosen = np.flatnonzero(marked)
    exact = _exact(graph, chosen, exact_words, block)
    counts = _estimated(graph, chosen) if exact is None else exact
    return np.maximum(counts[graph.component] - marked, 0), exact is not None


def _exact(graph: Condensed, chosen: Ints, exact_words: int, block: int) -> Ints | None:
    """For each component, the exact count of marked nodes in it and downstream of it; None if counting takes more than `exact_words` 64-bit
    operations.

    Each row has one bit per marked node of a block. Components that are close in the graph have close numbers. So only few other components
    reach the nodes of one block, unless the graph is dense.
    """
    counts, row_of = np.zeros(graph.count, dtype=np.int64), np.zeros(graph.count, dtype=np.int64)
    ordered = chosen[np.argsort(graph.component[chosen], kind="stable")]
    for start in range(0, len(ordered), block):
        homes = graph.component[ordered[start : start + block]]
        rows, edges = _ancestors(graph, np.unique(homes))
        exact_words -= len(edges) * (block // 64)
        if exact_words < 0:
            return None
        row_of[rows] = np.arange(len(rows))
        bit_numbers = np.arange(len(homes), dtype=np.uint64)
        bits = np.zeros((len(rows), block // 64), dtype=np.uint64)
        np.bitwise_or.at(bits, (row_of[homes], (bit_numbers // _64).astype(np.int64)), np.uint64(1) << (bit_numbers % _64))
        _spread(row_of[graph.sources[edges]], row_of[graph.targets[edges]], graph.levels[edges], bits, np.bitwise_or)
        counts[rows] += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return counts


def _ancestors(graph: Condensed, homes: Ints) -> tuple[Ints, Ints]:
    """All components from which one of the components `homes` can be reached (`homes` included), and the edges between them, in the graph's
    order.
    """
    seen = np.zeros(graph.count, dtype=np.bool_)
    seen[homes] = True
    frontier, edges = homes, [np.zeros(0, dtype=np.int64)]
    while len(frontier):
        found = graph.incoming[_ranges(graph.starts[frontier], graph.starts[frontier + 1])]
        edges.append(found)
        reached = np.unique(graph.sources[found])
        frontier = reached[~seen[reached]]
        seen[frontier] = True
    return np.flatnonzero(seen), np.sort(np.concatenate(edges))


def _ranges(starts: Ints, ends: Ints) -> Ints:
    """The integers from each start up to, not including, its end, one range after the other."""
    sizes = ends - starts
    offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) if len(sizes) else sizes
    return offsets + np.arange(len(offsets))


def _estimated(graph: Condensed, chosen: Ints) -> Ints:
    """For each component, the estimated count of marked nodes in it and downstream of it (HyperLogLog).

    All components are counted together in one array, some registers at a time. A library would need one sketch object per component.
    """
    hashes = _hashed(chosen.astype(np.uint64))
    register = (hashes & np.uint64(REGISTERS - 1)).astype(np.int64)
    rest = (hashes >> np.uint64(9)).astype(np.float64)
    rank = (55 - np.floor(np.log2(np.maximum(rest, 1)))).astype(np.uint8)
    total, empty = np.zeros(graph.count), np.zeros(graph.count, dtype=np.int64)
    for start in range(0, REGISTERS, _REGISTER_BLOCK):
        here = (register >= start) & (register < start + _REGISTER_BLOCK)
        ranks = np.zeros((graph.count, _REGISTER_BLOCK), dtype=np.uint8)
        np.maximum.at(ranks, (graph.component[chosen[here]], register[here] - start), rank[here])
        _spread(graph.sources, graph.targets, graph.levels, ranks, np.maximum)
        total += np.exp2(-ranks.astype(np.float32)).sum(axis=1)
        empty += (ranks == 0).sum(axis=1)
    estimate = _ALPHA * REGISTERS * REGISTERS / total
    small = (estimate <= 2.5 * REGISTERS) & (empty > 0)
    estimate[small] = REGISTERS * np.log(REGISTERS / empty[small])
    return np.rint(estimate).astype(np.int64)


def _spread(sources: Ints, targets: Ints, levels: Ints, values: NDArray[Any], merge: np.ufunc) -> None:
    """Pass values along edges: the rows of a source's targets are merged into the row of the source, lowest level first. Changes `values`
    in place.
    """
    bounds = [*np.flatnonzero(np.diff(levels, prepend=-1)).tolist(), len(levels)]
    for start, end in pairwise(bounds):
        froms = sources[start:end]
        firsts = np.flatnonzero(np.diff(froms, prepend=-1))
        values[froms[firsts]] = merge(values[froms[firsts]], merge.reduceat(values[targets[start:end]], firsts, axis=0))


def _hashed(values: UInts) -> UInts:
    """A 64-bit hash of each value (splitmix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashed: UInts = mixed ^ (mixed >> np.uint64(31))
    return hashed
