"""One extraction: a look at a source, step by step, each kept before the next, until all that it told is in the graph."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lineage_bridge.errors import RequestError, StoppedError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import ASKED, COMPLETED, FAILED, RUNNING, SEEN, GraphSize, PlaneRecord, TaskRecord
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.ports.tasks import TaskRepository
from lineage_bridge.sources.common.observer import Observation, Observer
from lineage_bridge.sources.common.settings import Secrets
from lineage_bridge.sources.confluent.settings import Selection
from lineage_bridge.sources.runtime.kinds import KINDS, Kinds
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache, make_observer, system_id
from lineage_bridge.sources.runtime.orders import PreparedSource
from lineage_bridge.sources.runtime.poller import outbox_messages, unseen_since

if TYPE_CHECKING:
    from lineage_bridge.sources.confluent.outcomes import Outcome, Step

TICK_S = 0.1
KEPT = SEEN | {"partly"}
"""States of a plane whose step need not be done again."""


class ExtractionContext(NamedTuple):
    """What an extraction works with.

    `take` takes the turn to look at a source. `log_end` is the end of the log, `folded` says whether the graph holds all up to a place,
    `size` is how large it is then.
    """

    tasks: TaskRepository
    sources: SourceRepository
    metadata: MetadataCache
    secrets: Secrets
    hold_source: Callable[[str], AbstractContextManager[bool]]
    clock_us: Callable[[], int]
    log_end: Callable[[], int]
    is_folded: Callable[[int], bool]
    graph_size: Callable[[], GraphSize]
    kinds: Kinds = KINDS


class Extraction:
    """Runs one task in one thread. `task` is how it stands; others may read it, and `stop` it."""

    def __init__(self, world: ExtractionContext, task: TaskRecord, filled: PreparedSource) -> None:
        self.world, self.task, self.filled = world, task, filled
        self.stop = threading.Event()
        self.asked: dict[str, PlaneRecord] = {}
        self._begun = False

    def run(self) -> None:
        """Extract. Raises StoppedError, and what the source raises when nothing at all can be said."""
        self._check()
        while not self._look_in_turn():
            self._pause()
        self._arrive()
        self._say("in the graph", status=COMPLETED, result=self.world.graph_size(), ended_us=self.world.clock_us())

    def forget(self) -> None:
        """Forget the secrets that came with the request."""
        self.filled.given.clear()

    def end(self, error: str, hint: str = "", **how: bool) -> None:
        """Say that the task failed."""
        self._say("failed", status=FAILED, error=error, hint=hint, ended_us=self.world.clock_us(), **how)

    # the look

    def _look_in_turn(self) -> bool:
        with self.world.hold_source(self.filled.record.name) as mine:
            if mine:
                self._look()
        return mine

    def _look(self) -> None:
        world, record = self.world, self.filled.record
        record = record._replace(state=world.sources.states().get(record.name, record.state))
        began = world.clock_us()
        self._say("started", status=RUNNING, started_us=self.task.started_us or began)
        secrets = Secrets(world.secrets.sealed, self.filled.given)
        observer = make_observer(record.name, record.kind, record.settings, secrets, world.kinds)
        try:
            state = msgspec.structs.replace(record.state, tried_us=began, address=system_id(record, observer))
            for steps in self._kept_apart(self._steps(record, observer, began)):
                state = self._keep(steps, state, began)
            self._close(state, observer, began)
        finally:
            observer.close()

    def _steps(self, record: SourceRecord, observer: Observer[Any], began: int) -> "Iterator[Step]":
        task = self.task
        only = Selection(frozenset(task.environments), frozenset(task.clusters), frozenset(task.off))
        done = frozenset(plane.key for plane in task.planes if plane.state in KEPT)
        before, around = self.world.metadata.previous_snapshot(record, observer), self.world.metadata.shared_metadata(record)
        found: Iterator[Step] = steps_of(observer)(before, around, began, only=only, done=done, on_progress=self._hear, stop=self.stop)
        return found

    def _hear(self, outcome: "Outcome") -> None:
        self.asked[outcome.key] = msgspec.structs.replace(_plane(outcome), state=ASKED)

    def _kept_apart(self, steps: "Iterator[Step]") -> "Iterator[Sequence[Step]]":
        """The steps that came while the ones before were kept. Raises StoppedError: then what came last is not kept."""
        told: queue.SimpleQueue[Step | None] = queue.SimpleQueue()
        with ThreadPoolExecutor(1, thread_name_prefix="extract") as pool:
            telling = pool.submit(self._tell, steps, told)
            try:
                going = True
                while going:
                    came = [told.get()]
                    while not told.empty():
                        came.append(told.get())
                    going = came[-1] is not None
                    self._check()
                    if group := [step for step in came if step is not None]:
                        yield group
                telling.result()
            except BaseException:
                self.stop.set()
                raise

    def _tell(self, steps: "Iterator[Step]", told: "queue.SimpleQueue[Step | None]") -> None:
        try:
            for step in steps:
                told.put(step)
                if self.stop.is_set():
                    return
        finally:
            told.put(None)

    def _keep(self, steps: "Sequence[Step]", state: SourceState, began: int) -> SourceState:
        last = steps[-1].observation
        events = tuple(event for step in steps for event in step.observation.events)
        same = tuple(one for step in steps for one in step.observation.same)
        state = msgspec.structs.replace(state, events=state.events + len(events), unseen=unseen_since(state.unseen, last.unseen, began))
        planes = {plane.key: plane for plane in self.task.planes} | {step.key: _plane(step.outcome) for step in steps}
        self.task = msgspec.structs.replace(self.task, planes=tuple(planes.values()))
        self._write(state, Observation(last.snapshot, events, same), state.polls)
        return state

    def _close(self, state: SourceState, observer: Observer[Any], began: int) -> None:
        now = self.world.clock_us()
        due = max(now, began + round(observer.settings.interval_s * SECOND_US))
        state = msgspec.structs.replace(
            state, polls=state.polls + 1, failures=0, due_us=due, succeeded_us=began, failing_since_us=None, took_us=now - began
        )
        self._write(state, None, state.polls - 1)

    def _write(self, state: SourceState, seen: Observation | None, polls: int) -> None:
        snapshot, waiting = (encode(dict(seen.snapshot)), list(outbox_messages(seen))) if seen else (None, [])
        if not self.world.tasks.save_steps(self.task, state, snapshot, waiting, polls=polls, begun=self._begun):
            raise RequestError(f"source {self.task.source} was removed or polled by another meanwhile", "start again")
        self._begun = True

    # the way into the graph

    def _arrive(self) -> None:
        """Wait until what was told is delivered, and the graph holds it."""
        book, source = self.world.tasks, self.task.source
        newest = book.newest_message(source)
        if waiting := book.count_pending(source, newest):
            self._say(f"delivering {waiting} parcels")
        while book.count_pending(source, newest):
            self._pause()
        place = self.world.log_end()
        self._say("waiting for the graph")
        while not self.world.is_folded(place):
            self._pause()

    def _say(self, step: str, **changes: Any) -> None:  # noqa: ANN401  # members of TaskRecord
        self.task = msgspec.structs.replace(self.task, steps=(*self.task.steps, step), **changes)
        self.world.tasks.save(self.task)

    def _pause(self) -> None:
        self.stop.wait(TICK_S)
        self._check()

    def _check(self) -> None:
        if self.stop.is_set():
            raise StoppedError("stopped")


def steps_of(observer: Observer[Any]) -> Callable[..., Any]:
    """How a source is looked at step by step. Raises RequestError if it is not."""
    steps: Callable[..., Any] | None = getattr(observer, "steps", None)
    if steps is None:
        raise RequestError(f"source {observer.name} is not one that tasks extract", f"lineage-bridge source poll {observer.name}")
    return steps


def _plane(outcome: "Outcome") -> PlaneRecord:
    return PlaneRecord(*outcome)
