"""The command `retention` on a data folder: what goes, that log and graph agree, and that folding again gives the same graph."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.events import dataset, run_event

from lineage_bridge.cli.main import run
from lineage_bridge.config import Settings
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.expiring.expired_offsets import ExpiredOffsets
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.model.keeping.retention import ExpiredCounts
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.graph import differences, export_lines
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.retention.policy import retention_of

RULES = """
[[retention]]
events_days = 5
runs_days = 5
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder with sixty days of a job's runs, each twice a day, that end now."""
    settings, now = (
        Settings.model_validate({"data_dir": tmp_path, "retention": [{"events_days": 5, "runs_days": 5}]}),
        time.time_ns() // 1000,
    )
    records = []
    for half in range(120):
        at = now - (120 - half) * DAY_US // 2
        for type_, time_us in (("START", at), ("RUNNING", at + 1), ("RUNNING", at + 2), ("COMPLETE", at + 3)):
            run_id = f"01940000-0000-7000-8000-{half:012x}"
            body = run_event(type_, run_id, "job", time_us, [dataset("a")], [dataset("b")])
            records.append(LogRecord(RecordKind.EVENT, event_id(body), time_us, "http", "", b"", body))
    with LogWriter(settings.paths.log, segment_bytes=40_000) as writer:
        for first in range(0, len(records), 40):
            writer.submit(records[first : first + 40]).result()
    compress_closed(settings.paths.log, LocalDisk(), least=0)
    fold(settings)
    return settings


def fold(settings: Settings) -> None:
    names, log = Names(StateDatabase(settings.paths.state).key()), LogReader(settings.paths.log)
    end = log.durable_end()
    stored = [StoredRecord("log", 0, at, record) for at, record in log.read(0, end)]
    with closing(GraphWriter(settings.paths.graph, names)) as store:
        store.apply(Batch({("log", 0): OffsetRange(0, end)}, dict(flat(fold_records(stored, names)))), Budget(10**6))
        while store.settle(Budget(10**6)):
            pass


def graph_of(settings: Settings) -> list[bytes]:
    with export_lines(settings, None, frozenset(), demo=True) as lines:
        return [line for line in lines if not line.startswith(b'{"type":"run"')]


def closed_bytes(settings: Settings) -> int:
    return sum(path.stat().st_size for path in settings.paths.log.glob("*.zst"))


def command(settings: Settings, *arguments: str) -> int:
    rules = settings.paths.data_dir / "rules.toml"
    rules.write_text(RULES)
    return run(["retention", *arguments, "--config", str(rules), "--data-dir", str(settings.paths.data_dir)])


def wrong(settings: Settings) -> Iterator[object]:
    return (found for found in differences(settings) if found.surplus or found.missing)


def test_what_is_old_goes_from_graph_and_log(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    before, size = graph_of(settings), closed_bytes(settings)
    assert command(settings, "--dry-run", "--json") == 0
    assert '"namespace": "jobs"' in capsys.readouterr().out
    assert (graph_of(settings), list(wrong(settings))) == (before, [])
    assert command(settings) == 0
    assert "removed 107 runs, 428 events" in capsys.readouterr().out
    assert (graph_of(settings), list(wrong(settings))) == (before, [])
    assert closed_bytes(settings) < size / 2
    assert command(settings) == 0
    assert "removed 0 runs, 0 events" in capsys.readouterr().out
    settings.paths.graph.unlink()
    fold(settings)
    assert (graph_of(settings), list(wrong(settings))) == (before, [])


def test_a_clock_a_year_ahead_does_not_take_what_is_kept(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    key, counts = StateDatabase(settings.paths.state).key(), ExpiredCounts()
    kept = Settings.model_validate({"data_dir": settings.paths.data_dir, "retention": [{"runs_days": 20}]})
    steps = retention_of(kept, lambda: now_us() + 365 * DAY_US)
    assert steps is not None
    with closing(GraphWriter(settings.paths.graph, Names(key))) as store:
        for step in steps(store):
            counts.add(step())
    assert counts.runs == 107 - 30
    assert "days before the clock of this machine" in caplog.text


def test_without_a_rule_the_command_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["retention", "--data-dir", str(tmp_path)]) == 2
    assert "[[retention]]" in capsys.readouterr().err


def test_offsets_wait_for_the_open_segment(settings: Settings) -> None:
    """Of what went from the graph, what is in the open segment is still in the log, and is no difference."""
    assert command(settings) == 0
    assert list(wrong(settings)) == []
    assert len(ExpiredOffsets(settings.paths.log).files()) <= 1
