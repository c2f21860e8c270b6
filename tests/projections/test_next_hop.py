"""What a walk that is cut short shows, and what it counts beyond the cut."""

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.model.graph import Edge, Node, Walk
from lineage_bridge.projections.next_hop import NextHop, cut_walk

DATASETS = [Node(id_, NodeKind.DATASET, "ns", f"d{id_}") for id_ in range(7)]
JOB = Node(100, NodeKind.JOB, "ns", "job")


def flow(source: int, target: int) -> Edge:
    return Edge(DATASETS[source], DATASETS[target], JOB, Origin.OBSERVED, Evidence.EXPLICIT, Label.CURRENT, None)


def walk(edges: list[Edge], distances: dict[int, int], canonical: dict[int, int] | None = None) -> Walk:
    nodes = tuple(DATASETS[id_] for id_ in distances)
    return Walk(DATASETS[0], (DATASETS[0],), "both", 2, nodes, distances, canonical or {}, tuple(edges), (), (), "", 0)


def test_a_walk_that_ends_before_the_cut_stays_as_it_is() -> None:
    found = walk([flow(0, 1)], {0: 0, 1: 1})
    cut, beyond = cut_walk(found, 1)
    assert (cut.nodes, cut.edges, cut.depth, beyond) == (found.nodes, found.edges, 1, {})


def test_what_is_further_away_is_left_out_and_counted_on_both_sides() -> None:
    found = walk([flow(0, 1), flow(1, 2), flow(1, 3), flow(4, 0), flow(5, 4)], {0: 0, 1: 1, 4: 1, 2: 2, 3: 2, 5: 2})
    cut, beyond = cut_walk(found, 1)
    assert [node.id for node in cut.nodes] == [0, 1, 4]
    assert [(edge.source.id, edge.target.id) for edge in cut.edges] == [(0, 1), (4, 0)]
    assert beyond == {1: NextHop(0, 2), 4: NextHop(1, 0)}


def test_several_names_of_a_dataset_count_once() -> None:
    found = walk([flow(0, 1), flow(1, 2), flow(1, 3)], {0: 0, 1: 1, 2: 2, 3: 2}, canonical={3: 2})
    assert cut_walk(found, 1)[1] == {1: NextHop(0, 1)}
