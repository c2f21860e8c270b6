"""A number of slots that callers take in turns, so that a caller with many requests delays only its own requests."""

from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from lineage_bridge.api.limits.callers import Caller


class QueueFullError(Exception):
    """The queue for slots is full. `by_caller`: whether the reason is that the caller itself has the most requests in it."""

    def __init__(self, *, by_caller: bool) -> None:
        super().__init__()
        self.by_caller = by_caller


@dataclass(eq=False)
class _Waiter:
    caller: Caller
    called: anyio.Event = field(default_factory=anyio.Event)
    has_slot: bool = False


class FairSlots:
    """A number of slots (`size`) for requests. Up to `queued` further requests wait for one; None: any number.

    A caller that holds slots gets another only while it holds fewer than are free, so some stay free for the next caller. Waiting
    callers are served in turns, each in the order of its requests. If the queue is full and the caller of a new request has fewer
    waiting requests than another, the last request of the caller with the most is dropped. Memory is proportional to held slots and
    waiting requests.
    """

    def __init__(self, size: int, queued: int | None = None) -> None:
        self.size, self.queued = size, queued
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return sum(map(len, self._waiting.values()))

    @property
    def taken(self) -> int:
        """The number of slots that are taken."""
        return self._held.total()

    @asynccontextmanager
    async def slot(self, caller: Caller) -> AsyncIterator[None]:
        """A context manager that holds a slot for the caller. Raises QueueFullError."""
        await self.take(caller)
        try:
            yield
        finally:
            self.release(caller)

    def take_now(self, caller: Caller) -> bool:
        """Take a slot if the caller may have one at once; returns whether it has."""
        if not self._may_take(caller):
            return False
        self._held[caller.name] += 1
        return True

    async def take(self, caller: Caller) -> None:
        """Wait for a slot, and take it. Raises QueueFullError."""
        if self.take_now(caller):
            return
        waiter = self._enqueued(caller)
        try:
            await waiter.called.wait()
        except BaseException:
            self._withdraw(waiter)
            raise
        if not waiter.has_slot:
            raise QueueFullError(by_caller=True)

    def release(self, caller: Caller) -> None:
        """Give back a slot."""
        self._held[caller.name] -= 1
        if not self._held[caller.name]:
            del self._held[caller.name]
        self._call_next()

    def _may_take(self, caller: Caller) -> bool:
        return may_take(self.size, self._held, caller)

    def _enqueued(self, caller: Caller) -> _Waiter:
        if self.queued is not None and self.waiting >= self.queued:
            self._make_room(caller)
        waiter = _Waiter(caller)
        self._waiting.setdefault(caller.name, deque()).append(waiter)
        return waiter

    def _make_room(self, caller: Caller) -> None:
        own = len(self._waiting.get(caller.name, ()))
        longest = max(self._waiting.values(), key=len, default=deque())
        if len(longest) <= own + 1:
            raise QueueFullError(by_caller=0 < own == len(longest) and len(self._waiting) == 1)
        dropped = longest[-1]
        self._remove(dropped)
        dropped.called.set()

    def _call_next(self) -> None:
        """Give free slots to waiting requests, one to each caller in turn."""
        for name in [*self._waiting]:
            waiter = self._waiting[name][0]
            if self._may_take(waiter.caller):
                self._remove(waiter)
                if name in self._waiting:
                    self._waiting[name] = self._waiting.pop(name)
                self._held[name] += 1
                waiter.has_slot = True
                waiter.called.set()

    def _withdraw(self, waiter: _Waiter) -> None:
        """Remove a request that no longer waits."""
        if waiter.has_slot:
            self.release(waiter.caller)
        elif waiter in self._waiting.get(waiter.caller.name, ()):
            self._remove(waiter)

    def _remove(self, waiter: _Waiter) -> None:
        queue = self._waiting[waiter.caller.name]
        queue.remove(waiter)
        if not queue:
            del self._waiting[waiter.caller.name]


def may_take(size: int, held: Counter[str], caller: Caller) -> bool:
    """Whether a caller may take another of `size` slots. `held` has the number of slots of each caller. The caller must have fewer slots
    than are free.
    """
    free = size - held.total()
    return free > 0 if caller.is_unlimited else held[caller.name] < free
