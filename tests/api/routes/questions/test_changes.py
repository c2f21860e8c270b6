"""The change feed over HTTP."""

import threading
import time

from tests.api.support import Server
from tests.events import T0, dataset, run_event


def test_changes_have_names_and_a_cursor(server: Server) -> None:
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    answer = server.ask("/changes")
    assert not answer["more"]
    (flow,) = (item for item in answer["changes"] if item["kind"] == "flow")
    assert (flow["change"], flow["source"]["name"], flow["target"]["name"], flow["job"]["name"]) == ("added", "a", "b", "job")
    assert (flow["origin"], flow["evidence"]) == ("observed", "co-occurrence")
    port = next(item for item in answer["changes"] if item["kind"] == "port")
    assert port["side"] in {"input", "output"}
    assert server.ask("/changes", after=answer["next"])["changes"] == []
    server.send(run_event(time_us=T0 + 1, inputs=[dataset("a")], outputs=[dataset("b")]))
    assert server.ask("/changes", after=answer["next"])["changes"] == []
    server.send(run_event(time_us=T0 + 2, inputs=[dataset("c")]))
    later = server.ask("/changes", after=answer["next"], kind=["node", "port"])
    assert [(item["kind"], item["node"]["name"]) for item in later["changes"]] == [("node", "c"), ("port", "c")]
    assert later["next"] == server.ask("/changes", after="now")["next"]


def test_pages_have_a_limit(server: Server) -> None:
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    first = server.ask("/changes", limit=2)
    assert first["more"]
    rest = server.ask("/changes", after=first["next"])
    assert [item["seq"] for item in first["changes"] + rest["changes"]] == [item["seq"] for item in server.ask("/changes")["changes"]]


def test_an_expired_cursor_is_410_with_a_hint(server: Server) -> None:
    server.send(run_event(inputs=[dataset("a")]))
    error = server.ask("/changes", 410, after="elsewhere.7")["error"]
    assert error["code"] == "gone"
    assert "after=now" in error["hint"]
    assert server.ask("/changes", 422, after="7")["error"]["code"] == "bad_argument"


def test_a_question_waits_for_a_change(server: Server) -> None:
    server.send(run_event(inputs=[dataset("a")]))
    cursor = server.ask("/changes", after="now")["next"]
    began = time.monotonic()
    assert server.ask("/changes", after=cursor, wait_s=0.3)["changes"] == []
    assert time.monotonic() - began >= 0.3
    later = threading.Timer(0.3, server.send, [run_event(time_us=T0 + 1, outputs=[dataset("b")])])
    later.start()
    assert {item["kind"] for item in server.ask("/changes", after=cursor, wait_s=30)["changes"]} >= {"node", "port"}
    later.join()
