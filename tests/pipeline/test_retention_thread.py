"""The thread of retention: its steps run one by one beside the stream of events, and a pass that failed is begun again."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from lineage_bridge.errors import StoreError
from lineage_bridge.model.keeping.retention import ExpiredCounts
from lineage_bridge.pipeline.status import StatusFile
from lineage_bridge.pipeline.streams.retention_thread import RetentionThread
from lineage_bridge.ports.graph_store import GraphStore, RetentionStep

STORE = cast("GraphStore", object())


def test_steps_run_one_by_one_while_nobody_else_writes(tmp_path: Path) -> None:
    lock, stop, status, held = threading.Lock(), threading.Event(), StatusFile(tmp_path / "status", lambda: 7), list[bool]()

    def step() -> ExpiredCounts:
        held.append(lock.locked())
        return ExpiredCounts(runs=2, events=5)

    def steps(store: GraphStore) -> Iterator[RetentionStep]:
        assert store is STORE
        for _ in range(3):
            held.append(not lock.locked())
            yield step
        stop.set()

    thread = RetentionThread(steps, STORE, lock, status, stop, first_s=0)
    thread.start()
    thread.join()
    assert held == [True] * 6
    assert status.status.retention == {"runs": 6, "events": 15, "samples": 0, "rejected": 0, "finished_us": 7}


def test_a_pass_that_is_stopped_does_not_count_as_finished(tmp_path: Path) -> None:
    stop, status = threading.Event(), StatusFile(tmp_path / "status", lambda: 7)

    def step() -> ExpiredCounts:
        stop.set()
        return ExpiredCounts(samples=1)

    def steps(_: GraphStore) -> Iterator[RetentionStep]:
        while True:
            yield step

    thread = RetentionThread(steps, STORE, threading.Lock(), status, stop, first_s=0)
    thread.start()
    thread.join()
    assert status.status.retention == {"runs": 0, "events": 0, "samples": 1, "rejected": 0}


def test_no_step_begins_once_the_pipeline_stops(tmp_path: Path) -> None:
    """The store is closed soon afterwards."""
    stop, status, begun = threading.Event(), StatusFile(tmp_path / "status", lambda: 7), list[int]()

    def step() -> ExpiredCounts:
        begun.append(1)
        return ExpiredCounts()

    def steps(_: GraphStore) -> Iterator[RetentionStep]:
        stop.set()
        yield step

    thread = RetentionThread(steps, STORE, threading.Lock(), status, stop, first_s=0)
    thread.start()
    thread.join()
    assert begun == []


@pytest.mark.parametrize("error", [StoreError("the database does not answer"), sqlite3.OperationalError("database or disk is full")])
def test_a_failure_does_not_end_the_pipeline(tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    stop, status = threading.Event(), StatusFile(tmp_path / "status", lambda: 7)

    def steps(_: GraphStore) -> Iterator[RetentionStep]:
        stop.set()
        raise error

    thread = RetentionThread(steps, STORE, threading.Lock(), status, stop, first_s=0)
    thread.start()
    thread.join()
    assert "finished_us" not in status.status.retention
    assert str(error) in caplog.text
