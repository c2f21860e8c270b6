"""Search by name."""

import pytest
from tests.events import KEY, T0, dataset, records_of, run_event
from tests.store.reading import reader_of

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def add(writer: GraphWriter, *bodies: bytes, arrival: int = T0 + 400 * DAY_US) -> None:
    writer.apply(Batch({}, dict(flat(fold_records(records_of(list(bodies), arrival=arrival), NAMES)))), Budget(10**6))


def reader(writer: GraphWriter) -> StoreReader:
    return reader_of(writer)


def found(reader_: StoreReader, name: str, kind: NodeKind = NodeKind.DATASET) -> Node:
    node = reader_.nodes.find(kind, "ns" if kind == NodeKind.DATASET else "jobs", name)
    assert node is not None
    return node


@pytest.mark.parametrize("text", ["orders", "ord", "or", 'a"b', "100%", "a\x00b", "*", "NEAR(", "😀"])
def test_search_bears_any_text(writer: GraphWriter, text: str) -> None:
    add(writer, run_event(inputs=[dataset("public.orders"), dataset('x a"b y'), dataset("100% 😀 *")]))
    assert isinstance(reader(writer).search.by_name(text, None, 10, 0), list)


def test_search_finds_parts_of_names_exact_ones_first(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset("public.orders"), dataset("orders"), dataset("orders_2")]))
    assert reader(writer).search.by_name("orders", None, 10, 0)[0].name == "orders"
    assert {node.name for node in reader(writer).search.by_name("orders", NodeKind.DATASET, 10, 0)} == {
        "public.orders",
        "orders",
        "orders_2",
    }
    assert reader(writer).search.by_name("orders", NodeKind.JOB, 10, 0) == []
    assert reader(writer).nodes.near(NodeKind.DATASET, "ns", "publik.orders")[0].name == "public.orders"
