"""Limits how many publications and plans run at once, over all targets. Each is a process with a part of the graph in memory."""

import threading
from collections import Counter
from collections.abc import Callable, Collection
from typing import Final, TypeVar

from lineage_bridge.api.limits.callers import Caller
from lineage_bridge.api.limits.fair_slots import may_take
from lineage_bridge.errors import OverloadedError

AT_ONCE: Final = 4
_BegunT = TypeVar("_BegunT")


class Publications:
    """Runs at most `size` publications at once. `may_take` decides how callers share them. No request waits. Thread-safe."""

    def __init__(self, size: int = AT_ONCE) -> None:
        self._size, self._lock = size, threading.Lock()
        self._callers: dict[str, str] = {}

    def begin(self, caller: Caller, name: str, under_way: Callable[[], Collection[str]], start: Callable[[], _BegunT]) -> _BegunT:
        """Start a publication to a target. `under_way` returns the names of the targets to which a publication is running.

        Raises OverloadedError if the publications that already run leave none for this caller.
        """
        with self._lock:
            names = under_way()
            self._callers = {target: by for target, by in self._callers.items() if target in names}
            if name not in names and not may_take(self._size, Counter(self._callers.values()), caller):
                own = caller.name in self._callers.values()
                raise OverloadedError(
                    f"your publications take up your share of the {self._size} that may run at once"
                    if own
                    else f"all {self._size} publications that may run at once are running already",
                    "publish again when some have ended, or cancel one",
                    "too_many_publications",
                )
            begun = start()
            self._callers[name] = caller.name
            return begun
