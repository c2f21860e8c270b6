"""Runs one extraction: polls a source step by step, stores each step before the next one, and waits until all events are in the graph."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.errors import RequestError, StoppedError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import ASKED, COMPLETED, ENRICH, FAILED, RUNNING, SEEN, GraphSize, PlaneRecord, TaskRecord
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.ports.tasks import TaskRepository
from lineage_bridge.sources.common.observer import Observation, Observer
from lineage_bridge.sources.common.settings import SourceContext
from lineage_bridge.sources.common.stepwise import PARTLY, PlaneStep, Selection, StepwiseObserver
from lineage_bridge.sources.runtime.enrichment import WholeObserver
from lineage_bridge.sources.runtime.extraction_options import PreparedSource
from lineage_bridge.sources.runtime.kinds import KINDS, SourceKinds
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache, make_observer, system_id
from lineage_bridge.sources.runtime.poller import outbox_messages, unseen_since

TICK_S = 0.1
STORED = SEEN | {PARTLY}
"""States of planes whose steps need not be repeated."""


class ExtractionContext(NamedTuple):
    """The services and values that extractions use.

    `hold_source` locks a source for a poll; it returns False if another process holds the lock. `log_end` returns the end of the log,
    `is_folded` whether the graph contains everything up to such an end, `graph_size` the size of the graph.
    """

    tasks: TaskRepository
    sources: SourceRepository
    metadata: MetadataCache
    source_context: SourceContext
    hold_source: Callable[[str], AbstractContextManager[bool]]
    clock_us: Callable[[], int]
    log_end: Callable[[], Any]
    is_folded: Callable[[Any], bool]
    graph_size: Callable[[], GraphSize]
    kinds: SourceKinds = KINDS


class Extraction:
    """Runs one task in one thread. Other threads may read `task`, its current state, and set `stop` to end it."""

    def __init__(self, context: ExtractionContext, task: TaskRecord, source: PreparedSource) -> None:
        self.context, self.task, self.source = context, task, source
        self.stop = threading.Event()
        self.fetched: dict[str, PlaneRecord] = {}
        """The planes that have been fetched, by key; their steps may not be stored yet."""
        self._begun = False

    def run(self) -> None:
        """Run the extraction until its end. Raises StoppedError, and the source's error if nothing could be observed."""
        self._check()
        while not self._poll_locked():
            self._pause()
        self._wait_for_graph()
        self._report("in the graph", status=COMPLETED, result=self.context.graph_size(), ended_us=self.context.clock_us())

    def forget_secrets(self) -> None:
        """Forget the secrets that came with the request."""
        self.source.given.clear()

    def fail(self, error: str, hint: str = "", **how: bool) -> None:
        """Record that the task failed."""
        self._report("failed", status=FAILED, error=error, hint=hint, ended_us=self.context.clock_us(), **how)

    # polling

    def _poll_locked(self) -> bool:
        with self.context.hold_source(self.source.record.name) as held:
            if held:
                self._poll()
        return held

    def _poll(self) -> None:
        context, record = self.context, self.source.record
        record = record._replace(state=context.sources.states().get(record.name, record.state))
        began = context.clock_us()
        self._report("started", status=RUNNING, started_us=self.task.started_us or began)
        source_context = context.source_context.with_given(self.source.given)
        observer = as_stepwise(make_observer(record.name, record.kind, record.settings, source_context, context.kinds), self.task.kind)
        try:
            state = msgspec.structs.replace(record.state, tried_us=began, address=system_id(record, observer))
            for steps in self._buffered(self._steps(record, observer, began)):
                state = self._save_steps(steps, state, began)
            self._finish_poll(state, observer, began)
        finally:
            observer.close()

    def _steps(self, record: SourceRecord, observer: StepwiseObserver[Any], began: int) -> Iterator[PlaneStep]:
        task, metadata = self.task, self.context.metadata
        return observer.steps(
            metadata.previous_snapshot(record, observer),
            metadata.shared_metadata(record),
            began,
            only=Selection(frozenset(task.environments), frozenset(task.clusters), frozenset(task.off)),
            done=frozenset(plane.key for plane in task.planes if plane.state in STORED),
            on_progress=self._note_fetched,
            stop=self.stop,
        )

    def _note_fetched(self, plane: PlaneRecord) -> None:
        self.fetched[plane.key] = msgspec.structs.replace(plane, state=ASKED)

    def _buffered(self, steps: Iterator[PlaneStep]) -> Iterator[Sequence[PlaneStep]]:
        """Yield the steps in groups. A group has the steps that arrived while the previous group was stored.

        Raises StoppedError; the newest steps are then dropped.
        """
        arrived: queue.SimpleQueue[PlaneStep | None] = queue.SimpleQueue()
        with ThreadPoolExecutor(1, thread_name_prefix="extract") as pool:
            reading = pool.submit(self._read, steps, arrived)
            try:
                going = True
                while going:
                    group = [arrived.get()]
                    while not arrived.empty():
                        group.append(arrived.get())
                    going = group[-1] is not None
                    self._check()
                    if found := [step for step in group if step is not None]:
                        yield found
                reading.result()
            except BaseException:
                self.stop.set()
                raise

    def _read(self, steps: Iterator[PlaneStep], arrived: "queue.SimpleQueue[PlaneStep | None]") -> None:
        """Put all steps into a queue, then None as the end."""
        try:
            for step in steps:
                arrived.put(step)
                if self.stop.is_set():
                    return
        finally:
            arrived.put(None)

    def _save_steps(self, steps: Sequence[PlaneStep], state: SourceState, began: int) -> SourceState:
        last = steps[-1].observation
        events = tuple(event for step in steps for event in step.observation.events)
        aliases = tuple(alias for step in steps for alias in step.observation.aliases)
        state = msgspec.structs.replace(state, events=state.events + len(events), unseen=unseen_since(state.unseen, last.unseen, began))
        planes = {plane.key: plane for plane in self.task.planes} | {step.plane.key: step.plane for step in steps}
        self.task = msgspec.structs.replace(self.task, planes=tuple(planes.values()))
        self._write(state, Observation(last.snapshot, events, aliases), state.polls)
        return state

    def _finish_poll(self, state: SourceState, observer: Observer[Any], began: int) -> None:
        now = self.context.clock_us()
        due = max(now, began + round(observer.settings.interval_s * SECOND_US))
        state = msgspec.structs.replace(
            state, polls=state.polls + 1, failures=0, due_us=due, succeeded_us=began, failing_since_us=None, took_us=now - began
        )
        self._write(state, None, state.polls - 1)

    def _write(self, state: SourceState, seen: Observation | None, polls: int) -> None:
        snapshot, messages = (encode(dict(seen.snapshot)), list(outbox_messages(seen))) if seen else (None, [])
        if not self.context.tasks.save_steps(self.task, state, snapshot, messages, polls=polls, begun=self._begun):
            raise RequestError(
                f"source {self.task.source} was removed, or polled by another process, during the extraction", "start the task again"
            )
        self._begun = True

    # waiting for the graph

    def _wait_for_graph(self) -> None:
        """Wait until all events of the source are delivered, and the graph contains them."""
        tasks, source = self.context.tasks, self.task.source
        newest = tasks.newest_message(source)
        if pending := tasks.count_pending(source, newest):
            self._report(f"delivering {pending} messages")
        while tasks.count_pending(source, newest):
            self._pause()
        end = self.context.log_end()
        self._report("waiting for the graph")
        while not self.context.is_folded(end):
            self._pause()

    def _report(self, step: str, **changes: Any) -> None:  # noqa: ANN401  # members of TaskRecord
        self.task = msgspec.structs.replace(self.task, steps=(*self.task.steps, step), **changes)
        self.context.tasks.save(self.task)

    def _pause(self) -> None:
        self.stop.wait(TICK_S)
        self._check()

    def _check(self) -> None:
        if self.stop.is_set():
            raise StoppedError("stopped")


def as_stepwise(observer: Observer[Any], kind: str) -> StepwiseObserver[Any]:
    """Wrap an observer, if necessary, so that a task of this kind can observe its source step by step. Raises RequestError if such a task
    cannot extract from the observer's source.
    """
    if kind == ENRICH and not isinstance(observer, StepwiseObserver):
        return WholeObserver(observer)
    if not isinstance(observer, StepwiseObserver):
        raise RequestError(
            f"source {observer.name} is of a kind that tasks cannot extract", f"poll it instead: lineage-bridge source poll {observer.name}"
        )
    return observer
