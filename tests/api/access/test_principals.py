"""Who sent what is in the answers about it."""

import json

from tests.api.support import LINEAGE, Server, changed
from tests.events import RUNS, run_event

from lineage_bridge.graph.log_record import RecordKind


def test_answers_about_events_and_the_quarantine_name_who_sent_them(server: Server) -> None:
    client, etl = server.asking_for_keys(), server.key("etl", "ingest")
    body = run_event(run=RUNS[0])
    event_id = client.post(LINEAGE, content=body, headers=etl).json()["event_id"]
    client.post(LINEAGE, content=b"no event", headers=server.key("other", "ingest"))
    server.client.post(LINEAGE, content=changed(body, producer="p"))
    server.fold()

    (rejected,) = server.ask("/quarantine")["items"]
    assert rejected["principal"] == "other"
    for path in ("/lineage/events", f"/lineage/events/{RUNS[0]}"):
        assert json.loads(body) in server.ask(path)
        sent = {item["event_id"]: item for item in server.ask(path, records=True)}
        assert len(sent) == 2
        keyed = sent.pop(event_id)
        assert (keyed["principal"], keyed["channel"], keyed["event"]) == ("etl", "http", json.loads(body))
        assert keyed["arrived_at"].startswith("2026-")
        (unkeyed,) = sent.values()
        assert "principal" not in unkeyed


def test_the_log_names_who_operated(server: Server) -> None:
    erase = {"runs": [RUNS[0]]}
    answer = server.asking_for_keys().post("/api/v1/operations/erase", json=erase, headers=server.key("ada", "operate"))
    assert answer.status_code == 202
    assert [(record.kind, record.principal) for record in server.stored()] == [(RecordKind.OPERATOR, "ada")]
