"""Tasks: extractions that run in this process, one at a time for each source."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import msgspec

from lineage_bridge.errors import LineageBridgeError, NotFoundError, RequestError, StoppedError
from lineage_bridge.model.tasks import EXTRACT, FAILED, PENDING, ExtractOrder, TaskFilter, TaskRecord
from lineage_bridge.ports.sources import SourceService
from lineage_bridge.sources.common.settings import Secrets
from lineage_bridge.sources.runtime.extraction import Extraction, ExtractionContext, steps_of
from lineage_bridge.sources.runtime.metadata_cache import make_observer
from lineage_bridge.sources.runtime.orders import PreparedSource, choose_source, prepare_source, resumed_order

AT_ONCE = 4
PATIENCE_S = 5.0
"""How long extractions may take to stop when the process ends."""
CANCELLED, INTERRUPTED = "cancelled", "interrupted"
log = logging.getLogger(__name__)


class TaskService:
    """Implements `ports.TaskService`. Tasks of an earlier process that have not ended are interrupted. `fresh_id` makes ids of tasks."""

    def __init__(self, sources: SourceService, world: ExtractionContext, fresh_id: Callable[[], str]) -> None:
        self._sources, self._world, self._fresh_id = sources, world, fresh_id
        self._running: dict[str, Extraction] = {}
        self._waiting: list[Extraction] = []
        self._futures: set[Future[None]] = set()
        self._lock = threading.RLock()
        self._closing = False
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="task")
        world.tasks.mark_interrupted(world.clock_us())

    def extract(self, order: ExtractOrder) -> TaskRecord:
        """Start an extraction."""
        filled = self._filled(order)
        task = TaskRecord(
            self._fresh_id(),
            EXTRACT,
            filled.record.name,
            PENDING,
            self._world.clock_us(),
            environments=order.environments,
            clusters=order.clusters,
            off=order.off,
            hours=order.hours,
            addresses=dict(order.addresses),
            given=order.given,
        )
        self._world.tasks.add(task)
        return self._start(task, filled)

    def resume(self, task_id: str, credentials: ExtractOrder) -> TaskRecord:
        """Go on with a task that was stopped."""
        task = self.record(task_id)
        if not task.resumable:
            raise RequestError(f"task {task_id} is {task.status}, and cannot be resumed", "start another extraction")
        filled = self._filled(resumed_order(task, credentials))
        task = msgspec.structs.replace(
            task, status=PENDING, error=None, hint="", cancelled=False, interrupted=False, ended_us=None, steps=(*task.steps, "resumed")
        )
        self._world.tasks.save(task)
        return self._start(task, filled)

    def cancel(self, task_id: str) -> TaskRecord:
        """Stop a task soon; one that waits, at once."""
        with self._lock:
            found = next((one for one in self._waiting if one.task.id == task_id), None)
            if found:
                self._waiting.remove(found)
                self._end(found, CANCELLED)
            elif task_id in self._running:
                self._running[task_id].stop.set()
        task = self.record(task_id)
        if task.ended and not task.cancelled:
            raise RequestError(f"task {task_id} is {task.status} already")
        return task

    def record(self, task_id: str) -> TaskRecord:
        """A task, as far as it is now."""
        found = self._world.tasks.record(task_id)
        if found is None:
            raise NotFoundError(f"there is no task {task_id}", "lineage-bridge task list")
        return self._now(found)

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """Tasks, the newest first."""
        return [self._now(task) for task in self._world.tasks.records(which)]

    def close(self) -> None:
        """Stop what runs; it can be resumed by the next process."""
        with self._lock:
            self._closing = True
            waiting, self._waiting = self._waiting, []
            for one in self._running.values():
                one.stop.set()
        for one in waiting:
            self._end(one, INTERRUPTED)
        wait(self._futures, PATIENCE_S)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _filled(self, order: ExtractOrder) -> PreparedSource:
        """The source of an order, which can be made. Raises RequestError, ConfigError."""
        filled = prepare_source(choose_source(self._sources.records(), order, self._world.sources.states()), order)
        record = filled.record
        settings = {**record.settings, "off": [*record.settings.get("off", ()), *order.off]} if order.off else record.settings
        observer = make_observer(record.name, record.kind, settings, Secrets(self._world.secrets.sealed, filled.given), self._world.kinds)
        try:
            steps_of(observer)
        finally:
            observer.close()
        return filled

    def _start(self, task: TaskRecord, filled: PreparedSource) -> TaskRecord:
        with self._lock:
            self._waiting.append(Extraction(self._world, task, filled))
            self._start_waiting()
        return task

    def _start_waiting(self) -> None:
        """Start what waits, the oldest first, but one at a time for each source."""
        busy = {one.task.source for one in self._running.values()}
        for one in list(self._waiting):
            if one.task.source not in busy and len(self._running) < AT_ONCE:
                busy.add(one.task.source)
                self._waiting.remove(one)
                self._running[one.task.id] = one
                self._futures = {future for future in self._futures if not future.done()} | {self._pool.submit(self._run, one)}

    def _run(self, one: Extraction) -> None:
        try:
            one.run()
        except StoppedError:
            self._end(one, INTERRUPTED if self._closing else CANCELLED)
        except LineageBridgeError as error:
            one.end(str(error), error.hint)
        except Exception as error:  # the boundary: one task's fault stops no other
            log.exception("task %s", one.task.id)
            one.end(f"{type(error).__name__}: this is a fault of LineageBridge", "the server's log says more")
        finally:
            one.forget()
            with self._lock:
                self._running.pop(one.task.id, None)
                if not self._closing:
                    self._start_waiting()

    def _end(self, one: Extraction, how: str) -> None:
        one.end(how, cancelled=how == CANCELLED, interrupted=how == INTERRUPTED)
        one.forget()

    def _now(self, task: TaskRecord) -> TaskRecord:
        """A task with the planes that were asked and not told yet."""
        one = self._running.get(task.id)
        if one is None or task.status == FAILED:
            return task
        told = {plane.key for plane in task.planes}
        return msgspec.structs.replace(task, planes=(*task.planes, *(plane for key, plane in sorted(one.asked.items()) if key not in told)))
