"""What is one's own, who has a name beyond, and places."""

from collections.abc import Iterable
from typing import Any

import pytest

from lineage_bridge.errors import NotFoundError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.access import NOWHERE, Visibility
from lineage_bridge.model.graph import Node
from lineage_bridge.visibility.border import BEYOND, Beyond, Border

OWN = Node(100, NodeKind.DATASET, "own", "d")
JOB, FAR_JOB = Node(7, NodeKind.JOB, "own", "j"), Node(30, NodeKind.JOB, "theirs", "z")
FAR, FAR_TOO = Node(20, NodeKind.DATASET, "theirs", "a"), Node(10, NodeKind.DATASET, "theirs", "b")
FAR_NAME = Node(40, NodeKind.DATASET, "lake", "own under another name")
OTHER = Node(50, NodeKind.DATASET, "lake", "a under another name")
GROUPS = [(OWN, FAR_NAME), (FAR, OTHER)]


class Names:
    """The groups above."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def names_of(self, nodes: Iterable[Node]) -> dict[int, tuple[Node, ...]]:
        every = list(nodes)
        self.asked += [node.id for node in every]
        return {node.id: group for node in every for group in GROUPS if node in group}


def border(*, neighbours: bool = True, names: Any = None, beyond: Beyond | None = None) -> Border:
    visibility = Visibility(("own",), neighbours=neighbours)
    reader: Any = names or Names()
    return Border(reader, visibility, visibility.owned(["own", "theirs", "lake"]), beyond)


def test_a_group_of_names_is_as_visible_as_its_most_visible_member() -> None:
    assert [border().is_own(node) for node in (OWN, FAR_NAME, JOB, FAR, OTHER, FAR_JOB)] == [True, True, True, False, False, False]


def test_each_node_is_judged_once() -> None:
    names = Names()
    judged = border(names=names)
    for _ in range(2):
        judged.load([OWN, FAR])
        judged.all_shown([OWN, FAR])
    assert names.asked == [OWN.id, FAR.id]


def test_neighbours_have_names_and_all_else_is_a_place() -> None:
    judged = border()
    judged.note_flow((OWN, FAR_TOO, FAR_JOB))
    assert judged.shown(FAR_JOB) == FAR_JOB
    assert judged.shown(FAR_TOO) == Node(1, NodeKind.DATASET, BEYOND, "1")
    assert judged.behind(judged.shown(FAR_TOO)) == FAR_TOO
    judged.note_flow((FAR_TOO, FAR, JOB))
    assert judged.shown(FAR) == FAR


def test_a_flow_without_a_job_between_joins_its_ends() -> None:
    judged = border()
    judged.note_flow((FAR, OWN, OWN))
    assert judged.shown(FAR) == FAR


def test_a_neighbour_is_shown_under_the_name_by_which_it_is_one() -> None:
    judged = border()
    judged.note_neighbours(JOB, OTHER)
    assert (judged.shown(OTHER), judged.shown(FAR)) == (OTHER, OTHER)


def test_without_neighbours_nothing_beyond_has_a_name() -> None:
    judged = border(neighbours=False)
    judged.note_neighbours(JOB, FAR)
    assert [judged.shown(node).namespace for node in (FAR, OWN, FAR_NAME)] == [BEYOND, "own", "lake"]


def test_the_numbers_of_places_say_nothing_of_names() -> None:
    """They follow ids, which are hashes with the installation's key; and all names of a dataset are one place."""
    shown = border().all_shown([FAR, FAR_TOO, FAR_JOB, OTHER])
    assert {id_: node.name for id_, node in shown.items()} == {10: "1", 20: "2", 30: "3", 50: "2"}


def test_all_readers_of_a_question_share_its_places() -> None:
    beyond = Beyond()
    first, second = border(beyond=beyond), border(beyond=beyond)
    assert first.shown(FAR) == second.shown(FAR)
    assert second.shown(FAR_TOO).name == "2"
    assert not second.is_own(first.shown(FAR))
    assert second.shown(first.shown(FAR)) == first.shown(FAR)


def test_what_is_not_ones_own_is_not_there() -> None:
    assert border().require_own(FAR_NAME) == FAR_NAME
    with pytest.raises(NotFoundError, match="there is no dataset 'a' in the namespace 'theirs'"):
        border().require_own(FAR)


@pytest.mark.parametrize(
    ("globs", "owned"),
    [
        (("kafka://a*",), {"kafka://a", "kafka://ab"}),
        (("kafka://?",), {"kafka://a"}),
        (("KAFKA*",), set()),
        ((), set()),
        (("[", "x"), {"x"}),
    ],
)
def test_globs_own_namespaces(globs: tuple[str, ...], owned: set[str]) -> None:
    assert Visibility(globs).owned(["kafka://a", "kafka://ab", "x"]) == owned
    assert NOWHERE.owned(["", "x"]) == set()
