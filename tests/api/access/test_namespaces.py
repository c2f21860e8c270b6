"""Keys that may send events of some namespaces only."""

import json
from typing import Any

import pytest
from tests.api.support import LINEAGE, Server, changed
from tests.events import dataset, run_event

from lineage_bridge.graph.log_record import RecordKind

OWN, FOREIGN = {"namespace": "etl-a", "name": "j"}, {"namespace": "other", "name": "j"}
RUN = changed(run_event(), job=OWN, inputs=[dataset("x")])
DATASET = changed(RUN, run=..., eventType=..., job=..., inputs=..., outputs=..., dataset={"namespace": "etl-a", "name": "d"})


@pytest.fixture
def limited(server: Server) -> Any:
    """Sends as a key that is limited to namespaces that begin with etl-."""
    client, headers = server.asking_for_keys(), server.key("etl", "ingest", namespaces=("etl-*",))
    return lambda body, path=LINEAGE: client.post(path, content=body, headers=headers)


@pytest.mark.parametrize(
    "event",
    [RUN, changed(RUN, run=..., eventType=...), DATASET, changed(RUN, outputs=[{"namespace": "other", "name": "d"}])],
    ids=["run", "job", "dataset", "datasets of others"],
)
def test_events_of_its_namespaces_are_taken(server: Server, limited: Any, event: bytes) -> None:
    assert limited(event).status_code == 201
    assert [(record.kind, record.principal) for record in server.stored()] == [(RecordKind.EVENT, "etl")]


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (changed(RUN, job=FOREIGN), "$.job.namespace"),
        (changed(RUN, job={"namespace": "ETL-a", "name": "j"}), "$.job.namespace"),
        (changed(DATASET, dataset=FOREIGN), "$.dataset.namespace"),
        (changed(DATASET, job=OWN, dataset=FOREIGN), "$.dataset.namespace"),
        (changed(DATASET, job=FOREIGN), "$.job.namespace"),
    ],
    ids=["run", "case", "dataset", "a dataset beside its job", "a job beside its dataset"],
)
def test_events_of_others_are_refused_and_kept_aside(server: Server, limited: Any, event: bytes, path: str) -> None:
    answer = limited(event)
    assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (403, "foreign_namespace", path)
    (record,) = server.stored()
    assert (record.kind, record.principal, json.loads(record.note)["code"]) == (RecordKind.REJECTED, "etl", "foreign_namespace")


def test_of_several_events_the_others_are_taken(limited: Any) -> None:
    body = b"[" + RUN + b"," + changed(RUN, job=FOREIGN) + b"]"
    answer = limited(body).json()
    assert (answer["accepted"], answer["rejected"], answer["events"][1]["code"]) == (1, 1, "foreign_namespace")
    batch = limited(body, LINEAGE + "/batch").json()
    assert (batch["status"], batch["failed_events"][0]["index"], batch["failed_events"][0]["retriable"]) == ("partial_success", 1, False)
    assert "foreign_namespace" in batch["failed_events"][0]["reason"]


def test_an_import_of_anything_of_others_is_refused_whole(server: Server, limited: Any) -> None:
    node = {"node_id": "confluent:kafka_topic:env-1:orders", "system": "confluent", "node_type": "kafka_topic", "qualified_name": "orders"}
    body = json.dumps({"nodes": [{**node, "display_name": "orders", "environment_id": "env-1", "attributes": {}}], "edges": []}).encode()
    answer = limited(body, f"/api/v1/graphs/{server.services.graph_id}/import")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_namespace")
    assert server.stored() == []


def test_an_operator_releases_what_was_kept_aside_in_its_own_name(server: Server, limited: Any) -> None:
    event_id = limited(changed(RUN, job=FOREIGN)).json()["event_id"]
    server.fold()
    client = server.asking_for_keys()
    assert client.post(f"/api/v1/quarantine/{event_id}/retry", headers=server.key("sender", "ingest")).status_code == 403
    assert client.post(f"/api/v1/quarantine/{event_id}/retry", headers=server.key("ada", "operate")).status_code == 201
    assert [(record.kind, record.principal) for record in server.stored()] == [(RecordKind.REJECTED, "etl"), (RecordKind.EVENT, "ada")]
