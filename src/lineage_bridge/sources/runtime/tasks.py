"""Runs tasks, which read organizations or catalogs in this process; at most one at a time per source."""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import msgspec

from lineage_bridge.errors import LineageBridgeError, NotFoundError, OverloadedError, RequestError, StoppedError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.model.tasks import ENRICH, EXTRACT, FAILED, PENDING, ExtractionOptions, PlaneRecord, TaskFilter, TaskRecord
from lineage_bridge.ports.continuous import ContinuousTarget
from lineage_bridge.ports.sources import SourceService
from lineage_bridge.sources.runtime.enrichment import choose_catalogs
from lineage_bridge.sources.runtime.extraction import Extraction, ExtractionContext, as_stepwise
from lineage_bridge.sources.runtime.extraction_options import PreparedSource, choose_source, prepare_source, resumed_options
from lineage_bridge.sources.runtime.kinds import CATALOGS
from lineage_bridge.sources.runtime.metadata_cache import make_observer

AT_ONCE, MOST_WAITING = 4, 100
"""The maximum number of tasks that run at once, and of tasks that wait for their turn."""
STOP_TIMEOUT_S = 5.0
"""How many seconds extractions have to stop when the process ends."""
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
LEFT_OUT = "is left out"
log = logging.getLogger(__name__)


class _Enrichments:
    """The tasks that read catalogs beside an extraction, a plane for each catalog that cannot be read, and the reasons why other catalogs
    are left out.
    """

    def __init__(self) -> None:
        self.made: list[tuple[TaskRecord, PreparedSource]] = []
        self.failed: list[PlaneRecord] = []
        self.left_out: list[str] = []


