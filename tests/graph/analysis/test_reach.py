"""Distances, counts of paths and dependence, held against definitions that enumerate."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.analysis.reach import MOST_PATHS, adjacency, components, reach, simple_paths

PAIRS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24)


def all_paths(origin: int, target: int, edges: dict[int, set[int]], seen: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    if origin == target and seen:
        return [(*seen, origin)]
    return [
        p for far in sorted(edges.get(origin, ())) if far not in (*seen, origin) for p in all_paths(far, target, edges, (*seen, origin))
    ]


@given(PAIRS, st.sets(st.integers(1, 7)))
def test_distance_and_dependence_are_what_enumeration_says(pairs: set[tuple[int, int]], fed: set[int]) -> None:
    edges = adjacency(pair for pair in pairs if pair[1] != 0)
    met = {0, *(n for n in range(1, 8) if all_paths(0, n, edges))}
    expected = {}
    for node in met - {0}:
        paths = all_paths(0, node, edges)
        elsewhere = any(other == node or all_paths(other, node, edges) for other in fed & met)
        expected[node] = (min(map(len, paths)) - 1, not elsewhere)
    assert {r.node: (r.distance, r.wholly) for r in reach([0], pairs, fed)} == expected


@given(PAIRS, st.sets(st.integers(1, 7)), st.integers(1, 7))
def test_several_origins_are_what_one_node_before_them_would_be(pairs: set[tuple[int, int]], fed: set[int], other: int) -> None:
    """A node that leads to all origins, to which nothing else leads, reaches the same, one hop further away."""
    origins = {0, other}
    own = {(near, far) for near, far in pairs if far not in origins}
    together = {r.node: r for r in reach([-1], own | {(-1, origin) for origin in origins}, fed - origins)}
    expected = {(r.node, r.distance - 1, r.paths, r.wholly) for r in together.values() if r.node not in origins}
    assert {tuple(r) for r in reach(origins, pairs, fed)} == expected


@given(PAIRS)
def test_paths_of_a_graph_without_cycles_are_counted_one_by_one(pairs: set[tuple[int, int]]) -> None:
    acyclic = {(near, far) for near, far in pairs if near < far}
    edges = adjacency(acyclic)
    assert {r.node: r.paths for r in reach([0], acyclic, ())} == {n: len(p) for n in range(1, 8) if (p := all_paths(0, n, edges))}


def test_a_cycle_counts_as_one_step() -> None:
    found = {r.node: r.paths for r in reach([0], {(0, 1), (1, 2), (2, 1), (2, 3), (0, 2)}, ())}
    assert found == {1: 2, 2: 2, 3: 2}


def test_a_count_beyond_what_json_holds_stops_there() -> None:
    pairs = {(n, m) for n in range(0, 200, 2) for m in (n + 1, n + 2)} | {(n, n + 1) for n in range(1, 200, 2)}
    assert max(r.paths for r in reach([0], pairs, ())) == MOST_PATHS


def test_a_long_chain_needs_no_recursion() -> None:
    found = reach([0], {(n, n + 1) for n in range(20_000)}, ())
    assert (len(found), found[-1].distance, found[-1].paths) == (20_000, 20_000, 1)


@given(PAIRS)
def test_components_are_the_nodes_that_lead_to_each_other(pairs: set[tuple[int, int]]) -> None:
    edges = adjacency(pairs)
    met = {0, *(n for n in range(1, 8) if all_paths(0, n, edges))}
    together = {frozenset(m for m in met if m == n or (all_paths(n, m, edges) and all_paths(m, n, edges))) for n in met}
    assert set(components([0], edges)) == together


@given(PAIRS, st.integers(1, 7))
def test_simple_paths_are_all_of_them_the_shortest_first(pairs: set[tuple[int, int]], target: int) -> None:
    edges = adjacency(pairs)
    found = list(simple_paths(0, target, edges, 8, lambda: True))
    assert sorted(found) == sorted(all_paths(0, target, edges))
    assert [len(path) for path in found] == sorted(len(path) for path in found)


def test_simple_paths_end_when_the_caller_says_so() -> None:
    edges = {n: set(range(40)) - {n} for n in range(40)}
    assert len(list(islice(simple_paths(0, 39, edges, 30, lambda: True), 1000))) == 1000
    assert list(simple_paths(0, 39, edges, 30, lambda: False)) == []
