"""Limits how many questions are answered at once, by their cost, so that costly questions leave memory and time for events and other
questions.

Each cost has a lane. In each lane callers take turns, and no caller gets all slots. Ingest has a lane of its own: it shares neither threads
nor a queue with questions.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import Final, Protocol

import anyio

from lineage_bridge.api.limits.callers import THIS_MACHINE, Caller
from lineage_bridge.api.limits.fair_slots import FairSlots, QueueFullError
from lineage_bridge.errors import AbandonedError, OverloadedError
from lineage_bridge.ports.graph_reader import GraphReader


class Cost(Enum):
    """The cost class of a question, which determines its lane."""

    LIGHT = "light"
    """Looks up a few nodes, runs or events."""
    HEAVY = "heavy"
    """Follows flows, or reads long lists."""
    WHOLE_GRAPH = "whole-graph"
    """Reads every node or edge."""
    WAITING = "waiting"
    """Only waits until the graph has reached a position, or has changed."""
    STREAMING = "streaming"
    """Stays open, and is sent what has changed."""


COSTS: Final[Mapping[str, Cost]] = {
    "/estate": Cost.WHOLE_GRAPH,
    "/graph/access": Cost.HEAVY,
    "/graph/diff": Cost.HEAVY,
    "/graph/drift": Cost.HEAVY,
    "/graph/facets/foreign": Cost.HEAVY,
    "/graph/facets/history": Cost.HEAVY,
    "/graph/impact": Cost.HEAVY,
    "/graph/ledger": Cost.HEAVY,
    "/graph/neighbourhood": Cost.HEAVY,
    "/graph/paths": Cost.HEAVY,
    "/graph/runs/{run_id}/lineage": Cost.HEAVY,
    "/graph/runs/{run_id}/tree": Cost.HEAVY,
    "/graph/schemas": Cost.HEAVY,
    "/graph/schemas/changes": Cost.HEAVY,
    "/graph/schemas/diff": Cost.HEAVY,
    "/graph/pulse": Cost.HEAVY,
    "/graph/statistics": Cost.HEAVY,
    "/graph/timeline": Cost.HEAVY,
    "/graph/trace": Cost.HEAVY,
    "/graphs": Cost.WHOLE_GRAPH,
    "/graphs/confluent/view": Cost.WHOLE_GRAPH,
    "/graphs/enriched/view": Cost.WHOLE_GRAPH,
    "/graphs/{graph_id}": Cost.WHOLE_GRAPH,
    "/graphs/{graph_id}/edges": Cost.WHOLE_GRAPH,
    "/graphs/{graph_id}/export": Cost.WHOLE_GRAPH,
    "/graphs/{graph_id}/nodes": Cost.WHOLE_GRAPH,
    "/graphs/{graph_id}/query/downstream/{node_id:path}": Cost.HEAVY,
    "/graphs/{graph_id}/query/upstream/{node_id:path}": Cost.HEAVY,
    "/lineage/datasets": Cost.HEAVY,
    "/lineage/datasets/lineage": Cost.HEAVY,
    "/lineage/events": Cost.HEAVY,
    "/lineage/events/{run_id:path}": Cost.HEAVY,
    "/lineage/jobs": Cost.HEAVY,
    "/overview": Cost.WHOLE_GRAPH,
    "/search": Cost.HEAVY,
}
"""The cost of each question by its path. A question whose path is not here costs LIGHT."""


@dataclass(frozen=True)
class Limit:
    """The limits of a lane: at most `running` questions are answered at once, and `queued` more wait for their turn, at most `wait_s`
    seconds.

    `FairSlots` describes how callers share both.
    """

    running: int
    queued: int
    wait_s: float


LIMITS: Final[Mapping[Cost, Limit]] = {
    Cost.LIGHT: Limit(4, 256, 10.0),
    Cost.HEAVY: Limit(3, 64, 10.0),
    Cost.WHOLE_GRAPH: Limit(2, 4, 10.0),
    Cost.WAITING: Limit(256, 0, 0.0),
    Cost.STREAMING: Limit(128, 0, 0.0),
}


class Lane:
    """The questions of one cost class. Some are being answered, others wait in a queue."""

    def __init__(self, cost: Cost, limit: Limit) -> None:
        self.cost, self.limit = cost, limit
        self._slots = FairSlots(limit.running, limit.queued)

    @property
    def queued(self) -> int:
        """The number of questions that wait for a slot."""
        return self._slots.waiting

    @property
    def running(self) -> int:
        """The number of slots that are taken."""
        return self._slots.taken

    @asynccontextmanager
    async def slot(self, caller: Caller) -> AsyncIterator[None]:
        """A context manager that holds one of the lane's slots for the caller. Raises OverloadedError if no slot becomes free in time."""
        await self.take(caller)
        try:
            yield
        finally:
            self.release(caller)

    async def take(self, caller: Caller) -> None:
        """Take a slot. Raises OverloadedError when none becomes free in time."""
        if self._slots.take_now(caller):
            return
        try:
            with anyio.fail_after(self.limit.wait_s):
                await self._slots.take(caller)
        except TimeoutError:
            raise self._overloaded() from None
        except QueueFullError as full:
            raise self._overloaded(caller if full.by_caller else None) from None

    def release(self, caller: Caller) -> None:
        """Give back a slot that `take` returned."""
        self._slots.release(caller)

    def _overloaded(self, greedy: Caller | None = None) -> OverloadedError:
        kind = f"{self.cost.value} questions"
        if greedy is None:
            return OverloadedError(f"the server is already answering the greatest allowed number of {kind}", "ask again in a few seconds")
        return OverloadedError(
            f"too many {kind} of {greedy.name} are waiting for an answer", "ask again when some are answered", "too_many_questions"
        )


