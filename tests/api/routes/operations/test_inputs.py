"""Inputs over HTTP."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient
from tests.api.support import NOW, Server, running
from tests.events import KEY, run_event
from tests.inputs import scripted
from tests.inputs.test_input_ledger import WHERE, batch, records

from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.keys import internal_key
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.errors import UnreachableError
from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.archive.writer import ArchiveWriter, PartFile
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition
from lineage_bridge.model.sources import InputStatus
from lineage_bridge.ports.inputs import InputPositions, InputsReport, InputStart, PartitionPosition, pack_batch
from lineage_bridge.store.state.keys import WatchedKeys

INPUTS = "/api/v1/inputs"


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store, input_kinds=scripted.KINDS) as started:
        yield started


def add(server: Server, name: str = "events", **settings: Any) -> dict[str, Any]:
    body = {"name": name, "kind": "scripted", "settings": {"script": "a", **settings}}
    answer = server.client.post(INPUTS, json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def own_client(server: Server) -> TestClient:
    """A client with the key of LineageBridge's own processes."""
    own, text = internal_key(KEY, NOW, secrets.token_bytes)
    client = server.client_of(access=AccessPolicy(KeyAuthenticator(WatchedKeys(server.state), KEY, lambda: NOW, (own,))))
    client.headers["authorization"] = f"Bearer {text}"
    return client


def test_an_input_shows_what_it_brought_and_how_it_stands(server: Server) -> None:
    assert add(server, password="${env:PW}") == {
        "name": "events",
        "kind": "scripted",
        "state": "unread",
        "origin": "added",
        "settings": {"script": "a", "password": "${env:PW}"},
        "accepted": 0,
        "rejected": {},
        "records_per_s": 0.0,
        "read": 0,
        "skipped": 0,
        "filtered": 0,
        "lost": 0,
        "partitions": 0,
        "problems": [],
    }
    client = own_client(server)
    sent = pack_batch(batch(records(4, run_event(), b"bad"), session="session"))
    assert client.post(f"{INPUTS}/events/records", content=sent).status_code == 204
    status = InputStatus("failing", NOW - 5, "no broker", "start it", NOW, 0, 12, 3.04, 5.5, 6, 1, 2, ("topic x: unknown",), filtered=4)
    server.parts.report = InputsReport(7, NOW, {"events": status})
    item = server.ask("/inputs/events")
    assert (item["accepted"], item["rejected"], item["state"]) == (0, {"not_json": 1}, "failing")
    assert item["last_record"] | {"taken_in_at": ""} == {"stream": "lineage", "partition": "0", "offset": 4, "taken_in_at": ""}
    assert item["last_error"]["message"] == "no broker"
    assert (item["lag_records"], item["lag_s"], item["records_per_s"]) == (12, 3.0, 5.5)
    assert (item["read"], item["skipped"], item["lost"], item["problems"]) == (6, 1, 2, ["topic x: unknown"])
    assert item["filtered"] == 4
    assert server.ask("/inputs")["inputs"] == [item]
    metrics = server.client.get("/metrics").text
    for line in (
        'lineage_bridge_input_up{input="events",kind="scripted"} 0.0',
        'lineage_bridge_input_lag_records{input="events",kind="scripted"} 12.0',
        'lineage_bridge_input_events_total{input="events",kind="scripted",outcome="not_json"} 1.0',
        'lineage_bridge_input_filtered_events_total{input="events",kind="scripted"} 4.0',
    ):
        assert line in metrics


def test_readiness_names_inputs_that_are_not_read_and_is_ready_all_the_same(server: Server) -> None:
    def part() -> Any:
        server.fold()
        answer = server.client.get("/api/v1/ready")
        assert answer.status_code == 200, answer.text
        return answer.json()["parts"].get("inputs")

    server.send(run_event())
    assert part() is None
    add(server)
    assert part() == {"state": "failing", "detail": "no process reads inputs"}
    rated = InputStatus("reading", lag_records=3, records_per_s=2.5)
    for status, expected in (
        (rated, "3 records are not read yet; 2.5 records a second, 0 events rejected"),
        (InputStatus(), "not known yet"),
    ):
        server.parts.report = InputsReport(7, NOW, {"events": status})
        assert (part()["state"], expected in part()["detail"]) == ("ok", True)
    server.parts.report = InputsReport(7, NOW, {"events": InputStatus("failing")})
    assert part() == {"state": "failing", "detail": "failing: events"}
    limited = server.asking_for_keys().get("/api/v1/ready", headers=server.key("team", "read", namespaces=("ours",)))
    assert limited.json()["parts"]["inputs"] == {"state": "failing", "detail": "not all inputs are read"}
    server.parts.report = InputsReport(7, NOW - 20_000_000, {"events": InputStatus("reading")})
    assert "has not reported for 20 s" in part()["detail"]
    assert server.ask("/inputs/events")["state"] == "unread"
    server.client.post(f"{INPUTS}/events/pause")
    assert part() is None


def test_what_is_archived_and_not_in_the_graph_yet_counts_as_lag(server: Server) -> None:
    server.send(run_event())
    server.fold()
    assert server.client.get("/api/v1/ready").json()["lag"]["caught_up"]
    of = ArchivedPartition("events", StreamPartition("topic", "life", "0"))
    body = run_event(job="other")
    note = write_note(RecordNote(origin=RecordOrigin(of.input, *of.where, 0)))
    writer = ArchiveWriter(server.folder / "archive")
    with writer.parts() as folder:
        part = PartFile(folder)
        part.append(LogRecord(RecordKind.EVENT, event_id(body), NOW, "kafka", "input:events", note, body))
        part.close()
        writer.put({of: (0, EventPosition(1, 0).address)}, {of: [part.path]})
    answer = server.client.get("/api/v1/ready").json()
    assert (answer["lag"]["caught_up"], answer["lag"]["bytes"] > len(body)) == (False, True)


