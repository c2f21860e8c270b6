"""Questions that another process answers: the same answers, and the same end when a client or the process goes."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from tests.api.answering.test_lanes import EVENT, EXPORT, SOON_S, HeldGraph, ask_and_go, limits
from tests.api.support import LINEAGE, Server
from tests.events import dataset, run_event

from lineage_bridge.api.answering.answerer import answer_questions
from lineage_bridge.api.answering.frames import ENCODER, GREETING, LAST, AnswerStart, Question, frame, read_frame
from lineage_bridge.api.answering.lanes import Limit
from lineage_bridge.api.answering.relay import Relay
from lineage_bridge.api.app import create_app, create_question_app
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.config.external import ExternalAddress

NEVER_SENT = "00000000-0000-4000-8000-00000000dead"


@contextmanager
def answering(server: Server, **changes: Any) -> Iterator[Relay]:
    """Questions are answered from another event loop, over a socket, as by another process."""
    app = create_question_app(replace(server.services, **changes))
    loop, ready = asyncio.new_event_loop(), Event()
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder) / "questions")
        listener.bind(path)
        listener.listen()

        async def main() -> None:
            loop.call_soon(ready.set)
            await answer_questions(app, listener)

        task = loop.create_task(main())
        thread = Thread(target=lambda: loop.run_until_complete(asyncio.wait([task])))
        thread.start()
        assert ready.wait(SOON_S)
        try:
            yield Relay(path)
        finally:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(SOON_S)
            loop.close()


@pytest.fixture
def filled(server: Server) -> Server:
    server.send(EVENT)
    return server


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (EXPORT, {}),
        ("/api/v1/lineage/datasets", {"limit": 1}),
        ("/api/v1/lineage/datasets/detail", dataset("a")),
        ("/api/v1/lineage/datasets/detail", dataset("gone")),
        ("/api/v1/graph/neighbourhood", {**dataset("a"), "depth": "deep"}),
        (f"/api/v1/graph/runs/{NEVER_SENT}", {}),
    ],
)
def test_an_answer_is_the_same_from_another_process(filled: Server, path: str, query: dict[str, Any]) -> None:
    path = path.format(filled.services.graph_id)
    headers = {"x-request-id": "same"}
    here = filled.client.get(path, params=query, headers=headers)
    with answering(filled) as questions:
        there = filled.client_of(questions=questions).get(path, params=query, headers=headers)
    assert (there.status_code, there.json(), there.headers) == (here.status_code, here.json(), here.headers)


def test_the_link_to_the_next_page_is_below_the_path_of_the_server(filled: Server) -> None:
    with answering(filled) as questions:
        client = filled.client_of(questions=questions, access=AccessPolicy(external=ExternalAddress("https://lineage.example", "/lineage")))
        for path in ("/api/v1/lineage/datasets", "/lineage/api/v1/lineage/datasets"):
            link = client.get(path, params={"limit": 1}).headers["link"]
            assert link == '</lineage/api/v1/lineage/datasets?limit=1&offset=1>; rel="next"'
            assert client.get(link[1:].partition(">")[0]).json()[0]["name"] == "b"


def test_an_answer_larger_than_any_frame_comes_whole(server: Server) -> None:
    text = "é" * 300_000
    server.send(run_event(outputs=[dataset("large", documentation={"description": text, "_producer": "p", "_schemaURL": "s"})]))
    with answering(server) as questions:
        found = server.client_of(questions=questions).get("/api/v1/lineage/datasets", params={"limit": 1}).json()
    assert found[0]["facets"]["documentation"]["description"] == text


def test_a_question_ends_in_the_other_process_when_its_client_goes(filled: Server) -> None:
    held, lanes = HeldGraph(filled), limits(whole_graph=Limit(1, 1, SOON_S))
    path = EXPORT.format(filled.services.graph_id)
    with answering(filled, graph=held.reader, lanes=lanes) as questions:
        app = create_app(replace(filled.services, questions=questions))
        sent = ask_and_go(app, path, held.opened)
        assert held.interrupted.wait(SOON_S)
        assert not sent or sent[-1].get("more_body", True), "the answer is not complete"
        assert filled.client_of(questions=questions).get(path).status_code == 200, "the slot was given back"


def test_while_no_process_answers_events_are_accepted_and_ready_says_so(filled: Server, tmp_path: Path) -> None:
    client = filled.client_of(questions=Relay(str(tmp_path / "nobody")))
    refused = client.get("/api/v1/lineage/datasets")
    assert (refused.status_code, refused.json()["error"]["code"], refused.headers["retry-after"]) == (503, "unavailable", "1")
    assert client.post(LINEAGE, content=run_event(job="meanwhile")).status_code == 201
    ready = client.get("/api/v1/ready")
    assert (ready.status_code, ready.json()["parts"]["store"]["state"]) == (503, "silent")


def test_ready_says_that_questions_are_answered(filled: Server) -> None:
    with answering(filled) as questions:
        assert filled.client_of(questions=questions).get("/api/v1/ready").json()["parts"]["store"]["state"] == "ok"


def test_an_answer_that_breaks_off_is_an_error_and_not_an_end(filled: Server) -> None:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/broken")
        listener.listen()

        def break_off() -> None:
            with listener.accept()[0] as connection:
                connection.sendall(b"?")
                connection.recv(1 << 16)

        thread = Thread(target=break_off)
        thread.start()
        answer = filled.client_of(questions=Relay(f"{folder}/broken")).get("/api/v1/lineage/datasets")
        thread.join(SOON_S)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")


class Counting:
    """A listening socket, whose connections are counted."""

    def __init__(self, path: str) -> None:
        self.path, self.connections, self.answers = path, 0, 0

    def serve(self, questions: int) -> None:
        """Answer this many questions of one connection, and close it."""
        with socket.socket(socket.AF_UNIX) as listener:
            Path(self.path).unlink(missing_ok=True)
            listener.bind(self.path)
            listener.listen()
            self.ready.set()
            with listener.accept()[0] as connection:
                self.connections += 1
                connection.sendall(GREETING)
                for _ in range(questions):
                    connection.recv(1 << 16)
                    start = ENCODER.encode(AnswerStart(200, [(b"content-type", b"application/json")]))
                    connection.sendall(frame(start) + frame(b"[]", LAST))
                    self.answers += 1

    def started(self, questions: int) -> Thread:
        """The thread in which it answers; it listens already."""
        self.ready = Event()
        thread = Thread(target=self.serve, args=(questions,))
        thread.start()
        assert self.ready.wait(SOON_S)
        return thread


def test_a_question_may_arrive_while_the_work_on_the_last_one_is_being_ended() -> None:
    async def main() -> list[bytes]:
        asked_again = asyncio.Event()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await receive()
            watching = asyncio.ensure_future(receive())
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": scope["query_string"]})
            if scope["query_string"] == b"1":
                await asked_again.wait()
                for _ in range(10):  # in each of them the loop reads what has arrived
                    await asyncio.sleep(0)
                assert not watching.done(), "its client has not gone"
            watching.cancel()

        async def ask(query: bytes) -> bytes:
            writer.write(frame(ENCODER.encode(Question("", "/", query, [], None, None, ("somebody", False), None))))
            if query != b"1":
                asked_again.set()
            await read_frame(reader)
            return (await read_frame(reader))[0]

        with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/questions")
            listener.listen()
            server = asyncio.create_task(answer_questions(app, listener))
            reader, writer = await asyncio.open_unix_connection(f"{folder}/questions")
            await reader.readexactly(len(GREETING))
            answers = [await asyncio.wait_for(ask(query), SOON_S) for query in (b"1", b"2", b"3")]
            writer.close()
            server.cancel()
            await asyncio.wait([server])
        return answers

    assert asyncio.run(main()) == [b"1", b"2", b"3"]


def test_questions_share_a_connection_until_the_other_process_ends(filled: Server) -> None:
    with TemporaryDirectory() as folder:
        other = Counting(f"{folder}/questions")
        client = filled.client_of(questions=Relay(other.path))
        for answers in (3, 6):
            thread = other.started(3)
            assert [client.get("/api/v1/lineage/datasets").status_code for _ in range(3)] == [200] * 3
            thread.join(SOON_S)
            assert (other.connections, other.answers) == (answers // 3, answers)
