"""Each question of the graph has a rule for who is limited: none is passed on unseen, nor is one that comes later."""

import inspect
from typing import Any, Protocol, get_type_hints

import pytest

from lineage_bridge.ports import graph_reader
from lineage_bridge.ports.graph_reader import GraphReader, ProgressReader
from lineage_bridge.ports.history_reader import HistoryReader
from lineage_bridge.ports.whole_graph import WholeGraphReader
from lineage_bridge.visibility import events, history, inventory, lineage, nodes, runs
from lineage_bridge.visibility.reader import LimitedReader, NoWholeGraph

RULES: dict[Any, Any] = {
    graph_reader.NodeReader: nodes.LimitedNodes,
    graph_reader.SearchReader: nodes.LimitedSearch,
    graph_reader.LineageReader: lineage.LimitedLineage,
    graph_reader.RunReader: runs.LimitedRuns,
    HistoryReader: history.LimitedHistory,
    graph_reader.EventReader: events.LimitedEvents,
    graph_reader.InventoryReader: inventory.LimitedInventory,
    WholeGraphReader: NoWholeGraph,
}
OF_ALL = {ProgressReader}
"""Says the same to all."""


def methods(protocol: type) -> set[str]:
    return {name for name, member in vars(protocol).items() if inspect.isfunction(member) and not name.startswith("_")}


@pytest.mark.parametrize("protocol", RULES, ids=lambda protocol: protocol.__name__)
def test_every_method_has_a_rule_of_its_own(protocol: type) -> None:
    rules = RULES[protocol]
    assert methods(protocol) - vars(rules).keys() == set()
    assert "__getattr__" not in vars(rules)


def test_every_part_of_a_reader_is_limited() -> None:
    parts = {name: get_type_hints(member.fget)["return"] for name, member in vars(GraphReader).items() if isinstance(member, property)}
    assert set(parts.values()) == RULES.keys() | OF_ALL
    assert set(parts.values()) == {
        found
        for found in vars(graph_reader).values()
        if isinstance(found, type)
        and found.__module__.startswith("lineage_bridge.ports")
        and Protocol in found.__bases__
        and found is not GraphReader
    }
    assert methods(GraphReader) - vars(LimitedReader).keys() == set()
