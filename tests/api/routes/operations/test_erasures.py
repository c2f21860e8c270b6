"""Erasures over HTTP: requested, listed and shown; carried out by the supervisor, which is tested elsewhere."""

import json

import pytest
from tests.api.support import NOW, Server

from lineage_bridge.model.erasing.erasure import DONE, FileCounts
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.state.erasures import ErasureRepository

ADA = "ada@example.com"


def test_a_requested_erasure_waits_and_its_proof_does_not_name_the_person(server: Server) -> None:
    answer = server.client.post("/api/v1/erasures", json={"kind": "person", "name": ADA})
    assert answer.status_code == 202, answer.text
    asked = answer.json()
    assert (asked["status"], asked["kind"], asked["dry_run"], asked["requested_at"]) == ("waiting", "person", False, format_time(NOW))
    assert ADA not in answer.text
    (file,) = (server.folder / "erasing").iterdir()
    assert json.loads(file.read_bytes()) == {"id": asked["id"], "kind": "person", "name": ADA}
    assert file.stat().st_mode & 0o77 == 0
    assert server.ask(f"/erasures/{asked['id']}") == asked


def test_a_finished_erasure_says_what_was_erased_where(server: Server) -> None:
    asked = server.client.post("/api/v1/erasures", json={"kind": "namespace", "namespace": "kafka://old", "dry_run": True}).json()
    repository = ErasureRepository(server.state)
    report = repository.record(asked["id"])
    repository.count_file(asked["id"], "log/0000000001.log", FileCounts(3, 1))
    report.status, report.finished_us, report.records, report.rows = DONE, NOW + 1, 9, {"pin": 2}
    repository.save(report)
    (item,) = server.ask("/erasures")["erasures"]
    assert (item["status"], item["erased"], item["masked"], item["records"], item["rows"]) == ("done", 3, 1, 9, {"pin": 2})
    assert item["files"] == [{"path": "log/0000000001.log", "erased": 3, "masked": 1}]
    assert item["finished_at"] == format_time(NOW + 1)
    assert server.client.get("/api/v1/erasures?limit=1&offset=1").json() == {"erasures": []}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "job", "name": "j"},
        {"kind": "person", "name": "ab"},
        {"kind": "run", "name": "no uuid"},
        {"kind": "dataset", "name": "d"},
        {"kind": "namespace", "name": "d", "namespace": "n"},
        {"kind": "person", "name": ADA, "force": True},
    ],
    ids=str,
)
def test_requests_that_cannot_be_meant_are_refused(server: Server, body: dict[str, object]) -> None:
    answer = server.client.post("/api/v1/erasures", json=body)
    assert answer.status_code == 422, answer.text
    assert server.ask("/erasures") == {"erasures": []}
    assert not (server.folder / "erasing").exists()


def test_an_unknown_erasure_is_not_found(server: Server) -> None:
    assert server.ask("/erasures/none", 404)["error"]["code"] == "not_found"
