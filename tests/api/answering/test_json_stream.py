"""Large answers are made in pieces by bytes, in memory that does not grow with what they hold."""

import json
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from msgspec import Struct
from tests.api.support import NOW, Server
from tests.events import dataset, run_event

from lineage_bridge.api.answering.json_stream import PIECE_BYTES, json_array
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.views import run_events
from lineage_bridge.projections.whole_graph import NodeFilter, read_edges, read_nodes

JOBS, LENGTH = 24, 250_000


class Row(Struct):
    text: str


@pytest.mark.parametrize("length", [10, PIECE_BYTES, 5 * PIECE_BYTES])
def test_pieces_are_of_bytes_and_not_of_items(length: int) -> None:
    rows = [Row("x" * length)] * 20_000 if length == 10 else [Row("x" * length)] * 5
    pieces = list(json_array("rows", rows))
    assert json.loads(b"{" + b"".join(pieces) + b"}") == {"rows": [{"text": row.text} for row in rows]}
    item = len(b'{"text":""},') + length
    assert max(map(len, pieces)) < PIECE_BYTES + item + len(b'"rows":[]')
    assert min(map(len, pieces[:-1])) >= PIECE_BYTES


def test_an_array_without_items_is_empty() -> None:
    assert b"".join(json_array("rows", [])) == b'"rows":[]'


@pytest.fixture
def heavy(server: Server) -> Server:
    """Jobs that each have a long query, and write a dataset with a long description, all of them different."""
    for number in range(JOBS):
        text = f"SELECT {number} " + "x" * LENGTH
        facets = {"_producer": "p", "_schemaURL": "s"}
        written = dataset(f"out{number}", documentation={"description": text, **facets})
        event = run_event(job=f"job{number}", run=f"0198c0de-0000-7000-8000-{number:012d}", outputs=[written])
        body = json.loads(event)
        body["job"]["facets"] = {"sql": {"query": text, **facets}}
        server.client.post("/api/v1/lineage", content=json.dumps(body))
    server.fold()
    return server


def export(reader: GraphReader) -> Iterator[bytes]:
    yield from json_array("nodes", read_nodes(reader, NodeFilter(), facets=True))
    yield from json_array("edges", read_edges(reader, NOW, facets=True))


def view(reader: GraphReader) -> Iterator[bytes]:
    return json_array("events", run_events(reader, NOW, "standard", lambda *_: True))


def measured(server: Server, write: Callable[[GraphReader], Iterator[bytes]]) -> tuple[int, int]:
    """How many bytes an answer has, and how many were in memory at most."""
    with server.pool.reader() as reader:
        tracemalloc.start()
        try:
            return sum(map(len, write(reader))), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def test_long_facets_are_in_memory_one_item_at_a_time(heavy: Server) -> None:
    for size, peak in (measured(heavy, export), measured(heavy, view)):
        assert size > 2 * JOBS * LENGTH
        assert peak < JOBS * LENGTH
