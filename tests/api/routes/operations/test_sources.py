"""Sources over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import NOW, Server, running
from tests.sources import scripted

from lineage_bridge.errors import UnreachableError
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

SOURCES = "/api/v1/sources"


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store, scripted.KINDS) as started:
        yield started


@pytest.fixture
def poll(server: Server):
    """Adds the source `one`; polls it."""
    scripted.SEEN.clear()
    repository = SourceRepository(StateDatabase(server.folder / "state.db"))
    poller = Poller(server.services.sources.records, repository, lambda _: None, lambda: NOW, kinds=scripted.KINDS)
    added = server.client.post(SOURCES, json={"name": "one", "kind": "scripted", "settings": {"system": "a", "password": "${env:PW}"}})
    assert added.status_code == 201
    return lambda: poller.poll(server.services.sources.record("one"))


def test_a_source_shows_its_state(server: Server, poll) -> None:
    scripted.SCRIPTS["a"] = [(["x"], (), [Unseen("topics", "refused")]), UnreachableError("nobody home", "knock"), ((), (), ())]
    answers = []
    for _ in range(4):
        answers.append(server.client.get(f"{SOURCES}/one").json())
        poll()
    answers.append(server.client.get(SOURCES).json()["sources"][0])
    assert [item["state"] for item in answers] == ["new", "partial", "failing", "ok", "ok"]
    assert answers[0] == {
        "name": "one",
        "kind": "scripted",
        "state": "new",
        "origin": "added",
        "settings": {"system": "a", "password": "${env:PW}"},
        "polls": 0,
        "events": 0,
        "unseen": [],
    }
    assert answers[1]["unseen"] == [{"what": "topics", "why": "refused", "since": answers[1]["last_success_at"]}]
    assert answers[2]["last_error"] == {"message": "nobody home", "hint": "knock", "at": answers[2]["last_poll_at"]}
    assert answers[2]["failing_since"] == answers[2]["last_poll_at"]
    assert answers[2]["unseen"] == answers[1]["unseen"], "what could not be seen is no less unseen while nothing can"
    assert "failing_since" not in answers[3]
    assert answers[3]["last_error"]["message"] == "nobody home"


@pytest.mark.usefixtures("poll")
def test_a_source_is_paused_resumed_polled_and_removed(server: Server) -> None:
    scripted.SCRIPTS["a"] = [((), (), ())]
    assert server.client.post(f"{SOURCES}/one/pause").json()["state"] == "paused"
    assert server.client.post(f"{SOURCES}/one/poll").status_code == 422
    assert server.client.post(f"{SOURCES}/one/resume").json()["state"] == "new"
    assert server.client.post(f"{SOURCES}/one/poll").status_code == 200
    assert server.client.post(f"{SOURCES}/one/test").json() == {
        "works": False,
        "checks": [
            {"step": "reach", "works": True, "told": "it answers", "hint": "", "skipped": False},
            {"step": "reach", "works": False, "told": "no way in", "hint": "mind the step", "skipped": False},
        ],
    }
    assert server.client.delete(f"{SOURCES}/one").json() == {"status": "removed", "name": "one"}
    for call in (server.client.get, server.client.delete):
        assert call(f"{SOURCES}/one").status_code == 404
    assert server.client.get(SOURCES).json() == {"sources": []}


@pytest.mark.usefixtures("poll")
def test_an_invalid_source_is_refused_and_no_secret_is_quoted(server: Server) -> None:
    for body, code in (
        ({"name": "two", "kind": "scripted", "settings": {"system": "a", "password": "hunter2"}}, "bad_setting"),
        ({"name": "two", "kind": "unheard"}, "bad_setting"),
        ({"name": "one", "kind": "scripted", "settings": {"system": "a"}}, "bad_argument"),
        ({"kind": "scripted"}, "bad_argument"),
    ):
        answer = server.client.post(SOURCES, json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
        assert "hunter2" not in answer.text
    assert (
        server.client.post(SOURCES, json={"name": "one", "kind": "scripted", "settings": {"system": "b"}, "replace": True}).status_code
        == 201
    )


@pytest.mark.usefixtures("poll")
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            {"name": "two", "kind": "scripted", "settings": {"password": "hunter2", "interval_s": 0}},
            {"settings.interval_s", "settings.password", "settings.system"},
        ),
        ({"name": "a b", "kind": "scripted", "settings": {"system": "a"}}, {"name"}),
        ({"name": "one", "kind": "scripted", "settings": {"system": "a"}}, {"name"}),
        ({"name": "two", "kind": "unheard"}, set()),
    ],
)
def test_a_refusal_names_each_field_that_is_wrong_and_no_value(server: Server, body: dict[str, Any], fields: set[str]) -> None:
    answer = server.client.post(SOURCES, json=body)
    found = {field["path"]: field["reason"] for field in answer.json()["error"].get("fields", [])}
    assert (answer.status_code, set(found)) == (422, fields)
    assert all(found.values())
    assert "hunter2" not in answer.text
    if len(fields) > 1:
        assert all(f"setting {path.removeprefix('settings.')}: {reason}" in answer.json()["detail"] for path, reason in found.items())


@pytest.mark.usefixtures("poll")
def test_kinds_list_their_settings(server: Server) -> None:
    (kind,) = [kind for kind in server.client.get("/api/v1/source-kinds").json()["kinds"] if kind["kind"] == "scripted"]
    settings = {setting["name"]: setting for setting in kind["settings"]}
    system = {"name": "system", "required": True, "default": None, "description": "name of the script", "secret": False, "many": False}
    assert settings["system"] == system
    assert settings["password"]["secret"]
    assert settings["interval_s"]["default"] == 60.0


@pytest.mark.parametrize("url", ["http://h:1\r\nX-Evil: 1", "http://h:1/\r\n\r\nGET / HTTP/1.1", "http://h:1/ x"])
def test_an_address_with_control_characters_is_refused(server: Server, url: str) -> None:
    body = {"name": "evil", "kind": "connect", "settings": {"url": url}}
    answer = server.client.post(SOURCES, json=body)
    assert (answer.status_code, "url" in answer.json()["error"]["message"]) == (422, True)
