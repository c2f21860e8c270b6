"""Runs the followers of all targets with continuous publishing, each in a thread of its own."""

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import msgspec

from lineage_bridge.catalogs.continuous.follower import Follower
from lineage_bridge.catalogs.reasons import reason_code
from lineage_bridge.catalogs.settings import CONTINUOUS
from lineage_bridge.errors import ConfigError, StoreError
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.continuous import ContinuousTarget, FollowersReport, FollowRepository, FollowState

TICK_S: Final = 1.0
AGAIN_US: Final = 60 * SECOND_US
"""Seconds until a target with invalid settings is tried again: a missing secret may exist by then."""
_PACE: Final = frozenset({"publish", "debounce_s", "max_wait_s", "at_once", "tries", "calls_per_s", "timeout_s"})
"""Settings that do not change what is published."""
_log = logging.getLogger(__name__)


def basis_of(target: ContinuousTarget) -> str:
    """A digest of the settings that decide what is published to a target, and where."""
    return digest_of([target.kind, {name: value for name, value in sorted(target.settings.items()) if name not in _PACE}])


class _RunningFollower:
    """A follower in a thread. `settings` are those from which it was created."""

    def __init__(self, name: str, follow: Callable[[Callable[[], bool]], Follower], settings: object) -> None:
        self.name, self.settings, self.stop = name, settings, threading.Event()
        self.follower = follow(self.stop.is_set)
        self.thread = threading.Thread(target=self.follower.run, args=(self.stop,), name=f"following-{name}", daemon=True)
        self.thread.start()


class FollowerManager:
    """Keeps a follower for each target of `targets` that is published to continuously and not paused.

    `make` creates the follower of a target, given the target's basis and a function that returns whether it is stopped; it raises
    ConfigError. `report` is called whenever something changes. A blocked target does not delay the others.
    """

    def __init__(
        self,
        targets: Callable[[], Iterable[ContinuousTarget]],
        make: Callable[[ContinuousTarget, str, Callable[[], bool]], Follower],
        repository: FollowRepository,
        report: Callable[[FollowersReport], None],
        *,
        pid: int,
        clock_us: Callable[[], int],
    ) -> None:
        self._targets, self._make, self._repository, self._report = targets, make, repository, report
        self._pid, self._clock_us = pid, clock_us
        self._running: dict[str, _RunningFollower] = {}
        self._ending: list[_RunningFollower] = []
        self._broken: dict[str, tuple[object, int]] = {}
        self._reported: dict[str, str] | None = None

    def run(self, stop: threading.Event, tick_s: float = TICK_S) -> None:
        """Keep followers for the targets until `stop`."""
        while not stop.is_set():
            try:
                self._change()
            except StoreError as error:  # such as the state database while it is being replaced
                _log.warning("%s", error)
            activities = {name: running.follower.activity for name, running in sorted(self._running.items())}
            if activities != self._reported:
                self._reported = activities
                self._report(FollowersReport(self._pid, self._clock_us(), activities))
            stop.wait(tick_s)
        for name in list(self._running):
            self._end(name)
        for running in self._ending:
            running.thread.join()

    def _change(self) -> None:
        """Start and stop followers for targets that were added, changed, paused or removed."""
        active = {target.name: target for target in self._targets() if target.settings.get("publish") == CONTINUOUS and not target.paused}
        for name, running in list(self._running.items()):
            if name not in active or running.settings != _compared(active[name]) or not running.thread.is_alive():
                self._end(name)
        self._ending = [running for running in self._ending if running.thread.is_alive()]
        ending, now_us = {running.name for running in self._ending}, self._clock_us()
        for name, target in sorted(active.items()):
            settings, until_us = self._broken.get(name, (None, 0))
            if (
                name not in self._running
                and name not in ending
                and (settings != _compared(target) or not now_us < until_us <= now_us + AGAIN_US)
            ):
                self._start(target)

    def _start(self, target: ContinuousTarget) -> None:
        basis = basis_of(target)
        try:
            make = partial(self._make, target, basis)
            self._running[target.name] = _RunningFollower(target.name, make, _compared(target))
            self._broken.pop(target.name, None)
        except ConfigError as error:
            now_us = self._clock_us()
            self._broken[target.name] = _compared(target), now_us + AGAIN_US
            state = self._repository.state(target.name) or FollowState("")
            failed = {"failures": state.failures + 1, "failed_us": now_us, "due_us": now_us + AGAIN_US}
            why = {"error": str(error), "hint": error.hint, "code": reason_code(error)}
            self._repository.begin(target.name, msgspec.structs.replace(state, **failed, **why))

    def _end(self, name: str) -> None:
        running = self._running.pop(name)
        running.stop.set()
        self._ending.append(running)


def _compared(target: ContinuousTarget) -> Any:  # noqa: ANN401  # compared only
    return target.kind, msgspec.json.encode(target.settings)
