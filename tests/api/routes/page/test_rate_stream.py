"""The pulse as a stream, over a connection as a browser has it."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.api.answering.test_relay import answering
from tests.api.support import NOW, Server
from tests.events import RUNS, dataset, facet, run_event
from tests.page.conftest import listening
from tests.ports import HOST

from lineage_bridge.api.answering.lanes import LIMITS, Cost, Lanes, Limit
from lineage_bridge.api.answering.relay import Relay
from lineage_bridge.api.app import create_app
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.services import StreamPace
from lineage_bridge.api.web.handshakes import EndingServer, ServerConfig
from lineage_bridge.config.external import ExternalAddress

MINUTE = 60_000_000
STREAM = "/api/v1/graph/pulse/stream"
A: dict[str, Any] = dataset("a")
FAST = StreamPace(tick_s=0.02, quiet_s=60.0, refresh_s=60.0, beat_s=0.2)
SOON_S = 20.0


def moved(minutes_ago: int, rows: int, job: str = "job", read: str = "a", written: str = "b") -> bytes:
    """A run that read and wrote rows."""
    return run_event(
        run=RUNS[minutes_ago % 2],
        job=job,
        time_us=NOW - minutes_ago * MINUTE,
        inputs=[{**dataset(read), "inputFacets": {"inputStatistics": facet(rowCount=rows)}}],
        outputs=[{**dataset(written), "outputFacets": {"outputStatistics": facet(rowCount=rows)}}],
    )


class Stream:
    """A stream that is read event by event."""

    def __init__(self, url: str, headers: dict[str, str] | None = None, path: str = STREAM, **query: Any) -> None:
        self._connection = http.client.HTTPConnection(HOST, int(url.rstrip("/").rpartition(":")[2]), timeout=SOON_S)
        self._connection.request("GET", f"{path}?{urlencode(query)}", headers=headers or {})
        self.answer = self._connection.getresponse()

    def texts(self) -> Iterator[str]:
        """The blocks of the stream, up to its end."""
        lines: list[str] = []
        for raw in self.answer:
            line = raw.decode().rstrip("\n")
            if line:
                lines.append(line)
            elif lines:
                yield "\n".join(lines)
                lines = []

    def events(self) -> Iterator[tuple[str, Any]]:
        """The events of the stream: names and data."""
        for text in self.texts():
            members = dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
            if "event" in members:
                yield members["event"], json.loads(members["data"])

    def close(self) -> None:
        """Leave."""
        self.answer.close()
        self._connection.close()


@contextmanager
def stream_of(url: str, headers: dict[str, str] | None = None, path: str = STREAM, **query: Any) -> Iterator[Stream]:
    """A stream that is read until the end of the block."""
    with closing(Stream(url, headers, path, **query)) as stream:
        yield stream


@pytest.fixture
def filled(server: Server) -> Server:
    server.send(moved(5, 3600), moved(6, 7200, "other", "x", "y"))
    return server


def app_of(server: Server, **changes: Any) -> Any:
    return create_app(replace(server.services, **{"pace": FAST, **changes}))


def rates(data: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(flow["dataset"]["name"], flow["side"]): flow["rows_per_second"] for flow in data["flows"]}


def test_a_stream_has_all_rates_and_then_those_that_changed(filled: Server) -> None:
    with listening(app_of(filled)) as url, stream_of(url, **A) as stream:
        assert stream.answer.status == 200
        headers = {name.lower(): value for name, value in stream.answer.getheaders()}
        assert headers["content-type"].startswith("text/event-stream")
        assert headers["x-accel-buffering"] == "no"
        assert headers["cache-control"] == "no-store, no-transform"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "content-encoding" not in headers
        events = stream.events()
        name, first = next(events)
        assert (name, first["is_whole"], rates(first)) == ("rates", True, {("a", "input"): 1.0, ("b", "output"): 1.0})
        same = {key: value for key, value in first.items() if key not in ("is_whole", "gone")}
        assert same == filled.ask("/graph/pulse", **A)
        filled.send(moved(4, 3600, "reader", "b", "c"))
        _, second = next(events)
        assert (second["is_whole"], second["gone"], rates(second)) == (False, [], {("b", "input"): 1.0})
        filled.parts.now_us += 56 * MINUTE
        filled.send(moved(4, 1, "elsewhere", "p", "q"))
        _, third = next(events)
        assert third["flows"] == []
        assert [(end["job"], end["dataset"], end["side"]) for end in third["gone"]] == [
            (flow["job"]["id"], flow["dataset"]["id"], flow["side"])
            for end in third["gone"]
            for flow in first["flows"]
            if (flow["dataset"]["id"], flow["side"]) == (end["dataset"], end["side"])
        ]
        assert len(third["gone"]) == 2


def test_datasets_are_named_by_ids(filled: Server) -> None:
    ids = {flow["dataset"]["name"]: flow["dataset"]["id"] for name in "ax" for flow in filled.ask("/graph/pulse", **dataset(name))["flows"]}
    both = ",".join((ids["a"], ids["y"], "0123456789abcdef"))
    assert rates(filled.ask("/graph/pulse", datasets=both)) == {("a", "input"): 1.0, ("y", "output"): 2.0}
    with listening(app_of(filled)) as url, stream_of(url, datasets=both, for_s=0) as stream:
        (_, first), (end, why) = stream.events()
        assert rates(first) == {("a", "input"): 1.0, ("y", "output"): 2.0}
        assert (end, why["code"]) == ("end", "expired")


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ({}, "name a node or datasets"),
        ({"namespace": "ns"}, "name a node or datasets"),
        ({**A, "datasets": "0123456789abcdef"}, "name a node or datasets"),
        ({"datasets": "0123456789abcde"}, "not the id of a node"),
        ({"datasets": ",".join(f"{number:016x}" for number in range(1001))}, "1,001 datasets are too many"),
    ],
)
def test_a_question_that_names_no_datasets_is_refused(filled: Server, which: dict[str, str], words: str) -> None:
    for path in ("/graph/pulse", "/graph/pulse/stream"):
        error = filled.ask(path, 422, **which)["error"]
        assert error["code"] == "bad_argument"
        assert words in error["message"]


def test_what_is_wrong_with_the_question_is_answered_as_always(filled: Server) -> None:
    error = filled.ask("/graph/pulse/stream", 404, **dataset("nothing"))["error"]
    assert error["code"] == "not_found"
    assert filled.services.lanes[Cost.STREAMING].running == 0


def test_one_question_is_asked_for_all_who_follow_it_and_none_while_nothing_changes(filled: Server) -> None:
    opened, asks, applied = filled.services.graph, [], {("log", 0): 1}

    def graph() -> Any:
        asks.append(opened)
        return opened()

    app = app_of(filled, graph=graph, progress=lambda: (dict(applied), False))
    with listening(app) as url, stream_of(url, **A) as left, stream_of(url, **A) as right:
        first, second = left.events(), right.events()
        assert next(first)[1]["is_whole"]
        assert next(second)[1]["is_whole"]
        before = len(asks)
        beats = (text for text in left.texts() if text == ":")
        assert [next(beats) for _ in range(2)]
        assert len(asks) == before
        filled.send(moved(4, 3600, "reader", "b", "c"))
        applied["log", 0] = 2
        assert rates(next(second)[1]) == {("b", "input"): 1.0}
        assert rates(next(first)[1]) == {("b", "input"): 1.0}
        assert len(asks) == before + 1


def test_a_client_that_leaves_gives_its_place_to_the_next(filled: Server) -> None:
    lanes = Lanes({**LIMITS, Cost.STREAMING: Limit(1, 0, 0.0)})
    with listening(app_of(filled, lanes=lanes)) as url:
        with stream_of(url, **A) as stream:
            next(stream.events())
            with stream_of(url, **A) as refused:
                assert refused.answer.status == 503
                assert int(refused.answer.headers["Retry-After"]) > 0
                assert json.loads(refused.answer.read())["error"]["code"] == "overloaded"
        left = threading.Event()
        while not left.wait(0.01) and lanes[Cost.STREAMING].running:
            pass
        with stream_of(url, **A) as stream:
            assert next(stream.events())[0] == "rates"


def test_a_stream_ends_when_its_key_is_revoked(filled: Server) -> None:
    key = filled.key("reader", "read")
    with listening(app_of(filled, access=filled.policy(required=True))) as url, stream_of(url, key, **A) as stream:
        events = stream.events()
        assert next(events)[0] == "rates"
        filled.keys.revoke("reader")
        name, end = next(events)
        assert (name, end["code"]) == ("end", "refused")
        assert list(events) == []
        with stream_of(url, key, **A) as again:
            assert again.answer.status == 401


def test_a_stream_ends_when_its_key_expires(filled: Server) -> None:
    key = filled.key("reader", "read", expires_us=NOW + MINUTE)
    with listening(app_of(filled, access=filled.policy(required=True))) as url, stream_of(url, key, **A) as stream:
        events = stream.events()
        next(events)
        filled.parts.now_us = NOW + 2 * MINUTE
        assert next(events)[1]["code"] == "refused"


def test_a_limited_key_sees_in_a_stream_what_it_sees_in_the_answer(filled: Server) -> None:
    filled.send(
        run_event(
            run=RUNS[2], job="hidden", namespace="theirs", time_us=NOW - MINUTE, inputs=[_read("t", "theirs")], outputs=[dataset("a")]
        )
    )
    key = filled.key("theirs", "read", namespaces=("theirs",))
    everything = filled.key("all", "read")
    with listening(app_of(filled, access=filled.policy(required=True))) as url:
        seen = {}
        for name, header in (("limited", key), ("all", everything)):
            with stream_of(url, header, **dataset("t", "theirs"), depth=3, for_s=0) as stream:
                seen[name] = {flow["job"]["name"] for flow in next(stream.events())[1]["flows"]}
        with stream_of(url, key, **A) as stream:
            assert stream.answer.status == 404
    assert seen == {"limited": {"hidden"}, "all": {"hidden", "job"}}


def _read(name: str, namespace: str) -> dict[str, Any]:
    return dataset(name, namespace, access=("inputFacets", {"inputStatistics": facet(rowCount=60)}))


def test_another_process_answers_and_a_stream_outlasts_it(filled: Server) -> None:
    with answering(filled) as questions, listening(app_of(filled, questions=questions)) as url, stream_of(url, **A) as stream:
        events = stream.events()
        assert rates(next(events)[1]) == {("a", "input"): 1.0, ("b", "output"): 1.0}
        filled.send(moved(4, 3600, "reader", "b", "c"))
        assert rates(next(events)[1]) == {("b", "input"): 1.0}
        stream.close()
        forget(questions)


def forget(questions: Relay) -> None:
    """Close the connections that are kept, before the event loop ends to which they belong."""
    while questions._idle:
        kept = questions._idle.pop()
        kept.loop.call_soon_threadsafe(kept.writer.close)


def test_a_problem_is_an_event_and_the_next_answer_is_whole(filled: Server) -> None:
    with answering(filled) as questions:
        app = app_of(filled, questions=questions)
        with listening(app) as url, stream_of(url, **A) as stream:
            events = stream.events()
            next(events)
            path, questions.path = questions.path, "/nowhere"
            forget(questions)
            filled.send(moved(4, 3600, "reader", "b", "c"))
            name, problem = next(events)
            assert (name, problem["error"]["code"]) == ("problem", "unavailable")
            questions.path = path
            while name == "problem":
                name, data = next(events)
            assert (name, data["is_whole"], len(data["flows"])) == ("rates", True, 3)
            stream.close()
            forget(questions)


def test_streams_end_when_the_server_ends(filled: Server) -> None:
    app = app_of(filled)
    with listening(app) as url, stream_of(url, **A) as stream:
        events = stream.events()
        next(events)
        app.end_streams()
        assert next(events) == ("end", {"code": "stopping", "message": "the server is being stopped"})
        assert list(events) == []


def test_a_server_that_ends_waits_for_no_stream(filled: Server) -> None:
    app = app_of(filled)
    with socket.create_server((HOST, 0)) as listener:
        server = EndingServer(ServerConfig(app, log_level="error", lifespan="off"), app.end_streams)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        with stream_of(f"http://{HOST}:{listener.getsockname()[1]}/", **A) as stream:
            events = stream.events()
            next(events)
            server.should_exit = True
            assert next(events)[1]["code"] == "stopping"
        thread.join(SOON_S)
        assert not thread.is_alive()


def test_a_stream_is_shown_below_the_prefix_of_a_proxy(filled: Server) -> None:
    access = AccessPolicy(external=ExternalAddress("https://lineage.example", "/shown"), allowed_hosts=None)
    with listening(app_of(filled, access=access)) as url, stream_of(url, path=f"/shown{STREAM}", for_s=0, **A) as stream:
        assert next(stream.events())[0] == "rates"
