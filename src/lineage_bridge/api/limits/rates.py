"""Limits how much each caller may send per second."""

from math import ceil
from typing import Final

from lineage_bridge.api.limits.callers import Caller
from lineage_bridge.errors import OverloadedError

BURST_S: Final = 10.0
"""A caller may send the allowance of this many seconds at once."""
MOST_CALLERS: Final = 4096
"""The maximum number of callers whose rates are remembered. Beyond it, callers that have been quiet the longest are forgotten."""
_SECOND_US: Final = 1_000_000


class Rate:
    """A token bucket for each caller: the amount that the caller may take per second; 0: any amount.

    A caller may exceed its allowance once, and then has to wait until the rate has made up for the excess. Times are UTC microseconds;
    if the clock is set back, no caller waits longer.
    """

    def __init__(self, per_s: float) -> None:
        self.per_s = per_s
        self._balances: dict[str, tuple[float, int]] = {}

    def wait_s(self, caller: Caller, now_us: int) -> float:
        """The seconds until the caller may take something; 0: now."""
        return max(0.0, -self._balance(caller, now_us) / self.per_s) if self._counts(caller) else 0.0

    def take(self, caller: Caller, amount: float, now_us: int) -> None:
        """Count an amount that a caller takes."""
        if not self._counts(caller):
            return
        balance = self._balance(caller, now_us) - amount
        self._balances.pop(caller.name, None)
        self._balances[caller.name] = balance, now_us
        if len(self._balances) > MOST_CALLERS:
            del self._balances[next(iter(self._balances))]

    @property
    def remembered(self) -> int:
        """The number of callers whose rates are remembered."""
        return len(self._balances)

    def _counts(self, caller: Caller) -> bool:
        return self.per_s > 0 and not caller.is_unlimited

    def _balance(self, caller: Caller, now_us: int) -> float:
        most = self.per_s * BURST_S
        balance, at_us = self._balances.get(caller.name, (most, now_us))
        return min(most, balance + self.per_s * max(0, now_us - at_us) / _SECOND_US)


class IngestRates:
    """Limits how many requests with events, and how many bytes of events, each caller may send per second; 0: no limit."""

    def __init__(self, requests_per_s: float = 0, bytes_per_s: float = 0) -> None:
        self._requests, self._bytes = Rate(requests_per_s), Rate(bytes_per_s)

    def admit(self, caller: Caller, now_us: int) -> None:
        """Count a request. Raises OverloadedError if the caller has sent too much."""
        for rate, code, what in ((self._requests, "too_many_requests", "requests"), (self._bytes, "too_many_bytes", "bytes")):
            wait_s = rate.wait_s(caller, now_us)
            if wait_s > 0:
                raise OverloadedError(
                    f"{caller.name} sent more than {rate.per_s:g} {what} of events a second",
                    f"send it again later; an operator can raise the setting `ingest_{what}_per_s`",
                    code,
                    ceil(wait_s),
                )
        self._requests.take(caller, 1, now_us)

    def count_bytes(self, caller: Caller, size: int, now_us: int) -> None:
        """Count bytes of events."""
        self._bytes.take(caller, size, now_us)
