"""Limits how many tests of sources, inputs and targets run at once, because a test may wait long for a server that does not answer."""

from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

from lineage_bridge.api.limits.callers import Caller
from lineage_bridge.api.limits.fair_slots import FairSlots, QueueFullError
from lineage_bridge.errors import OverloadedError

AT_ONCE: Final = 8
_ResultT = TypeVar("_ResultT")


class Trials:
    """Runs at most `size` tests at once, in threads of their own, which callers share as `FairSlots` describes. There is no queue."""

    def __init__(self, size: int = AT_ONCE) -> None:
        self._slots, self._threads = FairSlots(size, queued=0), CapacityLimiter(size)

    async def run(self, caller: Caller, test: Callable[[], _ResultT]) -> _ResultT:
        """Run a test in a thread. Raises OverloadedError if running tests leave no slot for this caller."""
        try:
            await self._slots.take(caller)
        except QueueFullError:
            raise OverloadedError(
                "too many tests of sources, inputs and targets are running", "test again when one of them has ended", "too_many_tests"
            ) from None
        try:
            return await to_thread.run_sync(test, limiter=self._threads)
        finally:
            self._slots.release(caller)
