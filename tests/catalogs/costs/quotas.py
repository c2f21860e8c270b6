"""Limits of calls, as vendors document theirs, before a stand-in of a target."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.catalogs.standins.server import Answer, Request

_ANY: Final = frozenset[str]()


@dataclass
class QuotaThere:
    """So many calls in so many seconds, which may come at once; unused ones are saved up to that number. `methods` are the HTTP methods of
    the calls that it counts, all if there are none; `clock_s` says the time.
    """

    calls: int
    seconds: float = 1.0
    methods: frozenset[str] = _ANY
    clock_s: Callable[[], float] = time.monotonic
    answered: int = 0
    _left: float = field(init=False)
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._at = float(self.calls), self.clock_s()

    def counts(self, request: Request) -> bool:
        """Whether it counts a call."""
        return not self.methods or request.method in self.methods

    def has_room(self) -> bool:
        """Whether it allows a call now."""
        now = self.clock_s()
        self._left, self._at = min(float(self.calls), self._left + (now - self._at) * self.calls / self.seconds), now
        return self._left >= 1 - 1e-6

    def take(self) -> None:
        """Count a call."""
        self._left -= 1
        self.answered += 1

    @property
    def floor_s(self) -> float:
        """The shortest time in which it allows the calls that were answered."""
        return max(0, self.answered - self.calls) * self.seconds / self.calls


@dataclass
class WindowThere(QuotaThere):
    """So many calls in so many seconds, in whatever such time, wherever it begins: the strictest way to count a limit per minute."""

    _begun: deque[float] = field(default_factory=deque)

    def has_room(self) -> bool:
        """Whether it allows a call now."""
        while self._begun and self._begun[0] <= self.clock_s() - self.seconds + 1e-6:
            self._begun.popleft()
        return len(self._begun) < self.calls

    def take(self) -> None:
        """Count a call."""
        self._begun.append(self.clock_s())
        self.answered += 1

    @property
    def floor_s(self) -> float:
        """The shortest time in which it allows the calls that were answered."""
        return max(0, self.answered - 1) // self.calls * self.seconds


@dataclass
class Limited:
    """A stand-in behind quotas: what exceeds one is refused with 429, and the headers of `refusal`."""

    serve: Callable[[Request], Answer]
    quotas: Sequence[QuotaThere]
    refusal: Mapping[str, str] = field(default_factory=lambda: {"Retry-After": "1"})
    answered: int = 0
    refused: int = 0

    def handle(self, request: Request) -> Answer:
        """Answer a request, or refuse it."""
        counting = [quota for quota in self.quotas if quota.counts(request)]
        if not all(quota.has_room() for quota in counting):
            self.refused += 1
            return Answer(429, {"message": "too many requests"}, self.refusal)
        for quota in counting:
            quota.take()
        self.answered += 1
        return self.serve(request)

    @property
    def floor_s(self) -> float:
        """The shortest time in which all quotas allow the calls that were answered."""
        return max(quota.floor_s for quota in self.quotas)

    def forget(self) -> None:
        """Count from now on."""
        self.answered = self.refused = 0
        for quota in self.quotas:
            quota.answered = 0
