"""`backup` and `restore`."""

import json
from pathlib import Path

import pytest
from filelock import FileLock

from lineage_bridge.config import DataFolder
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.store.state.database import StateDatabase


def export(call, folder: Path) -> list[str]:
    text: str = call("export", "--data-dir", folder).out
    return text.splitlines()


def test_a_backup_of_a_log_in_use_is_restored_and_equal(call, data_folder: Path, tmp_path: Path):
    before = export(call, data_folder)
    with LogWriter(data_folder / "log") as log:
        log.append([LogRecord(RecordKind.EVENT, bytes(16), 7, "http", "", b"", b"{}")])
        made = call("backup", "--data-dir", data_folder, tmp_path / "backup")
        assert (made.code, "5 records, all records can be read" in made.out) == (0, True)
        log.append([LogRecord(RecordKind.EVENT, bytes(16), 8, "http", "", b"", b"{}")])
    again = tmp_path / "again"
    restored = call("restore", "--data-dir", again, tmp_path / "backup")
    assert (restored.code, "5 records" in restored.out) == (0, True)
    assert export(call, again) == before
    assert StateDatabase(again / "state.db").key() == StateDatabase(data_folder / "state.db").key()
    with LogWriter(again / "log") as log:
        assert log.end() > 0
    assert {oct(path.stat().st_mode & 0o77) for path in (tmp_path / "backup").rglob("*.db")} == {"0o0"}


def test_a_backup_that_was_changed_is_refused(call, data_folder: Path, tmp_path: Path):
    backup = tmp_path / "backup"
    assert call("backup", "--data-dir", data_folder, backup).code == 0
    assert "not empty" in call("backup", "--data-dir", data_folder, backup).err
    refused = call("restore", "--data-dir", data_folder, backup)
    assert (refused.code, "holds data already" in refused.err) == (2, True)
    graph = bytearray((backup / "graph.db").read_bytes())
    graph[5000] ^= 1
    (backup / "graph.db").write_bytes(graph)
    refused = call("restore", "--data-dir", tmp_path / "new", backup)
    assert (refused.code, "graph.db of the backup is missing or was changed" in refused.err) == (2, True)
    assert not (tmp_path / "new" / "log").exists()


def test_a_backup_needs_no_address_of_a_graph_that_is_elsewhere(call, data_folder: Path, tmp_path: Path):
    paths, restored = DataFolder(data_folder), DataFolder(tmp_path / "new")
    paths.graph_elsewhere.write_text("PostgreSQL, in the schema lineage_bridge\n")
    paths.graph_owner.write_text(f"log {'a' * 32}, position 7\n")
    made = call("backup", "--data-dir", data_folder, tmp_path / "backup")
    assert (made.code, "pg_dump" in made.err) == (0, True), made.err
    assert not (tmp_path / "backup" / "graph.db").exists()
    restored.data_dir.mkdir()
    restored.graph_owner.write_text(f"log {'b' * 32}, position 7\n")
    put_back = call("restore", "--data-dir", restored.data_dir, tmp_path / "backup")
    assert (put_back.code, "drop the schema" in put_back.err) == (0, True), put_back.err
    assert restored.graph_elsewhere.read_text() == paths.graph_elsewhere.read_text()
    assert not restored.graph_owner.exists(), "the restored log is another one"


def test_a_backup_is_not_mixed_with_an_archive_that_is_there(call, data_folder: Path, tmp_path: Path):
    assert call("backup", "--data-dir", data_folder, tmp_path / "backup").code == 0
    (tmp_path / "new" / "archive" / "events" / "topic" / "life" / "0").mkdir(parents=True)
    refused = call("restore", "--data-dir", tmp_path / "new", tmp_path / "backup")
    assert (refused.code, "holds data already" in refused.err) == (2, True)


@pytest.mark.parametrize("manifest", ["", "[]", '{"files": {"../x": ""}}', '{"files": {"/etc/x": ""}}', '{"files": 5}'])
def test_what_is_no_backup_is_refused(call, tmp_path: Path, manifest: str):
    (tmp_path / "backup.json").write_text(manifest)
    refused = call("restore", "--data-dir", tmp_path / "new", tmp_path)
    assert (refused.code, "not a complete backup" in refused.err) == (2, True)


def test_a_backup_of_a_damaged_folder_says_so(call, data_folder: Path, tmp_path: Path):
    segment = data_folder / "log" / "0000000001.log"
    content = bytearray(segment.read_bytes())
    content[150] ^= 1
    segment.write_bytes(content)
    (data_folder / "graph.db").write_bytes(b"garbage")
    made = call("backup", "--data-dir", data_folder, tmp_path / "backup")
    assert (made.code, "3 records, 1 damaged place" in made.out) == (1, True)
    assert "graph.db" not in json.loads((tmp_path / "backup" / "backup.json").read_text())["files"]
    (data_folder / "state.db").write_bytes(b"garbage" * 1000)
    assert "restore --state" in call("backup", "--data-dir", data_folder, tmp_path / "other").err


def test_the_last_copy_of_the_state_is_put_back(call, data_folder: Path):
    paths = DataFolder(data_folder)
    key = StateDatabase(paths.state).key()
    assert "is missing or damaged" in call("restore", "--state", "--data-dir", data_folder).err
    StateDatabase(paths.state).copy_to(paths.state_copy)
    paths.state.write_bytes(b"garbage" * 1000)
    damaged = call("verify", "--data-dir", data_folder)
    assert (damaged.code != 0, "restore --state" in damaged.err) == (True, True)
    with FileLock(paths.serve_lock):
        assert "a server is running" in call("restore", "--state", "--data-dir", data_folder).err
    assert call("restore", "--state", "--data-dir", data_folder).code == 0
    assert StateDatabase(paths.state).key() == key
    assert (data_folder / "state.db.damaged").read_bytes() == b"garbage" * 1000
    assert call("restore", "--data-dir", data_folder).code == 2