def test_an_input_is_added_replaced_paused_and_removed_and_all_of_it_is_in_the_trail(server: Server) -> None:
    add(server)
    again = {"name": "events", "kind": "scripted", "settings": {"script": "b"}}
    refused = server.client.post(INPUTS, json=again)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_argument")
    assert server.client.post(INPUTS, json={**again, "replace": True}).json()["settings"] == {"script": "b"}
    assert server.client.post(f"{INPUTS}/events/pause").json()["state"] == "paused"
    assert server.client.post(f"{INPUTS}/events/resume").json()["state"] == "unread"
    assert server.client.delete(f"{INPUTS}/events").json() == {"status": "removed", "name": "events"}
    assert server.client.get(f"{INPUTS}/events").status_code == 404
    assert server.client.delete(f"{INPUTS}/events").status_code == 404
    actions = [change["action"] for change in server.ask("/audit")["changes"]]
    assert [action.replace("/inputs", "") for action in reversed(actions)] == [
        "POST ",
        "POST ",
        "POST /{name}/pause",
        "POST /{name}/resume",
        "DELETE /{name}",
    ]


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ({"name": "a b", "kind": "scripted", "settings": {"script": "a"}}, "not a valid name"),
        ({"name": "a", "kind": "unheard", "settings": {}}, "unknown kind of input"),
        ({"name": "a", "kind": "scripted", "settings": {}}, "script"),
        ({"name": "a", "kind": "scripted", "settings": {"script": "a", "password": "hunter2"}}, "must be a reference"),
        ({"name": "a", "kind": "scripted", "more": 1}, "invalid input"),
        ({"name": "a", "kind": "openmetadata", "settings": {"brokersUrl": "b:9092"}}, "topicName is missing"),
        ({"name": "a", "kind": "scripted", "settings": {"script": "a", "jobs": {"include": ["("]}}}, "setting jobs.include: '('"),
    ],
)
def test_what_cannot_be_added_is_refused_with_a_reason(server: Server, order: dict[str, Any], reason: str) -> None:
    answer = server.client.post(INPUTS, json=order)
    assert answer.status_code == 422
    assert reason in answer.text
    assert "hunter2" not in answer.text
    assert server.ask("/inputs")["inputs"] == []


def test_openmetadatas_settings_become_an_input_for_kafka(server: Server) -> None:
    body = {"name": "om", "kind": "openmetadata", "settings": {"brokersUrl": "127.0.0.1:9092", "topicName": "lineage"}}
    added = server.client.post(INPUTS, json=body).json()
    assert (added["kind"], added["settings"]) == ("kafka", {"bootstrap_servers": "127.0.0.1:9092", "topics": ["lineage"]})


def test_a_test_tells_what_is_left_out(server: Server) -> None:
    together = b"[" + run_event(job="a") + b"," + run_event(job="b") + b"]"
    scripted.ScriptedInput.SCRIPTS["a"] = [[scripted.record(0, together)]]
    assert add(server, jobs={"exclude": ["jobs-b"]})["settings"]["jobs"] == {"exclude": ["jobs-b"]}
    checks = server.client.post(f"{INPUTS}/events/test").json()["checks"]
    assert checks[1]["told"] == "1 event would be accepted, and 1 left out by the setting jobs"


def test_a_test_judges_and_takes_nothing_in(server: Server) -> None:
    scripted.ScriptedInput.SCRIPTS["a"] = [[scripted.record(0, run_event()), scripted.record(1, b"bad")], UnreachableError("gone", "wait")]
    add(server)
    answer = server.client.post(f"{INPUTS}/events/test").json()
    steps = [(check["step"], check["works"]) for check in answer["checks"]]
    assert (answer["works"], steps) == (False, [("connect", True), ("record", True), ("record", False), ("connect", False)])
    assert answer["checks"][1]["told"] == "1 event would be accepted"
    assert "not_json" in answer["checks"][2]["told"]
    assert server.stored() == []


def test_kinds_list_their_settings(server: Server) -> None:
    kinds = {kind["kind"]: kind for kind in server.ask("/input-kinds")["kinds"]}
    settings = {setting["name"]: setting for setting in kinds["kafka"]["settings"]}
    assert (settings["topics"]["required"], settings["topics"]["many"], settings["password"]["secret"]) == (True, True, True)
    assert (settings["start"]["default"], settings["start"]["many"]) == ("earliest", False)
    assert all(setting["description"] for setting in settings.values())


def test_records_are_taken_in_once_for_the_process_that_reads_inputs_alone(server: Server) -> None:
    add(server)
    client = own_client(server)
    positions = msgspec.json.decode(client.get(f"{INPUTS}/events/positions").content, type=InputPositions)
    assert (positions.session, positions.opened, positions.partitions) == ("session", False, [])
    start = msgspec.json.encode(InputStart("session", [PartitionPosition(WHERE, EventPosition(2, 0))]))
    assert client.post(f"{INPUTS}/events/positions", content=start).status_code == 204
    sent = pack_batch(batch(records(2, run_event()), session="session"))
    for _ in range(2):
        assert client.post(f"{INPUTS}/events/records", content=sent).status_code == 204
    assert len(server.stored()) == 1
    stale = pack_batch(batch(records(3, run_event()), session="another"))
    assert client.post(f"{INPUTS}/events/records", content=stale).status_code == 410
    assert client.post(f"{INPUTS}/nobody/records", content=sent).status_code == 404
    assert client.post(f"{INPUTS}/events/records", content=b"{").status_code == 422
    assert server.client.post(f"{INPUTS}/events/records", content=sent).status_code == 403
    assert len(server.stored()) == 1
