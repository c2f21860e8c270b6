"""Questions that wait for a position."""

import sqlite3
from contextlib import closing

import pytest
from tests.api.support import LINEAGE, Server
from tests.events import RUNS, dataset, run_event

FIRST = run_event(run=RUNS[0], job="j1", inputs=[dataset("a")], outputs=[dataset("b")])
SECOND = run_event(run=RUNS[1], job="j2", inputs=[dataset("b")], outputs=[dataset("c")])


def test_an_answer_waits_for_the_position_it_is_given(server: Server) -> None:
    before = server.send(FIRST)
    position = server.client.post(LINEAGE, content=SECOND).json()["position"]
    for parameter in ("min_position", "min-position"):
        late = server.client.get(f"{LINEAGE}/datasets", params={parameter: position, "wait": "0.05"})
        assert (late.status_code, late.json()["error"]["code"], late.headers["retry-after"]) == (503, "unavailable", "1")
    assert server.client.get(f"{LINEAGE}/datasets?wait=0", headers={"x-min-position": position}).status_code == 503
    assert len(server.ask("/lineage/datasets", min_position=before)) == 2
    server.fold()
    assert len(server.ask("/lineage/datasets", min_position=position)) == 3


def test_a_position_is_not_reached_before_the_graph_has_settled(server: Server) -> None:
    position = server.send(FIRST, SECOND)
    with closing(sqlite3.connect(server.folder / "graph.db", isolation_level=None)) as store:
        key = store.execute("SELECT * FROM derive_queue").description
        store.execute(f"INSERT INTO derive_queue VALUES ({', '.join('0' for _ in key)})")
        server.ask("/lineage/datasets", 503, min_position=position, wait=0.05)
        assert server.ask("/graph/neighbourhood", namespace="ns", name="a")["settling"] is True
        store.execute("DELETE FROM derive_queue")
    server.ask("/lineage/datasets", 200, min_position=position, wait=0)


@pytest.mark.parametrize("text", ["x", "!!!", "bnVsbA", "eyJsb2cvMCI6ICJhIn0", "eyJsb2ciOjF9", "\u00e9"])
def test_an_unknown_position_is_422(server: Server, text: str) -> None:
    server.fold()
    server.ask("/lineage/datasets", 422, min_position=text)
