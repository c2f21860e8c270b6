"""Keys that may send events of some namespaces only."""

import json
from typing import Any

import pytest
from tests.api.support import LINEAGE, Server, changed
from tests.events import dataset, dataset_event, run_event, schema

from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind

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
    refused = limited(changed(RUN, job=FOREIGN)).json()["event_id"]
    server.fold()
    client = server.asking_for_keys()
    assert client.post(f"/api/v1/quarantine/{refused}/retry", headers=server.key("sender", "ingest")).status_code == 403
    assert client.post(f"/api/v1/quarantine/{refused}/retry", headers=server.key("ada", "operate")).status_code == 201
    assert [(record.kind, record.principal) for record in server.stored()] == [(RecordKind.REJECTED, "etl"), (RecordKind.EVENT, "ada")]


def test_the_limits_are_kept_beside_what_is_taken_and_what_is_refused(server: Server, limited: Any) -> None:
    limited(RUN)
    limited(changed(RUN, job=FOREIGN))
    limited(b"no json")
    assert [json.loads(record.note)["namespaces"] for record in server.stored()] == [["etl-*"]] * 3
    server.client.post(LINEAGE, content=RUN)
    server.asking_for_keys().post(LINEAGE, content=RUN, headers=server.key("any", "ingest"))
    assert [record.note for record in server.stored()[3:]] == [b"", b""]


def test_the_limits_stay_when_an_operator_releases_an_event(server: Server, limited: Any) -> None:
    orders = dataset("orders", "db", schema=schema("evil"))
    for event in (changed(RUN, job=FOREIGN, inputs=[orders]), changed(DATASET, dataset=dataset("d", "other", schema=schema("x")))):
        refused = limited(event).json()["event_id"]
        server.fold()
        assert server.client.post(f"/api/v1/quarantine/{refused}/retry", headers=server.key(refused, "operate")).status_code == 201
        server.fold()
    (listed,) = server.ask("/graph/facets/foreign")["foreign"]
    assert (listed["principal"], listed["node"]["name"], listed["key"]) == ("etl", "orders", "schema")
    assert "schema" not in server.ask("/lineage/datasets/detail", namespace="db", name="orders")["facets"]
    assert "schema" in server.ask("/lineage/datasets/detail", namespace="other", name="d")["facets"]


def test_what_was_refused_for_another_reason_is_not_released_into_foreign_namespaces(server: Server) -> None:
    note = b'{"code": "no_time", "path": "$.eventTime", "message": "an older verdict", "namespaces": ["etl-*"]}'
    for body, status in ((changed(RUN, job=FOREIGN), 422), (RUN, 201)):
        server.log.append([LogRecord(RecordKind.REJECTED, event_id(body), 1, "http", "etl", note, body)])
        server.fold()
        answer = server.client.post(f"/api/v1/quarantine/{event_id(body).hex()}/retry")
        assert (answer.status_code, answer.json().get("code", "")) == (status, "foreign_namespace" if status == 422 else "")


@pytest.mark.parametrize(
    ("namespace", "globs", "status"),
    [("s3a://lake", ("s3a://*",), 403), ("s3a://lake", ("s3*://lake",), 201), ("kafka://b1:9092,b2:9092", ("kafka://b1*",), 403)],
)
def test_a_dataset_event_is_of_all_spellings_of_its_dataset(server: Server, namespace: str, globs: tuple[str, ...], status: int) -> None:
    headers = server.key("lake", "ingest", namespaces=globs)
    answer = server.asking_for_keys().post(LINEAGE, content=dataset_event(dataset("t", namespace)), headers=headers)
    assert answer.status_code == status
    assert status == 201 or "by naming rules" in answer.json()["message"]
