"""Inputs on the command line, with a real API process, a real process that reads them, and a real broker."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import COMMAND, Server
from tests.crash.running.support import SOON_S, until
from tests.events import run_event
from tests.ports import free_port
from tests.servers.broker import Kafka


@pytest.fixture
def reading(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {
        **os.environ,
        "LINEAGE_BRIDGE_DATA_DIR": str(server.paths.data_dir),
        "LINEAGE_BRIDGE_PORT": server.url.rpartition(":")[2],
        "LINEAGE_BRIDGE_INPUT_FOLDERS": str(tmp_path_factory.getbasetemp()),
    }
    process = subprocess.Popen([*COMMAND, "inputs"], env=environment)
    yield process
    process.terminate()
    assert process.wait(20) == 0
    assert not server.paths.inputs_report.exists()


@pytest.mark.usefixtures("reading")
def test_an_input_from_its_beginning_to_its_end(call, server: Server, kafka: Kafka) -> None:
    kafka.create_topics("cli-lineage")
    kafka.produce("cli-lineage", [run_event(job="from-kafka"), b"bad"])
    url = ("--url", server.url)
    setting = f"bootstrap_servers={kafka.bootstrap}"
    added = call("input", "add", "events", "kafka", setting, 'topics=["cli-lineage"]', *url)
    assert (added.code, added.err) == (0, "")
    until(lambda: json.loads(call("input", "show", "events", "--json", *url).out)["read"] == 2, SOON_S, "two records")
    tested = call("input", "test", "events", *url)
    assert tested.code == 1, "the newest record is no event"
    steps = {check["step"]: check["works"] for check in json.loads(call("input", "test", "events", "--json", *url).out)["checks"]}
    assert steps.keys() == {"resolve", "connect", "authenticate", "topics cli-lineage", "group", "record"}
    for text in ("reading", "1 not_json", "0 records"):
        assert text in call("input", "list", *url).out
    shown = call("input", "show", "events", *url).out
    for text in ("accepted 1 event", "cli-lineage, partition 0, offset 1", setting.replace("=", " = ")):
        assert text in shown
    status = call("status", *url).out
    for text in ("input events", "lag 0 records; ", " records a second; rejected: 1 not_json; last record at 20"):
        assert text in status
    assert json.loads(call("status", "--json", *url).out)["inputs"][0]["name"] == "events"
    assert call("input", "pause", "events", *url).out == "events is paused\n"
    assert "paused" in call("input", "list", *url).out
    assert call("input", "resume", "events", *url).out == "events is resumed\n"
    assert "events is removed" in call("input", "remove", "events", *url).out
    assert "there are no inputs" in call("input", "list", *url).err


def test_a_broker_that_does_not_exist_is_named(call, server: Server) -> None:
    url = ("--url", server.url)
    add = ("input", "add", "gone", "kafka", f"bootstrap_servers=127.0.0.1:{free_port()}", "topics=x", "timeout_s=1")
    assert call(*add, *url).code == 2, "a list of topics is JSON"
    assert call(*add[:-2], 'topics=["x"]', "timeout_s=1", *url).code == 0
    tested = call("input", "test", "gone", *url)
    assert tested.code == 1
    assert "FAILS" in tested.out
    assert "connect" in tested.out
    call("input", "remove", "gone", *url)


def test_settings_of_openmetadata_are_read_from_a_file(call, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "openlineage.yaml"
    file.write_text(
        "source:\n  serviceConnection:\n    config:\n      type: OpenLineage\n      brokersUrl: b:9092\n      topicName: lineage\n"
    )
    url = ("--url", server.url)
    assert call("input", "add", "om", "openmetadata", "--file", str(file), *url).code == 0
    assert json.loads(call("input", "show", "om", "--json", *url).out)["settings"] == {"bootstrap_servers": "b:9092", "topics": ["lineage"]}
    call("input", "remove", "om", *url)
    file.write_text("[1]")
    assert "contains no settings" in call("input", "add", "om", "openmetadata", "--file", str(file), *url).err
    refused = call("input", "add", "om", "openmetadata", "brokersUrl=b:9092", "topicName=t", "streamName=s", *url)
    assert (refused.code, "Kinesis" in refused.err) == (2, True)


def test_kinds_list_their_settings(call, server: Server) -> None:
    listed = call("input", "kinds", "--url", server.url)
    assert "kafka" in listed.out
    shown = call("input", "kinds", "kafka", "--url", server.url)
    assert "bootstrap_servers" in shown.out
    assert "(required)" in shown.out
    unknown = call("input", "kinds", "kinesys", "--url", server.url)
    assert (unknown.code, "use one of azure, folder, gcs, kafka, kinesis, s3" in unknown.err) == (2, True)


@pytest.mark.usefixtures("reading")
def test_a_folder_is_read_and_shows_files_and_bytes(call, tmp_path: Path, server: Server) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    event = run_event(job="from-a-file")
    (folder / "a.ndjson").write_bytes(event + b"\nbad\n" + event[:40])
    url = ("--url", server.url)
    assert call("input", "add", "files", "folder", f"folder={folder}", "refresh_s=0.1", *url).code == 0
    until(lambda: json.loads(call("input", "show", "files", "--json", *url).out)["read"] == 2, SOON_S, "two records")
    until(lambda: "1 file, 40 bytes" in call("input", "list", *url).out, SOON_S, "the lag")
    for text in ("accepted 1 event", f"last record: a.ndjson, offset {len(event) + 1},", "lag 1 file, 40 bytes"):
        assert text in call("input", "show", "files", *url).out
    assert call("input", "test", "files", *url).code == 0
    refused = call("input", "add", "other", "folder", "folder=/etc", *url)
    assert (refused.code, "inputs may not read /etc" in refused.err) == (2, True)
