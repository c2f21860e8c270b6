"""Sending events to a real API, and querying a real graph."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Server

from lineage_bridge.cli.client import Client
from lineage_bridge.errors import UnavailableError

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
    event_, many = write("one.json", event(1)), write("many.ndjson.gz", event(2), event(3))
    result = call("send", event_, many, "--url", server.url)
    assert result.code == 0, result.err
    assert "3 events sent: 3 accepted, 0 rejected" in result.out
    result = call("send", event_, many, "--json", "--url", server.url)
    outcome = json.loads(result.out)
    assert (outcome["accepted"], outcome["rejected"]) == (3, 0)
    assert [(e["source"], e["index"], e["status"]) for e in outcome["events"]] == [
        (event_, 0, "accepted"),
        (many, 0, "accepted"),
        (many, 1, "accepted"),
    ]
    assert outcome["position"]


def test_events_are_read_from_standard_input(call, server: Server, monkeypatch, write):
    with Path(write("piped.json", event(4))).open("rb") as piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        assert "1 event sent: 1 accepted" in call("send", "-", "--url", server.url).out


def test_a_rejected_event_is_printed_with_its_index_and_reason(call, server: Server, write):
    path = write("mixed.ndjson", event(5), {"run": {}}, event(6))
    result = call("send", path, "--url", server.url)
    assert result.code == 1
    assert "3 events sent: 2 accepted, 1 rejected" in result.out
    assert f"rejected {path}[1]: " in result.err
    assert "quarantine" in result.err


def test_repairs_are_counted(call, server: Server, write):
    result = call("send", write("old.json", event(7, eventTime="2026-01-01 00:00:07")), "--json", "--url", server.url)
    outcome = json.loads(result.out)
    assert (outcome["accepted"], outcome["repaired"]) == (1, 1)
    assert outcome["events"][0]["repairs"]


def test_lineage_search_and_runs_answer_from_the_graph(call, server: Server, write):
    path = write("chain.json", event(11), event(12, job="report", source="facts", target="dashboard"))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    result = call("lineage", "db", "dashboard", "--url", server.url)
    names = [text for line in result.out.splitlines() for text in line.replace("job ", "").split() if text.isalpha()]
    assert names == ["dashboard", "db", "report", "jobs", "facts", "db", "copy", "jobs", "orders", "db"]
    assert call("lineage", "dashboard", "--url", server.url).out == result.out
    down = call("lineage", "db", "orders", "--direction", "downstream", "--columns", "--url", server.url)
    assert "c of facts" in down.out
    assert json.loads(call("lineage", "orders", "--json", "--url", server.url).out)["origin"]["name"] == "orders"
    assert "job" in call("lineage", "jobs", "copy", "--direction", "both", "--url", server.url).out
    assert "facts" in call("search", "fact", "--kind", "dataset", "--url", server.url).out
    assert "0198c0de-0000-7000-8000-000000000011" in call("runs", "jobs", "copy", "--url", server.url).out
    assert "COMPLETE" in call("runs", "0198c0de-0000-7000-8000-000000000011", "--url", server.url).out


def test_an_unknown_name_is_answered_with_similar_names(call, server: Server, write):
    assert call("send", write("one.json", event(13)), "--url", server.url).code == 0
    server.fold()
    result = call("lineage", "db", "order", "--url", server.url)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "did you mean db orders" in result.err
    assert call("lineage", "nothing-like-it", "--url", server.url).code == 1


def test_an_ambiguous_name_is_refused_with_the_choices(call, server: Server, write):
    twin = event(14, job="twin")
    twin["inputs"] = [{"namespace": "a", "name": "same"}, {"namespace": "b", "name": "same"}]
    assert call("send", write("twin.json", twin), "--url", server.url).code == 0
    server.fold()
    result = call("lineage", "same", "--url", server.url)
    assert result.code == 1
    assert "dataset a same or dataset b same" in result.err


def test_quarantine_lists_shows_and_retries(call, server: Server, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_bytes(b'{"quarantined":\n')
    assert call("send", broken, "--url", server.url).code == 1
    server.fold()
    items = json.loads(call("quarantine", "list", "--json", "--url", server.url).out)["items"]
    (item,) = (item for item in items if "quarantined" in item["sample"])
    assert item["event_id"] in call("quarantine", "list", "--code", "not_json", "--url", server.url).out
    assert call("quarantine", "show", item["event_id"], "--url", server.url).out == '{"quarantined":'
    result = call("quarantine", "retry", item["event_id"], "--url", server.url)
    assert result.code == 1
    assert "still rejected" in result.err
    assert call("quarantine", "retry", "--all", "--code", "not_json", "--url", server.url).code == 1


def test_export_and_verify_read_the_store(call, server: Server, write):
    assert call("send", write("one.json", event(15)), "--url", server.url).code == 0
    server.fold()
    folder = server.paths.data_dir
    result = call("verify", "--data-dir", folder)
    assert result.code == 0, result.out
    lines = [json.loads(line) for line in call("export", "--data-dir", folder, "--only", "dataset").out.splitlines()]
    assert {line["type"] for line in lines} == {"dataset"}
    assert ("db", "orders") in {(line["namespace"], line["name"]) for line in lines}
    assert call("export", "--data-dir", folder, "--as-of", "2020-01-01T00:00:00Z").out == ""


def test_a_server_without_a_pipeline_is_not_ready(call, server: Server):
    result = call("status", "--url", server.url)
    assert result.code == 1
    assert "not ready" in result.out
    assert json.loads(call("status", "--json", "--url", server.url).out)["parts"]["intake"]["state"] == "ok"


def test_a_second_api_over_the_same_log_is_refused(call, server: Server):
    result = call("api", "--port", "0", "--data-dir", server.paths.data_dir)
    assert result.code == 1
    assert "already written by process" in result.err


def test_a_port_in_use_is_refused(call, server: Server, tmp_path):
    port = server.url.rpartition(":")[2]
    result = call("serve", "--port", port, "--data-dir", tmp_path / "other")
    assert result.code == 1
    assert f"127.0.0.1:{port} cannot be used" in result.err
    assert "--port" in result.err


def test_without_a_position_a_client_waits_for_all_that_was_accepted(call, server: Server, write):
    assert call("send", write("one.json", event(40)), "--url", server.url).code == 0
    with Client(server.url) as client:
        with pytest.raises(UnavailableError):
            client.wait_for("", patience_s=0)
        server.fold()
        client.wait_for("", patience_s=0)
