"""Calls to a target: retries each while it may succeed, and distinguishes single calls that fail from a target that fails as a whole."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import tenacity

from lineage_bridge.catalogs.pace import Pace, quota_of
from lineage_bridge.catalogs.target import AnswerT, ObjectForbiddenError, Target
from lineage_bridge.errors import BusyError, SourceError, StoppedError, TimedOutError, UnreachableError

LONGEST_WAIT_S, LONGEST_ASKED_S = 30.0, 600.0
"""The longest wait before a retry, by our own choice, and the longest one that the target may request. A longer request ends the attempts.
"""
MOST_FAILURES: Final = 5
"""After this many failed calls in a row, each of them retried, a target counts as unavailable."""
AskedT = TypeVar("AskedT")


class TargetCalls:
    """Makes calls to one target. `wait` waits the given seconds; while `is_stopped` returns True, no call begins. Thread-safe."""

    def __init__(
        self,
        target: Target[Any],
        clock_us: Callable[[], int],
        wait: Callable[[float], None],
        is_stopped: Callable[[], bool],
    ) -> None:
        self._settings, self._wait, self._is_stopped = target.settings, wait, is_stopped
        calls_per_s = target.settings.calls_per_s
        self._pace = Pace(clock_us, wait, quota_of(calls_per_s) if calls_per_s else None)
        quotas = {} if calls_per_s else target.quotas
        self._paces = {name: Pace(clock_us, wait, quota) for name, quota in quotas.items()}
        target.wait = wait
        self._is_paced = not target.paces_itself
        if target.paces_itself:
            target.repeat = self._repeated
        self._lock = threading.Lock()
        self._failures = 0

    def answers(
        self, call: Callable[[Sequence[AskedT]], AnswerT], asked: Sequence[AskedT]
    ) -> Iterator[tuple[Sequence[AskedT], AnswerT | SourceError]]:
        """Make a call and return its answer for each item. If a call for several items fails, each item is sent separately, because a
        single item may be the cause.

        The answer for an item that then fails is the error. Raises SourceError for an error that all other calls would have too.
        """
        try:
            answer = self._tried(call, asked)
        except (BusyError, TimedOutError) as error:
            self._count(error)
            if len(asked) == 1:
                yield asked, error
                return
        except ObjectForbiddenError as error:
            if len(asked) == 1:
                yield asked, error
                return
        else:
            with self._lock:
                self._failures = 0
            yield asked, answer
            return
        for single in asked:
            yield from self.answers(call, [single])

    def _count(self, error: SourceError) -> None:
        """Count a call that failed. Raises the error if no more calls are to be made to the target."""
        with self._lock:
            self._failures += 1
            is_down = self._failures >= MOST_FAILURES
        if is_down or (isinstance(error, BusyError) and (error.limited or error.wait_s is not None)):
            raise error

    def _tried(self, call: Callable[[Sequence[AskedT]], AnswerT], asked: Sequence[AskedT]) -> AnswerT:
        def begun() -> AnswerT:
            if self._is_paced:
                self._pace.turn()
            self._check_running()
            return call(asked)

        return self._retried(begun)

    def _repeated(self, request: Callable[[], AnswerT], counted_as: str = "", /) -> AnswerT:
        """Make one request of a call when its quota allows it, and repeat it while the target is busy, so that a call of many requests
        need not begin anew.

        A stop does not end a call between its requests unless one has to wait or to be repeated.
        """
        is_first = True

        def begun() -> AnswerT:
            nonlocal is_first
            if counted_as in self._paces:
                self._paces[counted_as].turn()
            self._pace.turn()
            if not is_first:
                self._check_running()
            is_first = False
            return request()

        try:
            return self._retried(begun)
        except SourceError as error:
            error.was_repeated = True
            raise

    def _check_running(self) -> None:
        if self._is_stopped():
            raise StoppedError("the publication was stopped")

    def _retried(self, begun: Callable[[], AnswerT]) -> AnswerT:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._settings.tries),
            wait=self._before_next,
            retry=tenacity.retry_if_exception(_may_pass),
            sleep=lambda wait_s: self._wait(wait_s) if wait_s else None,
            reraise=True,
        )
        answer: AnswerT = retrying(begun)
        return answer

    def _before_next(self, state: tenacity.RetryCallState) -> float:
        """The number of seconds to wait before the next try. If the target asks for a wait, all calls to it are delayed."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, BusyError) and error.wait_s is not None:
            self._pace.hold(error.wait_s)
            return 0.0
        return tenacity.wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT_S)(state)


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, SourceError) and error.was_repeated:
        return False
    if isinstance(error, BusyError):
        return error.wait_s is None or error.wait_s <= LONGEST_ASKED_S
    return isinstance(error, UnreachableError)
