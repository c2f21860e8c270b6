"""Questions about what is in the log and not in the graph yet."""

import time
from contextlib import AbstractContextManager
from threading import Semaphore, Thread

import pytest
from starlette.testclient import TestClient
from tests.api.support import LINEAGE, Server
from tests.events import dataset, run_event

from lineage_bridge.ports.graph_reader import GraphReader

EARLIER, LATER = run_event(outputs=[dataset("a")]), run_event(job="later", outputs=[dataset("b")])
DETAIL = "/api/v1/lineage/datasets/detail"
B = {"namespace": dataset("b")["namespace"], "name": "b"}


@pytest.fixture
def lagging(server: Server) -> Server:
    """A server whose graph lacks the newest event."""
    server.send(EARLIER)
    server.client.post(LINEAGE, content=LATER)
    return server


def ask(client: TestClient, **query: str) -> tuple[int, str, str]:
    """Status, message and hint of an error."""
    answer = client.get(DETAIL, params=B | query)
    error = answer.json()["error"]
    return answer.status_code, error["message"], error["hint"]


def fold_soon(server: Server) -> Thread:
    """Brings the graph up to date while a question waits for it."""

    def fold() -> None:
        time.sleep(0.3)
        server.fold()

    thread = Thread(target=fold)
    thread.start()
    return thread


def test_a_not_found_answer_says_that_events_wait(lagging: Server) -> None:
    behind = lagging.ask("/ready")["lag"]["bytes"]
    status, message, hint = ask(lagging.client_of(not_found_wait_s=0.01))
    assert status == 404
    assert "'b'" in message
    assert f"yet: {behind:,} bytes of events are not in the graph yet" in message
    assert hint.startswith("ask again in a moment; ")


def test_a_question_waits_until_the_graph_has_caught_up(lagging: Server) -> None:
    fold = fold_soon(lagging)
    answer = lagging.client_of(not_found_wait_s=30.0).get(DETAIL, params=B)
    fold.join()
    assert (answer.status_code, answer.json()["name"]) == (200, "b")


def test_a_question_is_asked_again_if_the_graph_caught_up_right_after_the_first_answer(lagging: Server) -> None:
    answered: list[bool] = []

    def graph() -> AbstractContextManager[GraphReader]:
        if answered:
            lagging.fold()
        answered.append(True)
        return lagging.services.graph()

    answer = lagging.client_of(graph=graph, not_found_wait_s=0.01).get(DETAIL, params=B)
    assert (answer.status_code, answer.json()["name"]) == (200, "b")


def test_a_question_is_not_asked_again_while_the_graph_stays_as_it_was(server: Server) -> None:
    server.send(EARLIER)
    opened: list[bool] = []

    def graph() -> AbstractContextManager[GraphReader]:
        opened.append(True)
        return server.services.graph()

    client = server.client_of(graph=graph)
    counts = []
    for _ in range(3):
        opened.clear()
        assert client.get(DETAIL, params=B).status_code == 404
        counts.append(len(opened))
    assert counts[1:] == [2, 2], "the answer, and the look at what waits"
    server.send(LATER)
    assert client.get(DETAIL, params=B).status_code == 200


def test_a_question_that_waited_without_result_gets_a_plain_answer(lagging: Server) -> None:
    fold = fold_soon(lagging)
    answer = lagging.client_of(not_found_wait_s=30.0).get(DETAIL, params={"namespace": "ns", "name": "c"})
    fold.join()
    assert answer.status_code == 404
    assert "so far" not in answer.json()["error"]["message"]


@pytest.mark.parametrize("cause", ["no slot", "pipeline", "caller"])
def test_a_question_does_not_wait(lagging: Server, cause: str) -> None:
    slots = Semaphore(0 if cause == "no slot" else 1)
    if cause == "pipeline":
        lagging.parts.pipeline = None
    began = time.monotonic()
    status, message, _ = ask(lagging.client_of(not_found_wait_s=600.0, waiting_slots=slots), wait="0" if cause == "caller" else "60")
    assert (status, " yet: " in message) == (404, True)
    assert time.monotonic() - began < 30
    assert slots.acquire(blocking=False) == (cause != "no slot")


def test_a_not_found_answer_is_final_when_the_graph_has_all_events(server: Server) -> None:
    server.send(EARLIER)
    status, message, hint = ask(server.client)
    assert (status, " yet: " in message, "again" in hint) == (404, False, False)


def test_a_missing_graph_says_how_much_waits(server: Server) -> None:
    server.client.post(LINEAGE, content=LATER)
    status, message, _ = ask(server.client)
    assert status == 503
    assert "bytes of events are not in the graph yet" in message


def test_ready_says_that_answers_lag(lagging: Server) -> None:
    answer = lagging.ask("/ready")
    assert (answer["ready"], answer["parts"]["store"]["state"]) == (True, "ok")
    assert answer["parts"]["store"]["detail"] == f"answers lag: {answer['lag']['bytes']:,} bytes of events are not in the graph yet"
    lagging.fold()
    assert lagging.ask("/ready")["parts"]["store"]["detail"] == "questions are answered from SQLite"


def test_an_unknown_graph_is_not_waited_for(lagging: Server) -> None:
    answer = lagging.client_of(not_found_wait_s=600.0).get("/api/v1/graphs/other/nodes")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert "so far" not in answer.json()["error"]["message"]
