"""Search by name."""

import pytest
from tests.events import KEY, dataset, run_event
from tests.store.reading import reader_of
from tests.store.writing import add

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


@pytest.mark.parametrize("text", ["orders", "ord", "or", 'a"b', "100%", "a\x00b", "*", "NEAR(", "😀"])
def test_search_bears_any_text(writer: GraphWriter, text: str) -> None:
    add(writer, run_event(inputs=[dataset("public.orders"), dataset('x a"b y'), dataset("100% 😀 *")]))
    assert isinstance(reader_of(writer).search.by_name(text, None, 10, 0), list)


def test_search_finds_parts_of_names_exact_ones_first(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset("public.orders"), dataset("orders"), dataset("orders_2")]))
    assert reader_of(writer).search.by_name("orders", None, 10, 0)[0].name == "orders"
    assert {node.name for node in reader_of(writer).search.by_name("orders", NodeKind.DATASET, 10, 0)} == {
        "public.orders",
        "orders",
        "orders_2",
    }
    assert reader_of(writer).search.by_name("orders", NodeKind.JOB, 10, 0) == []
    assert reader_of(writer).nodes.near(NodeKind.DATASET, "ns", "publik.orders")[0].name == "public.orders"
