"""Measures how fast an input is read, for its status."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from lineage_bridge.inputs.input import IncomingRecord, ReadingState
from lineage_bridge.model.sources import InputStatus

WINDOW_S: Final = 10.0
"""The time, in seconds, over which the rate is measured."""


class ReadingMeter:
    """The status of an input, and how many records it may read now. One thread changes the status, others read it. `clock` returns
    monotonic seconds.
    """

    def __init__(self, clock_us: Callable[[], int], clock: Callable[[], float]) -> None:
        self._clock_us, self._clock = clock_us, clock
        self._lock = threading.Lock()
        self._status = InputStatus(since_us=clock_us())
        self._began, self._counted = clock(), 0
        self._newest_ms: int | None = None
        self._allowed, self._allowed_at = 0.0, clock()

    @property
    def status(self) -> InputStatus:
        """The present status. A rate falls to zero when nothing arrives any more."""
        with self._lock:
            self._settle_rate()
            return self._status

    def change(self, state: str, error: str | None = None) -> None:
        """Record a state of the input, since when it is in this state, and the error that caused it."""
        with self._lock:
            since = self._status.since_us if state == self._status.state else self._clock_us()
            more = {} if error is None else {"error": error, "hint": "", "failed_us": self._clock_us()}
            self._status = msgspec.structs.replace(self._status, state=state, since_us=since, **more)

    def fail(self, error: str, hint: str) -> None:
        """Record a failure. The lag becomes unknown."""
        with self._lock:
            now = self._clock_us()
            since = self._status.since_us if self._status.state == "failing" else now
            self._status = msgspec.structs.replace(
                self._status,
                state="failing",
                since_us=since,
                error=error,
                hint=hint,
                failed_us=now,
                partitions=0,
                lag_records=None,
                lag_s=None,
                lag_files=None,
                lag_bytes=None,
            )

    def count(self, records: Sequence[IncomingRecord], filtered: int = 0) -> None:
        """Count records that the log now has, and the `filtered` events in them that were left out."""
        newest = max((record.at_ms for record in records if record.at_ms is not None), default=None)
        self.add(len(records), sum(record.value is None for record in records), newest, filtered)

    def add(self, read: int, skipped: int, newest_ms: int | None, filtered: int = 0) -> None:
        """Count records that were read, how many of them had no value, and how many events were left out.

        `newest_ms` is the time at which the newest record was written to the stream.
        """
        with self._lock:
            self._newest_ms = newest_ms if newest_ms is not None else self._newest_ms
            self._counted += read
            self._allowed -= read
            status = self._status
            self._status = msgspec.structs.replace(
                status, read=status.read + read, skipped=status.skipped + skipped, filtered=status.filtered + filtered
            )
            self._settle_rate()

    def watch(self, state: ReadingState) -> None:
        """Record the state of the input. The lag in seconds is the one that the stream reports or, if it reports none, the age of the
        newest record that was read, while more records wait.
        """
        with self._lock:
            lag_s = state.lag_s
            if lag_s is not None:
                pass
            elif state.lag_records == 0:
                lag_s = 0.0
            elif (state.lag_records or state.lag_files) and self._newest_ms is not None:
                lag_s = max(0.0, self._clock_us() / 1e6 - self._newest_ms / 1e3)
            self._status = msgspec.structs.replace(
                self._status,
                partitions=state.partitions,
                lag_records=state.lag_records,
                lag_s=lag_s,
                lost=state.lost,
                problems=state.problems,
                lag_files=state.lag_files,
                lag_bytes=state.lag_bytes,
            )

    def allowance(self, per_s: float, most: int) -> int:
        """How many records may be read now, at most `most`, with a limit of `per_s` records per second (0: no limit)."""
        if not per_s:
            return most
        with self._lock:
            now = self._clock()
            self._allowed = min(self._allowed + (now - self._allowed_at) * per_s, max(1.0, per_s))
            self._allowed_at = now
            return min(most, int(self._allowed)) if self._allowed >= 1 else 0

    def _settle_rate(self) -> None:
        took = self._clock() - self._began
        if took >= WINDOW_S or (self._counted and took >= 1):
            rate = round(self._counted / took, 1)
            self._status = msgspec.structs.replace(self._status, records_per_s=rate)
        if took >= WINDOW_S:
            self._began, self._counted = self._clock(), 0
