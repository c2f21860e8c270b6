"""Cycles and counts of what lies downstream, against plain sets."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_bridge.graph.analysis import closure
from lineage_bridge.graph.analysis.closure import condense, downstream_counts

graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda edge: edge[0] != edge[1]), max_size=30),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


def reachable(count: int, edges: set[tuple[int, int]]) -> list[set[int]]:
    """What each node reaches by one edge or more."""
    out = []
    for start in range(count):
        found: set[int] = set()
        waiting = [start]
        while waiting:
            node = waiting.pop()
            new = {b for a, b in edges if a == node} - found
            found |= new
            waiting += new
        out.append(found)
    return out


def arrays(edges: set[tuple[int, int]]) -> tuple[closure.Ints, closure.Ints]:
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


@settings(max_examples=200, deadline=None)
@given(graphs)
def test_components_and_counts_are_those_of_plain_sets(graph: tuple[int, set[tuple[int, int]], list[bool]]) -> None:
    count, edges, marks = graph
    plain = reachable(count, edges)
    condensed = condense(count, *arrays(edges))
    for a in range(count):
        for b in range(count):
            together = a == b or (b in plain[a] and a in plain[b])
            assert (condensed.component[a] == condensed.component[b]) == together
    assert all(condensed.component[a] >= condensed.component[b] for a, b in edges)
    counts, exact = downstream_counts(condensed, np.array(marks))
    assert exact
    assert counts.tolist() == [sum(marks[node] for node in found - {start}) for start, found in enumerate(plain)]


def test_many_blocks_give_the_same_counts() -> None:
    source = random.Random(5)
    edges = {(a, b) for a, b in ((source.randrange(400), source.randrange(400)) for _ in range(700)) if a != b}
    condensed = condense(400, *arrays(edges))
    marks = np.array([source.random() < 0.8 for _ in range(400)])
    whole = downstream_counts(condensed, marks)[0].tolist()
    assert downstream_counts(condensed, marks, block=64)[0].tolist() == whole
    assert whole == [sum(marks[node] for node in found - {start}) for start, found in enumerate(reachable(400, edges))]


def test_estimates_are_near_and_called_so() -> None:
    source = random.Random(6)
    layers = 8
    edges = {
        (layer * 500 + source.randrange(500), (layer + 1) * 500 + source.randrange(500)) for layer in range(layers - 1) for _ in range(1500)
    }
    condensed = condense(500 * layers, *arrays(edges))
    marks = np.ones(500 * layers, dtype=np.bool_)
    exact, _ = downstream_counts(condensed, marks)
    near, is_exact = downstream_counts(condensed, marks, exact_words=0)
    assert not is_exact
    large = exact > 100
    assert large.sum() > 1000
    assert np.median(np.abs(near - exact)[large] / exact[large]) < 0.06
    assert np.abs(near - exact)[~large].max() <= 15


def test_a_graph_of_nothing() -> None:
    condensed = condense(0, *arrays(set()))
    assert downstream_counts(condensed, np.zeros(0, dtype=np.bool_))[0].tolist() == []
    assert downstream_counts(condense(2, *arrays(set())), np.ones(2, dtype=np.bool_))[0].tolist() == [0, 0]
