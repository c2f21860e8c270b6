"""What questions about lineage cost those who are limited."""

from typing import Any

from tests.events import dataset, run_event
from tests.store.reading import reader_of
from tests.store.writing import add, opened

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.access import Visibility
from lineage_bridge.model.graph import Node, Walk, WalkLimits
from lineage_bridge.model.lineage import HiddenCounts, Impact
from lineage_bridge.store.lineage.questions import LineageQuestions
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.lineage import LimitedLineage

SECONDS_OF_A_WALK = 2.0


class SlowWalks(LineageQuestions):
    """Answers from the store; each walk takes some seconds of a clock of its own."""

    now = 0.0
    given: tuple[float, ...] = ()

    def walk(self, node: Node, direction: str, depth: int, limits: WalkLimits, **how: Any) -> Walk:
        """A walk, after which it is later."""
        self.now += SECONDS_OF_A_WALK
        self.given = (*self.given, limits.seconds)
        return super().walk(node, direction, depth, limits, **how)


def impact_of(datasets: int) -> tuple[Impact, tuple[float, ...]]:
    """The impact of the first datasets, each read by a job of others, and the seconds that each walk for neighbours was given."""
    with opened() as writer:
        return _impact_of(writer, datasets)


def _impact_of(writer: GraphWriter, datasets: int) -> tuple[Impact, tuple[float, ...]]:
    add(writer, *(run_event(run=f"r{number}", job=f"j{number}", inputs=[dataset(f"d{number}", "own")]) for number in range(5)))
    store = reader_of(writer).lineage
    slow = SlowWalks(store.connection, store.nodes, store.runs)
    visibility = Visibility(("own",), neighbours=True)
    reader = reader_of(writer)
    limited = LimitedLineage(slow, Border(reader.nodes, visibility, visibility.owned(["own", "jobs"])), lambda: slow.now)
    origins = [reader.nodes.find(NodeKind.DATASET, "own", f"d{number}") for number in range(datasets)]
    return limited.impact([node for node in origins if node], "downstream", 5, WalkLimits(seconds=5.0)), slow.given


def test_the_neighbours_of_several_nodes_are_searched_within_the_time_of_one_walk() -> None:
    impact, given = impact_of(5)
    assert given == (5.0, 3.0, 1.0)
    assert [item.node.name for item in impact.affected] == ["j0", "j1", "j2"]
    assert (impact.beyond, impact.truncated) == (HiddenCounts(0, 2), "time")


def test_neighbours_that_are_all_found_in_time_leave_the_answer_whole() -> None:
    impact, given = impact_of(2)
    assert given == (5.0, 3.0)
    assert [item.node.name for item in impact.affected] == ["j0", "j1"]
    assert (impact.beyond, impact.truncated) == (HiddenCounts(0, 0), "")
