"""Sending to a real API, and asking a real graph."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Server

PRODUCER, SCHEMA = "https://example.org/test", "https://openlineage.io/spec/2-0-2/OpenLineage.json"
META = {"_producer": PRODUCER, "_schemaURL": SCHEMA}


def event(number: int, job: str = "copy", source: str = "orders", target: str = "facts", **more: object) -> dict[str, object]:
    columns = {"c": {"inputFields": [{"namespace": "db", "name": source, "field": "a"}]}}
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-01T00:00:{number % 60:02}Z",
        "producer": PRODUCER,
        "schemaURL": SCHEMA + "#/$defs/RunEvent",
        "run": {"runId": f"0198c0de-0000-7000-8000-{number:012}"},
        "job": {"namespace": "jobs", "name": job},
        "inputs": [{"namespace": "db", "name": source}],
        "outputs": [{"namespace": "db", "name": target, "facets": {"columnLineage": {**META, "fields": columns}}}],
        **more,
    }


@pytest.fixture
def write(tmp_path):
    def writing(name: str, *events: object) -> str:
        path = tmp_path / name
        content = "\n".join(json.dumps(some) for some in events).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return str(path)

    return writing


def test_events_of_files_are_accepted_with_their_outcomes(call, server: Server, write):
    one, many = write("one.json", event(1)), write("many.ndjson.gz", event(2), event(3))
    said = call("send", one, many, "--url", server.url)
    assert said.code == 0, said.err
    assert "3 events sent: 3 accepted, 0 rejected" in said.out
    said = call("send", one, many, "--json", "--url", server.url)
    outcome = json.loads(said.out)
    assert (outcome["accepted"], outcome["rejected"]) == (3, 0)
    assert [(e["source"], e["index"], e["status"]) for e in outcome["events"]] == [
        (one, 0, "accepted"),
        (many, 0, "accepted"),
        (many, 1, "accepted"),
    ]
    assert outcome["position"]


def test_standard_input_is_a_file_too(call, server: Server, monkeypatch, write):
    with Path(write("piped.json", event(4))).open("rb") as piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        assert "1 event sent: 1 accepted" in call("send", "-", "--url", server.url).out


def test_a_rejected_event_is_told_with_its_place_and_reason_and_code_1(call, server: Server, write):
    path = write("mixed.ndjson", event(5), {"run": {}}, event(6))
    said = call("send", path, "--url", server.url)
    assert said.code == 1
    assert "3 events sent: 2 accepted, 1 rejected" in said.out
    assert f"rejected {path}[1]: " in said.err
    assert "quarantine" in said.err


def test_repairs_are_counted(call, server: Server, write):
    said = call("send", write("old.json", event(7, eventTime="2026-01-01 00:00:07")), "--json", "--url", server.url)
    outcome = json.loads(said.out)
    assert (outcome["accepted"], outcome["repaired"]) == (1, 1)
    assert outcome["events"][0]["repairs"]


def test_lineage_search_and_runs_answer_from_the_graph(call, server: Server, write):
    path = write("chain.json", event(11), event(12, job="report", source="facts", target="dashboard"))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    said = call("lineage", "db", "dashboard", "--url", server.url)
    names = [word for line in said.out.splitlines() for word in line.replace("job ", "").split() if word.isalpha()]
    assert names == ["dashboard", "db", "report", "jobs", "facts", "db", "copy", "jobs", "orders", "db"]
    assert call("lineage", "dashboard", "--url", server.url).out == said.out
    down = call("lineage", "db", "orders", "--direction", "downstream", "--columns", "--url", server.url)
    assert "c of facts" in down.out
    assert json.loads(call("lineage", "orders", "--json", "--url", server.url).out)["origin"]["name"] == "orders"
    assert "job" in call("lineage", "jobs", "copy", "--direction", "both", "--url", server.url).out
    assert "facts" in call("search", "fact", "--kind", "dataset", "--url", server.url).out
    assert "0198c0de-0000-7000-8000-000000000011" in call("runs", "jobs", "copy", "--url", server.url).out
    assert "COMPLETE" in call("runs", "0198c0de-0000-7000-8000-000000000011", "--url", server.url).out


def test_an_unknown_name_is_answered_with_near_ones(call, server: Server, write):
    assert call("send", write("one.json", event(13)), "--url", server.url).code == 0
    server.fold()
    said = call("lineage", "db", "order", "--url", server.url)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "did you mean db orders" in said.err
    assert call("lineage", "nothing-like-it", "--url", server.url).code == 1


def test_a_name_that_many_have_is_not_guessed(call, server: Server, write):
    twin = event(14, job="twin")
    twin["inputs"] = [{"namespace": "a", "name": "same"}, {"namespace": "b", "name": "same"}]
    assert call("send", write("twin.json", twin), "--url", server.url).code == 0
    server.fold()
    said = call("lineage", "same", "--url", server.url)
    assert said.code == 1
    assert "dataset a same or dataset b same" in said.err


def test_quarantine_lists_shows_and_tries_again(call, server: Server, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_bytes(b'{"quarantined":\n')
    assert call("send", broken, "--url", server.url).code == 1
    server.fold()
    items = json.loads(call("quarantine", "list", "--json", "--url", server.url).out)["items"]
    (item,) = (item for item in items if "quarantined" in item["sample"])
    assert item["event_id"] in call("quarantine", "list", "--code", "not_json", "--url", server.url).out
    assert call("quarantine", "show", item["event_id"], "--url", server.url).out == '{"quarantined":'
    said = call("quarantine", "retry", item["event_id"], "--url", server.url)
    assert said.code == 1
    assert "still rejected" in said.err
    assert call("quarantine", "retry", "--all", "--code", "not_json", "--url", server.url).code == 1


def test_export_and_verify_read_the_store(call, server: Server, write):
    assert call("send", write("one.json", event(15)), "--url", server.url).code == 0
    server.fold()
    folder = server.paths.data_dir
    said = call("verify", "--data-dir", folder)
    assert said.code == 0, said.out
    lines = [json.loads(line) for line in call("export", "--data-dir", folder, "--only", "dataset").out.splitlines()]
    assert {line["type"] for line in lines} == {"dataset"}
    assert ("db", "orders") in {(line["namespace"], line["name"]) for line in lines}
    assert call("export", "--data-dir", folder, "--as-of", "2020-01-01T00:00:00Z").out == ""


def test_a_server_without_a_pipeline_is_not_ready(call, server: Server):
    said = call("status", "--url", server.url)
    assert said.code == 1
    assert "not ready" in said.out
    assert json.loads(call("status", "--json", "--url", server.url).out)["parts"]["intake"]["state"] == "ok"


def test_a_second_api_over_the_same_log_is_refused(call, server: Server):
    said = call("api", "--port", "0", "--data-dir", server.paths.data_dir)
    assert said.code == 1
    assert "already written by process" in said.err


def test_a_port_in_use_is_told(call, server: Server, tmp_path):
    port = server.url.rpartition(":")[2]
    said = call("serve", "--port", port, "--data-dir", tmp_path / "other")
    assert said.code == 1
    assert f"127.0.0.1:{port} cannot be used" in said.err
    assert "--port" in said.err
