"""Asks a store a question with a deadline, however long the store takes to answer."""

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Unanswered
from threading import Lock, Thread
from time import monotonic
from typing import Final, Generic, TypeVar

from lineage_bridge.errors import StoreUnreachableError

DEADLINE_S: Final = 2.0
_Answer = TypeVar("_Answer")


class Probe(Generic[_Answer]):
    """One question to a store. One thread asks it at a time; callers that come meanwhile get the same answer. Safe for many threads at
    once.
    """

    def __init__(self, ask: Callable[[], _Answer], deadline_s: float = DEADLINE_S) -> None:
        self._ask, self._deadline_s = ask, deadline_s
        self._lock = Lock()
        self._asked: Future[_Answer] | None = None
        self._since = 0.0

    def answer(self) -> _Answer:
        """Return the answer to the question. Raises the errors that the question raises, and StoreUnreachableError if there is no answer by
        the deadline.

        While an earlier call of the question is still unanswered after its deadline, the question is not asked again, and calls raise at
        once.
        """
        with self._lock:
            if self._asked is None or self._asked.done():
                fresh: Future[_Answer] = Future()
                Thread(target=self._run, args=(fresh,), name="probe", daemon=True).start()
                self._asked, self._since = fresh, monotonic()
            asked, left_s = self._asked, self._since + self._deadline_s - monotonic()
        try:
            return asked.result(max(0.0, left_s))
        except Unanswered:
            if asked.done():
                return asked.result()
            raise StoreUnreachableError(
                f"PostgreSQL did not answer within {self._deadline_s:g} s",
                "check that the server runs, and whether a lock blocks it",
            ) from None

    def _run(self, asked: "Future[_Answer]") -> None:
        try:
            asked.set_result(self._ask())
        except BaseException as error:  # noqa: BLE001 - whoever waits for the answer raises it
            asked.set_exception(error)
