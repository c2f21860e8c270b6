"""Questions are bounded by their cost, end when their client goes, and never stand in the way of events."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread, Timer
from typing import Any

import anyio
import httpx
import pytest
from anyio import to_thread
from starlette.types import Message
from tests.api.support import LINEAGE, URL, Server
from tests.events import T0, dataset, run_event

from lineage_bridge.api.answering.lanes import COSTS, CURRENT_TURN, LIMITS, Cost, Lanes, Limit, Turn
from lineage_bridge.api.app import create_app
from lineage_bridge.api.dependencies import PREFIX
from lineage_bridge.api.limits.callers import THIS_MACHINE
from lineage_bridge.config import Settings
from lineage_bridge.errors import AbandonedError, OverloadedError
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.wiring.shared import question_lanes

SOON_S = 20.0
EVENT = run_event(inputs=[dataset("a")], outputs=[dataset("b")])
EXPORT = "/api/v1/graphs/{}/export"


class HeldGraph:
    """A graph whose readers wait until they are released, or interrupted."""

    def __init__(self, server: Server) -> None:
        self.server, self.opened, self.released, self.interrupted = server, Event(), Event(), Event()

    @contextmanager
    def reader(self) -> Iterator[GraphReader]:
        with self.server.pool.reader() as reader:
            interrupt = reader.interrupt

            def release() -> None:
                self.interrupted.set()
                self.released.set()
                interrupt()

            setattr(reader, "interrupt", release)  # noqa: B010 - a method is not assigned to otherwise
            heads = reader.inventory.heads

            def held_heads(kinds: Any) -> Any:
                self.opened.set()
                assert self.released.wait(SOON_S)
                return heads(kinds)

            setattr(reader.inventory, "heads", held_heads)  # noqa: B010 - as above
            yield reader


@pytest.fixture
def filled(server: Server) -> Server:
    server.send(EVENT)
    return server


def limits(**changed: Limit) -> Lanes:
    return Lanes({cost: changed.get(cost.name.lower(), limit) for cost, limit in LIMITS.items()})


def test_every_cost_is_that_of_a_question(server: Server) -> None:
    paths = {path.removeprefix(PREFIX) for path, calls in create_app(server.services).openapi()["paths"].items() if "get" in calls}
    assert {path.replace(":path", "") for path in COSTS} <= paths


def test_a_full_lane_refuses_and_leaves_the_others_alone(filled: Server) -> None:
    held = HeldGraph(filled)
    lanes = limits(whole_graph=Limit(1, 0, 0.0))
    with filled.client_of(graph=held.reader, lanes=lanes) as client:
        path, answers = EXPORT.format(filled.services.graph_id), []
        asking = Thread(target=lambda: answers.append(client.get(path)))
        asking.start()
        assert held.opened.wait(SOON_S)
        refused = client.get(path)
        assert (refused.status_code, refused.json()["error"]["code"], refused.headers["retry-after"]) == (503, "overloaded", "5")
        assert client.post(LINEAGE, content=run_event(job="meanwhile")).status_code == 201
        assert client.get("/api/v1/lineage/datasets/detail", params=dataset("a")).status_code == 200
        assert client.get("/api/v1/ready").status_code == 200
        held.released.set()
        asking.join(SOON_S)
        assert [answer.status_code for answer in answers] == [200]
        assert client.get(path).status_code == 200


def test_large_requests_are_ingested_while_all_threads_of_questions_are_taken(filled: Server) -> None:
    held = HeldGraph(filled)
    lanes = limits(whole_graph=Limit(60, 0, 0.0))
    with filled.client_of(graph=held.reader, lanes=lanes, thread_bytes=0) as client:
        path = EXPORT.format(filled.services.graph_id)
        asking = [Thread(target=client.get, args=(path,)) for _ in range(50)]
        for thread in asking:
            thread.start()
        assert held.opened.wait(SOON_S)
        assert client.post(LINEAGE, content=run_event(job="large")).status_code == 201
        held.released.set()
        for thread in asking:
            thread.join(SOON_S)


def test_a_question_waits_for_its_turn() -> None:
    async def main() -> list[str]:
        lane, order = limits(heavy=Limit(1, 1, SOON_S))[Cost.HEAVY], []
        await lane.take(THIS_MACHINE)

        async def ask() -> None:
            async with lane.slot(THIS_MACHINE):
                order.append("second")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(OverloadedError):
                await lane.take(THIS_MACHINE)
            order.append("first")
            lane.release(THIS_MACHINE)
        return order

    assert anyio.run(main) == ["first", "second"]


def test_a_question_waits_no_longer_than_its_lane_allows() -> None:
    async def main() -> None:
        lane = limits(heavy=Limit(1, 1, 0.01))[Cost.HEAVY]
        await lane.take(THIS_MACHINE)
        with pytest.raises(OverloadedError):
            await lane.take(THIS_MACHINE)
        lane.release(THIS_MACHINE)
        await lane.take(THIS_MACHINE)

    anyio.run(main)


def test_the_65th_question_is_refused_where_64_fit() -> None:
    async def main() -> None:
        lane = question_lanes(Settings(whole_graph_questions=1, whole_graph_queue=63))[Cost.WHOLE_GRAPH]
        async with anyio.create_task_group() as tasks:
            for _ in range(64):
                tasks.start_soon(lane.take, THIS_MACHINE)
            await anyio.wait_all_tasks_blocked()
            assert lane.queued == 63
            with pytest.raises(OverloadedError):
                await lane.take(THIS_MACHINE)
            for _ in range(64):
                lane.release(THIS_MACHINE)

    anyio.run(main)


# clients that go


def scope_of(path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8000")],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }


def ask_and_go(app: Callable[..., Any], path: str, gone: Event, *, stuck: bool = False) -> list[Message]:
    """Ask as a client that disconnects once `gone` is set, or, if it is `stuck`, reads nothing; the messages of the answer."""
    sent: list[Message] = []

    async def main() -> None:
        first = True

        async def receive() -> Message:
            nonlocal first
            if first:
                first = False
                return {"type": "http.request", "body": b"", "more_body": False}
            await to_thread.run_sync(gone.wait, abandon_on_cancel=True)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if stuck:
                await anyio.sleep_forever()

        with anyio.fail_after(SOON_S):
            await app(scope_of(path), receive, send)

    try:
        anyio.run(main)
    finally:
        gone.set()
    return sent


def test_a_question_ends_when_its_client_goes(filled: Server) -> None:
    held, lanes = HeldGraph(filled), limits(whole_graph=Limit(1, 0, 0.0))
    app = create_app(changed_services(filled, graph=held.reader, lanes=lanes))
    path = EXPORT.format(filled.services.graph_id)
    sent = ask_and_go(app, path, held.opened)
    assert held.interrupted.is_set()
    assert sent[-1].get("more_body", True), "the answer is not complete"
    again = filled.client_of(graph=filled.pool.reader, lanes=lanes).get(path)
    assert again.status_code == 200, "the slot was given back"


def test_an_answer_that_nobody_reads_is_given_up(filled: Server) -> None:
    lanes = limits(whole_graph=Limit(1, 0, 0.0))
    app = create_app(changed_services(filled, lanes=lanes, send_timeout_s=0.05))
    path = EXPORT.format(filled.services.graph_id)
    sent = ask_and_go(app, path, Event(), stuck=True)
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert filled.client_of(lanes=lanes).get(path).status_code == 200


def changed_services(server: Server, **changes: Any) -> Any:
    return replace(server.services, **changes)


ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


def test_a_statement_ends_when_it_is_interrupted(filled: Server) -> None:
    def count_forever() -> None:
        with filled.pool.reader() as reader:
            connections.append(reader._connection)
            timer = Timer(0.2, reader.interrupt)
            timer.start()
            reader._connection.execute(ENDLESS).fetchone()

    connections: list[StoreConnection] = []
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        count_forever()
    with pytest.raises(AbandonedError):
        connections[0].execute("SELECT 1")
    with filled.pool.reader() as fresh:
        assert fresh._connection is not connections[0]


# pages by bytes


def pages(server: Server, path: str, query: Mapping[str, Any], max_bytes: int) -> list[Any]:
    client, found = server.client_of(max_page_bytes=max_bytes), []
    answer = client.get(path, params=query)
    while True:
        assert answer.status_code == 200
        found.append(answer.json())
        if "next" not in answer.links:
            return found
        answer = client.get(answer.links["next"]["url"])


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v1/lineage/events", {"order": "asc", "limit": 10}),
        ("/api/v1/lineage/datasets", {"limit": 10}),
        ("/api/v1/lineage/jobs", {"limit": 10}),
    ],
)
def test_a_page_ends_when_it_has_enough_bytes(server: Server, path: str, query: dict[str, Any]) -> None:
    server.send(*(run_event(job=f"job{n}", run=f"0198c0de-0000-7000-8000-{n:012d}", outputs=[dataset(f"d{n}")]) for n in range(7)))
    whole = pages(server, path, query, 1 << 20)
    assert len(whole) == 1
    single = pages(server, path, query, 1)
    assert [item for page in single for item in page] == whole[0]
    assert {len(page) for page in single} == {1}


def test_a_page_of_a_history_ends_when_it_has_enough_bytes(server: Server) -> None:
    server.send(*(run_event(time_us=T0 + n, outputs=[dataset("b", documentation=description(n))]) for n in range(4)))
    question = {**dataset("b"), "key": "documentation", "limit": 10}
    whole = server.ask("/graph/facets/history", **question)["history"]
    assert len(whole) == 4
    single = [page["history"] for page in pages(server, "/api/v1/graph/facets/history", question, 1)]
    assert [len(page) for page in single] == [1, 1, 1, 1]
    assert [item for page in single for item in page] == whole
    without = server.client_of(max_page_bytes=1).get("/api/v1/graph/facets/history", params={**question, "texts": False})
    assert len(without.json()["history"]) == 4


def description(number: int) -> dict[str, str]:
    return {"description": str(number), "_producer": "p", "_schemaURL": "s"}


def test_a_request_that_begins_in_the_context_of_another_is_a_request_of_its_own(filled: Server) -> None:
    """As uvicorn begins one that came while the answer before it was being sent."""

    async def ask() -> list[int]:
        before = Turn(Lanes())
        before.abandon()
        token = CURRENT_TURN.set(before)
        try:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(create_app(filled.services)), base_url=URL) as client:
                return [(await client.get(f"/api/v1/{path}")).status_code for path in ("ready", "search?q=a", "lineage/datasets")]
        finally:
            CURRENT_TURN.reset(token)

    assert anyio.run(ask) == [200, 200, 200]
