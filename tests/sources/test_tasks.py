"""Extractions that end in the middle: what was kept is whole, and what comes after makes it complete, each thing told once."""

import json
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.sources import stepwise
from tests.sources.stepwise import Plane

from lineage_bridge.model.tasks import FAILED, PENDING, Credential, ExtractOrder, GraphSize, TaskFilter, TaskRecord
from lineage_bridge.sources.common.settings import Secrets
from lineage_bridge.sources.runtime.extraction import ExtractionContext
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache
from lineage_bridge.sources.runtime.orders import prepare_source
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.sources.runtime.tasks import TaskService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.tasks import TaskRepository

PLANES = [f"plane-{number} env-1" for number in range(6)]


class KilledError(BaseException):
    """The process is no more."""


class Mortal(TaskRepository):
    """A book whose process is killed at some write: before it is done, or right after."""

    def __init__(self, state: StateDatabase, left: int, *, after: bool) -> None:
        super().__init__(state)
        self.left, self.after, self.killed = left, after, False

    def _live(self, write: Any) -> Any:
        self.left -= 1
        if self.left >= 0:
            return write()
        if self.left == -1 and self.after:
            write()
        self.killed = True
        raise KilledError

    def save(self, task: TaskRecord) -> None:
        self._live(lambda: super(Mortal, self).save(task))

    def save_steps(self, *args: Any, **named: Any) -> bool:
        return bool(self._live(lambda: super(Mortal, self).save_steps(*args, **named)))


def desk_of(folder: Path, book: TaskRepository) -> TaskService:
    states = SourceRepository(StateDatabase(folder / "state.db"))
    sources = SourceService({"cloud": {"kind": "confluent", "cloud": {"key": "k", "secret": "${env:HOME}"}}}, states, kinds=stepwise.KINDS)
    secrets, ids = Secrets(), count(len(book.records(TaskFilter())))
    world = ExtractionContext(
        book,
        states,
        MetadataCache(sources.records, states, secrets, stepwise.KINDS),
        secrets,
        SourceLocks(folder / "observing").hold,
        lambda: 1_795_000_000_000_000,
        lambda: 0,
        lambda _: True,
        lambda: GraphSize("g", 0, 0),
        stepwise.KINDS,
    )
    return TaskService(sources, world, lambda: str(next(ids)))


def ended(desk: TaskService, folder: Path, task: str, told: Counter[str], mortal: Mortal | None = None) -> TaskRecord:
    """A task when it has ended, or its process has; what is delivered meanwhile is counted."""
    states, until = SourceRepository(StateDatabase(folder / "state.db")), time.monotonic() + 20
    while not (found := desk.record(task)).ended and not (mortal and mortal.killed):
        assert time.monotonic() < until, found
        for parcel in states.pending_messages(100):
            told.update(event["job"]["name"] for event in json.loads(parcel.body))
            states.remove_message(parcel.number)
        time.sleep(0.005)
    return found


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> stepwise.Script:
    made = stepwise.Script([Plane(key, (f"job {key}",)) for key in PLANES])
    monkeypatch.setattr(stepwise, "SCRIPT", made)
    return made


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_and_resumed_each_plane_is_told_once(script: stepwise.Script, tmp_path: Path, after: bool) -> None:
    whole = Counter(f"job {key}" for key in PLANES)
    for left in count():
        folder, told = tmp_path / str(left), Counter[str]()
        mortal = Mortal(StateDatabase(folder / "state.db"), left, after=after)
        desk = desk_of(folder, mortal)
        task = desk.extract(ExtractOrder()).id
        done = ended(desk, folder, task, told, mortal)
        desk.close()
        if not mortal.killed:
            break
        desk = desk_of(folder, TaskRepository(StateDatabase(folder / "state.db")))
        found = desk.record(task)
        if found.status == FAILED:
            assert (found.error, found.resumable) == ("interrupted", True)
            desk.resume(task, ExtractOrder())
            found = ended(desk, folder, task, told)
        desk.close()
        assert found.status == "completed"
        assert told == whole, (left, script.looks)
        kept = json.loads(SourceRepository(StateDatabase(folder / "state.db")).snapshot("cloud") or b"{}")
        assert (kept["told"], sorted(kept["planes"])) == (6, PLANES)
    assert left > 4
    assert (done.status, told) == ("completed", whole)


def test_the_oldest_that_have_ended_are_forgotten(tmp_path: Path) -> None:
    book = TaskRepository(StateDatabase(tmp_path / "state.db"), most_kept=3)
    for number in range(6):
        book.add(TaskRecord(str(number), "extract", "s", PENDING if number == 1 else FAILED, number))
    assert [task.id for task in book.records(TaskFilter())] == ["5", "4", "3", "1"]


def test_nothing_that_holds_a_credential_shows_it() -> None:
    order = ExtractOrder(credentials={("kafka", "lkc-1"): Credential("KEY", "hush")})
    desk = SourceService({"cloud": {"kind": "confluent", "cloud": {"key": "k", "secret": "${env:HOME}"}}}, _no_book())
    filled = prepare_source(desk.record("cloud"), order, stepwise.KINDS.load_extracted())
    assert filled.given
    assert "hush" not in f"{order} {order.credentials} {filled} {filled.record} {Secrets(given=filled.given)}"


def _no_book() -> Any:
    class Empty:
        def states(self) -> dict[str, Any]:
            return {}

        def added(self) -> dict[str, Any]:
            return {}

    return Empty()
