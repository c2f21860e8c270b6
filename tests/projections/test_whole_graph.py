"""Counting nodes, edges and what hangs together."""

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.projections.whole_graph import GraphCounter

IDS = st.integers(0, 8).map(str)


@given(st.sets(IDS, min_size=1).flatmap(lambda ids: st.tuples(st.just(ids), st.lists(st.tuples(*[st.sampled_from(sorted(ids))] * 2)))))
def test_components_are_those_of_a_search(graph: tuple[set[str], list[tuple[str, str]]]) -> None:
    nodes, edges = graph
    counter = GraphCounter()
    for node in sorted(nodes):
        counter.add_node(node)
    for src, dst in edges:
        counter.add_edge(src, dst)
    stats = counter.stats()
    assert (stats.node_count, stats.edge_count, stats.pipeline_count) == (len(nodes), len(edges), components(nodes, edges))


def components(nodes: set[str], edges: list[tuple[str, str]]) -> int:
    groups = [{node} for node in nodes]
    for edge in edges:
        touched = [group for group in groups if group & set(edge)]
        groups = [group for group in groups if group not in touched] + [set().union(*touched)]
    return len(groups)