class TaskService:
    """Implements `ports.TaskService`; marks unfinished tasks of an earlier process as interrupted. `new_id` returns an id for a task,
    `targets` all targets as configured.
    """

    def __init__(
        self,
        sources: SourceService,
        context: ExtractionContext,
        new_id: Callable[[], str],
        targets: Callable[[], Iterable[ContinuousTarget]] = tuple,
    ) -> None:
        self._sources, self._context, self._new_id, self._targets = sources, context, new_id, targets
        self._running: dict[str, Extraction] = {}
        self._waiting: list[Extraction] = []
        self._futures: set[Future[None]] = set()
        self._lock = threading.RLock()
        self._closing = False
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="task")
        context.tasks.mark_interrupted(context.clock_us())

    def extract(self, options: ExtractionOptions) -> TaskRecord:
        """Start an extraction, and return its task. Raises RequestError, ConfigError, OverloadedError.

        A catalog that cannot be read does not hold up the extraction: the reason is one of the task's planes.
        """
        self._check_room()
        source = self._prepare(self._extracted(options), options, EXTRACT)
        enrichments = self._prepare_enrichments(source.record.name, options) if options.enrich else _Enrichments()
        task = TaskRecord(
            self._new_id(),
            EXTRACT,
            source.record.name,
            PENDING,
            self._context.clock_us(),
            environments=options.environments,
            clusters=options.clusters,
            off=options.off,
            hours=options.hours,
            addresses=dict(options.addresses),
            given=options.given,
            planes=tuple(enrichments.failed),
            steps=tuple(enrichments.left_out),
            enrichments=tuple(task.id for task, _ in enrichments.made),
        )
        for each, prepared in [(task, source), *enrichments.made]:
            self._context.tasks.add(each)
            self._start(each, prepared)
        return task

    def enrich(self, name: str) -> list[TaskRecord]:
        """Start to read catalogs, and return the tasks. If one cannot be started, none is. Raises NotFoundError, RequestError, ConfigError,
        OverloadedError.
        """
        chosen = self._catalogs(name)
        self._check_room(len(chosen))
        made = [self._enrichment(record) for record in chosen]
        for task, source in made:
            self._context.tasks.add(task)
            self._start(task, source)
        return [task for task, _ in made]

    def resume(self, task_id: str, credentials: ExtractionOptions) -> TaskRecord:
        """Continue a task that was stopped."""
        task = self.record(task_id)
        if not task.resumable:
            raise RequestError(f"task {task_id} is {task.status} and cannot be resumed", "start another extraction")
        self._check_room()
        options = resumed_options(task, credentials)
        chosen = self._catalogs(task.source)[0] if task.kind == ENRICH else self._extracted(options)
        source = self._prepare(chosen, options, task.kind)
        task = msgspec.structs.replace(
            task, status=PENDING, error=None, hint="", cancelled=False, interrupted=False, ended_us=None, steps=(*task.steps, "resumed")
        )
        self._context.tasks.save(task)
        return self._start(task, source)

    def cancel(self, task_id: str) -> TaskRecord:
        """Ask a task to stop. A task that has not started yet is stopped at once."""
        with self._lock:
            found = next((extraction for extraction in self._waiting if extraction.task.id == task_id), None)
            if found:
                self._waiting.remove(found)
                self._end(found, CANCELLED)
            elif task_id in self._running:
                self._running[task_id].stop.set()
        task = self.record(task_id)
        if task.ended and not task.cancelled:
            raise RequestError(f"task {task_id} cannot be cancelled: it is already {task.status}")
        return task

    def record(self, task_id: str) -> TaskRecord:
        """The current state of a task."""
        found = self._context.tasks.record(task_id)
        if found is None:
            raise NotFoundError(f"there is no task {task_id}", "list the tasks: lineage-bridge task list")
        return self._with_fetched_planes(found)

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """The tasks, newest first."""
        return [self._with_fetched_planes(task) for task in self._context.tasks.records(which)]

    def close(self) -> None:
        """Stop all tasks; the next process can resume them."""
        with self._lock:
            self._closing = True
            waiting, self._waiting = self._waiting, []
            for extraction in self._running.values():
                extraction.stop.set()
        for extraction in waiting:
            self._end(extraction, INTERRUPTED)
        wait(self._futures, STOP_TIMEOUT_S)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _extracted(self, options: ExtractionOptions) -> SourceRecord:
        context = self._context
        return choose_source(self._sources.records(), options, context.sources.states(), context.kinds.load_extracted())

    def _catalogs(self, name: str) -> list[SourceRecord]:
        return choose_catalogs(name, self._sources.records(), self._targets(), self._context.kinds)

    def _enrichment(self, record: SourceRecord) -> tuple[TaskRecord, PreparedSource]:
        prepared = self._prepare(record, ExtractionOptions(), ENRICH)
        return TaskRecord(self._new_id(), ENRICH, record.name, PENDING, self._context.clock_us()), prepared

    def _prepare_enrichments(self, extracted: str, options: ExtractionOptions) -> "_Enrichments":
        """The tasks that read the catalogs of all sources that are not paused, and why others are not read."""
        found = _Enrichments()
        for record in self._sources.records():
            if record.kind not in CATALOGS or record.state.paused or record.name == extracted:
                continue
            try:
                costs = self._costs(record)
                if costs and not options.enrich_at_cost:
                    found.left_out.append(f"catalog {record.name} {LEFT_OUT}: {costs}; to read it: lineage-bridge enrich {record.name}")
                    continue
                self._check_room(2 + len(found.made))
                found.made.append(self._enrichment(record))
            except LineageBridgeError as error:
                hints = (error.hint,) if error.hint else ()
                found.failed.append(PlaneRecord(f"enrichment {record.name}", FAILED, (str(error),), hints=hints))
        return found

    def _costs(self, record: SourceRecord) -> str:
        """What it costs to read a source, such as a running warehouse; empty if only requests are sent. Raises ConfigError."""
        context = self._context
        observer = make_observer(record.name, record.kind, record.settings, context.source_context, context.kinds)
        observer.close()
        costs: str = observer.settings.costs
        return costs

    def _prepare(self, chosen: SourceRecord, options: ExtractionOptions, kind: str) -> PreparedSource:
        """Complete the settings of a source for a task of this kind, and check them. Raises RequestError, ConfigError."""
        context = self._context
        source = prepare_source(chosen, options, context.kinds.load(chosen.kind))
        source_context = context.source_context.with_given(source.given)
        observer = make_observer(chosen.name, chosen.kind, source.record.settings, source_context, context.kinds)
        try:
            as_stepwise(observer, kind)
        finally:
            observer.close()
        return source

    def _check_room(self, more: int = 1) -> None:
        """Raise OverloadedError if the queue has no room for so many more tasks."""
        with self._lock:
            if len(self._waiting) + more > MOST_WAITING:
                raise OverloadedError(
                    f"the queue of tasks is full: {MOST_WAITING} tasks are waiting",
                    "wait until some have ended, or cancel some",
                    "too_many_tasks",
                )

    def _start(self, task: TaskRecord, source: PreparedSource) -> TaskRecord:
        with self._lock:
            self._waiting.append(Extraction(self._context, task, source))
            self._start_waiting()
        return task

    def _start_waiting(self) -> None:
        """Start the waiting tasks, oldest first. A task keeps waiting while another one of its source runs."""
        busy = {extraction.task.source for extraction in self._running.values()}
        for extraction in list(self._waiting):
            if extraction.task.source not in busy and len(self._running) < AT_ONCE:
                busy.add(extraction.task.source)
                self._waiting.remove(extraction)
                self._running[extraction.task.id] = extraction
                unfinished = {future for future in self._futures if not future.done()}
                self._futures = unfinished | {self._pool.submit(self._run, extraction)}

    def _run(self, extraction: Extraction) -> None:
        try:
            extraction.run()
        except StoppedError:
            self._end(extraction, INTERRUPTED if self._closing else CANCELLED)
        except LineageBridgeError as error:
            extraction.fail(str(error), error.hint)
        except Exception as error:  # a boundary: a fault in one task must not stop the others
            log.exception("task %s: unexpected error", extraction.task.id)
            extraction.fail(f"{type(error).__name__}: internal error of LineageBridge", "see the server's log")
        finally:
            extraction.forget_secrets()
            with self._lock:
                self._running.pop(extraction.task.id, None)
                if not self._closing:
                    self._start_waiting()

    def _end(self, extraction: Extraction, how: str) -> None:
        extraction.fail(how, cancelled=how == CANCELLED, interrupted=how == INTERRUPTED)
        extraction.forget_secrets()

    def _with_fetched_planes(self, task: TaskRecord) -> TaskRecord:
        """Return the task with the planes that have been fetched but not stored yet."""
        extraction = self._running.get(task.id)
        if extraction is None or task.status == FAILED:
            return task
        stored = {plane.key for plane in task.planes}
        fetched = [plane for key, plane in sorted(extraction.fetched.items()) if key not in stored]
        return msgspec.structs.replace(task, planes=(*task.planes, *fetched))
