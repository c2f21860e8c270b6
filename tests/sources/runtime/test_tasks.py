"""Extractions that are killed: what was stored is consistent, and after a resume each plane has been delivered once."""

import json
import threading
import time
from collections import Counter
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.sources import stepwise
from tests.sources.stepwise import Plane

from lineage_bridge.errors import OverloadedError
from lineage_bridge.model.tasks import FAILED, PENDING, Credential, ExtractionOptions, GraphSize, TaskFilter, TaskRecord
from lineage_bridge.sources.common.settings import Secrets, SourceContext
from lineage_bridge.sources.runtime.extraction import ExtractionContext
from lineage_bridge.sources.runtime.extraction_options import prepare_source
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.sources.runtime.tasks import MOST_WAITING, TaskService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.tasks import TaskRepository

PLANES = [f"plane-{number} env-1" for number in range(6)]


class KilledError(BaseException):
    """The process was killed."""


class KillableRepository(TaskRepository):
    """A repository whose process is killed at some write: before it is done, or right after."""

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
        self._live(lambda: super(KillableRepository, self).save(task))

    def save_steps(self, *args: Any, **named: Any) -> bool:
        return bool(self._live(lambda: super(KillableRepository, self).save_steps(*args, **named)))


def service_of(folder: Path, repository: TaskRepository) -> TaskService:
    states = SourceRepository(StateDatabase(folder / "state.db"))
    sources = SourceService({"cloud": {"kind": "confluent", "cloud": {"key": "k", "secret": "${env:HOME}"}}}, states, kinds=stepwise.KINDS)
    allowed, ids = SourceContext(), count(len(repository.records(TaskFilter())))
    context = ExtractionContext(
        repository,
        states,
        MetadataCache(sources.records, states, allowed, stepwise.KINDS),
        allowed,
        SourceLocks(folder / "observing").hold,
        lambda: 1_795_000_000_000_000,
        lambda: 0,
        lambda _: True,
        lambda: GraphSize("g", 0, 0),
        stepwise.KINDS,
    )
    return TaskService(sources, context, lambda: str(next(ids)))


def wait_until_ended(
    service: TaskService, folder: Path, task: str, delivered: Counter[str], killable: KillableRepository | None = None
) -> TaskRecord:
    """Wait until a task has ended, or its process was killed. Counts the jobs of the messages delivered meanwhile."""
    states, until = SourceRepository(StateDatabase(folder / "state.db")), time.monotonic() + 60
    while not (found := service.record(task)).ended and not (killable and killable.killed):
        assert time.monotonic() < until, found
        for message in states.pending_messages(100):
            delivered.update(event["job"]["name"] for event in json.loads(message.body))
            states.remove_message(message.number)
        time.sleep(0.005)
    return found


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> stepwise.Script:
    script = stepwise.Script([Plane(key, (f"job {key}",)) for key in PLANES])
    monkeypatch.setattr(stepwise, "SCRIPT", script)
    return script


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_write_and_resumed_each_plane_is_delivered_once(script: stepwise.Script, tmp_path: Path, after: bool) -> None:
    expected = Counter(f"job {key}" for key in PLANES)
    for left in count():
        folder, delivered = tmp_path / str(left), Counter[str]()
        killable = KillableRepository(StateDatabase(folder / "state.db"), left, after=after)
        service = service_of(folder, killable)
        task = service.extract(ExtractionOptions()).id
        done = wait_until_ended(service, folder, task, delivered, killable)
        service.close()
        if not killable.killed:
            break
        service = service_of(folder, TaskRepository(StateDatabase(folder / "state.db")))
        found = service.record(task)
        if found.status == FAILED:
            assert (found.error, found.resumable) == ("interrupted", True)
            service.resume(task, ExtractionOptions())
            found = wait_until_ended(service, folder, task, delivered)
        service.close()
        assert found.status == "completed"
        assert delivered == expected, (left, script.polls)
        kept = json.loads(SourceRepository(StateDatabase(folder / "state.db")).snapshot("cloud") or b"{}")
        assert (kept["emitted"], sorted(kept["planes"])) == (6, PLANES)
    assert left > 4
    assert (done.status, delivered) == ("completed", expected)


def test_only_so_many_tasks_wait_and_a_refused_one_leaves_nothing(script: stepwise.Script, tmp_path: Path) -> None:
    script.planes[0].hold = threading.Event()
    with closing(service_of(tmp_path, TaskRepository(StateDatabase(tmp_path / "state.db")))) as service:
        running, *waiting = [service.extract(ExtractionOptions()).id for _ in range(1 + MOST_WAITING)]
        with pytest.raises(OverloadedError) as refusal:
            service.extract(ExtractionOptions())
        assert (refusal.value.code, refusal.value.retry_after_s) == ("too_many_tasks", 5)
        assert {task.id for task in service.records(TaskFilter(limit=1000))} == {running, *waiting}
        service.cancel(waiting[0])
        service.extract(ExtractionOptions())
        with pytest.raises(OverloadedError):
            service.resume(waiting[0], ExtractionOptions())
        assert service.record(waiting[0]).cancelled


def test_the_oldest_ended_tasks_are_forgotten(tmp_path: Path) -> None:
    repository = TaskRepository(StateDatabase(tmp_path / "state.db"), most_kept=3)
    for number in range(6):
        repository.add(TaskRecord(str(number), "extract", "s", PENDING if number == 1 else FAILED, number))
    assert [task.id for task in repository.records(TaskFilter())] == ["5", "4", "3", "1"]


def test_the_repr_of_values_with_credentials_shows_no_secret() -> None:
    options = ExtractionOptions(credentials={("kafka", "lkc-1"): Credential("KEY", "hush")})
    service = SourceService({"cloud": {"kind": "confluent", "cloud": {"key": "k", "secret": "${env:HOME}"}}}, _empty_repository())
    filled = prepare_source(service.record("cloud"), options, stepwise.KINDS.load_extracted())
    assert filled.given
    assert "hush" not in f"{options} {options.credentials} {filled} {filled.record} {Secrets(given=filled.given)}"


def _empty_repository() -> Any:
    class Empty:
        def states(self) -> dict[str, Any]:
            return {}

        def added(self) -> dict[str, Any]:
            return {}

    return Empty()