class Lanes:
    """The lanes of all cost classes."""

    def __init__(self, limits: Mapping[Cost, Limit] = LIMITS) -> None:
        self._lanes = {cost: Lane(cost, limit) for cost, limit in limits.items()}

    def __getitem__(self, cost: Cost) -> Lane:
        return self._lanes[cost]

    def counts(self) -> dict[str, dict[str, int]]:
        """For each cost, the number of questions that are being answered, and that wait for a slot."""
        return {cost.value: {"running": lane.running, "queued": lane.queued} for cost, lane in self._lanes.items()}


class Interruptible(Protocol):
    """Work that another thread can interrupt."""

    def interrupt(self) -> None:
        """Interrupt the running statement, and refuse later ones."""


@dataclass
class Turn:
    """The course of one question, from its first wait to the last byte of its answer. `abandon` may be called while a thread answers it."""

    lanes: Lanes
    caller: Caller = THIS_MACHINE
    lane: Lane | None = None
    is_abandoned: bool = False
    _running: list[Interruptible] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    async def begin(self, cost: Cost) -> None:
        """Take a slot of the lane, until `end`. Raises OverloadedError."""
        lane = self.lanes[cost]
        await lane.take(self.caller)
        self.lane = lane

    def end(self) -> None:
        """Give back the slot, if one is taken."""
        lane, self.lane = self.lane, None
        if lane:
            lane.release(self.caller)

    def abandon(self) -> None:
        """Interrupt the readers that work on the answer, because no client waits for it."""
        with self._lock:
            self.is_abandoned = True
            # Within the lock: a reader that has left its question may already answer somebody else's.
            for reader in self._running:
                reader.interrupt()

    @contextmanager
    def interrupting(self, reader: Interruptible) -> Iterator[None]:
        """A context manager during which `abandon` interrupts the reader. Raises AbandonedError if the question was abandoned before."""
        with self._lock:
            if self.is_abandoned:
                raise AbandonedError("the client closed the connection before the question was answered")
            self._running.append(reader)
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(reader)


CURRENT_TURN: Final[ContextVar[Turn | None]] = ContextVar("turn", default=None)
"""The question that this task or thread is answering."""


def interruptible(graph: Callable[[], AbstractContextManager[GraphReader]]) -> Callable[[], AbstractContextManager[GraphReader]]:
    """Wrap the function `graph`, which opens readers. A reader is interrupted when the question that opened it is abandoned."""

    @contextmanager
    def open_reader() -> Iterator[GraphReader]:
        turn = CURRENT_TURN.get()
        with graph() as reader:
            if turn is None:
                yield reader
            else:
                with turn.interrupting(reader):
                    yield reader

    return open_reader
