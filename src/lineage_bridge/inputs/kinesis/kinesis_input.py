"""Reads events from a stream of Amazon Kinesis. The positions of the shards are kept in the log."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from lineage_bridge.errors import BusyError, ForbiddenError, SourceError, UnreachableError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Input, Positions, ReadingState
from lineage_bridge.inputs.kinesis.checks import checks
from lineage_bridge.inputs.kinesis.client import AT_FIRST, KinesisClient, is_expired, is_unknown_sequence
from lineage_bridge.inputs.kinesis.settings import STOP, KinesisInputSettings
from lineage_bridge.inputs.kinesis.shards import ReadShard, ShardTree
from lineage_bridge.model.sources import SourceCheck

READ_BYTES: Final = 16 << 20
"""Reading pauses while more than this many bytes of records are buffered."""
BYTES_PER_S: Final = 2_000_000
"""Kinesis' read limit of one shard, in bytes per second."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 16.0
_REPORTED_AFTER: Final = 3
"""How many throttled calls in a row are reported as a problem."""
log = logging.getLogger(__name__)


class KinesisInput(Input[KinesisInputSettings]):
    """Reads the shards of a stream independently, so that a failure of one does not stop the others.

    `read` may only be called again once the log has the records of the previous call.
    """

    def __init__(self, name: str, settings: KinesisInputSettings, installation: str = "") -> None:
        super().__init__(name, settings, installation)
        self._client: KinesisClient | None = None
        self._lost = 0
        self._gaps: dict[StreamPartition, str] = {}

    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        """Try to find credentials, describe the stream, list its shards, and read and validate a record."""
        return checks(self.settings, judge)

    def open(self, positions: Positions) -> None:
        """Connect, and look for shards."""
        self._client = KinesisClient(self.settings)
        self._pool = ThreadPoolExecutor(self.settings.at_once, thread_name_prefix=f"input-{self.name}")
        self._tree = ShardTree(self.settings, positions)
        self._problem = ""
        self._refresh()

    def read(self, most: int) -> Sequence[IncomingRecord]:
        """Read the next records of the stream."""
        until = time.monotonic() + self.settings.poll_s
        while True:
            # Buffered records first: once the stream or a shard is gone, they cannot be read again.
            if found := self._buffered(most):
                return found
            if time.monotonic() >= self._refresh_at:
                self._refresh()
            if self._tree.settle(self._now_ms()):
                self._refresh()
            self._raise_if_all_fail()
            if not self._read_due():
                left = until - time.monotonic()
                if left <= 0:
                    return []
                time.sleep(min([left, *(max(0.0, shard.due - time.monotonic()) for shard in self._tree.reading.values())]) or 0.001)

    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        """Do nothing, because Kinesis keeps no positions."""

    def keep_alive(self) -> None:
        """Do nothing, because iterators that expire meanwhile are requested again."""

    def reading_state(self) -> ReadingState:
        """The number of shards, and the largest lag of a shard, as Kinesis reports it."""
        shards = self._tree.reading.values()
        behind = [shard.behind_ms for shard in shards if shard.behind_ms is not None]
        lag_s = max(behind) / 1000 if behind and len(behind) == len(shards) else None
        problems = [self._problem, *self._gaps.values(), *(shard.problem for shard in shards)]
        return ReadingState(len(shards), None, self._lost, tuple(filter(None, problems)), lag_s)

    def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            self._pool.shutdown(cancel_futures=True)
            client.close()

    def _opened(self) -> KinesisClient:
        if self._client is None:
            raise SourceError(f"internal error: input {self.name} was read before it was opened", "please report this")
        return self._client

    # the stream

    def _refresh(self) -> None:
        """Look for new shards, and check whether the stream was created again under its name."""
        client = self._opened()
        self._refresh_at = time.monotonic() + self.settings.refresh_s
        try:
            stream = client.stream()
            shards = client.shards()
        except BusyError as error:  # the listing is empty at the moment: continue with the known shards
            if self._tree.stream is None:
                raise
            self._problem = str(error)
            return
        self._problem = "" if stream.status in ("ACTIVE", "UPDATING") else f"the stream is {stream.status.lower()}"
        self._offset_ms = stream.now_ms - int(time.monotonic() * 1000)
        self._tree.update(stream, shards)

    def _now_ms(self) -> int:
        """The current time by Kinesis' clock, in UTC milliseconds."""
        return int(time.monotonic() * 1000) + self._offset_ms

    # shards

    def _buffered(self, most: int) -> Sequence[IncomingRecord]:
        """Records that were fetched before. They are taken from one shard after the other."""
        found: list[IncomingRecord] = []
        for shard in self._tree.reading.values():
            while shard.buffer and len(found) < most:
                found.append(shard.buffer.pop())
        return found

    def _read_due(self) -> bool:
        """Read from all shards that are due; returns whether any was due."""
        now = time.monotonic()
        shards = [shard for shard in self._tree.reading.values() if not (shard.is_closed or shard.is_stopped or shard.buffer)]
        due = sorted((shard for shard in shards if shard.due <= now), key=lambda shard: shard.due)[: self.settings.at_once]
        if not due or sum(shard.buffer.size for shard in self._tree.reading.values()) > READ_BYTES:
            return False
        for shard, error in zip(due, self._pool.map(self._try, due), strict=True):
            if error is not None:
                self._note_failure(shard, error)
        return True

    def _try(self, shard: ReadShard) -> SourceError | None:
        """Read a shard; returns the error if this fails. Runs in a thread of its own; no other thread uses the shard meanwhile."""
        try:
            self._read_shard(shard)
        except SourceError as error:
            return error
        shard.failures, shard.error = 0, None
        shard.problem = shard.problem if shard.is_stopped else ""
        return None

    def _read_shard(self, shard: ReadShard) -> None:
        client = self._opened()
        if shard.iterator is None:
            shard.iterator = client.iterator(shard.where.partition, shard.start)
            shard.expected = shard.start.sequence or None
        answer = client.records(shard.iterator, self.settings.batch_records)
        shard.iterator, shard.behind_ms, shard.is_closed = answer.iterator, answer.behind_ms, answer.iterator is None
        if self._is_incomplete(shard, answer.records[0] if answer.records else None):
            self._note_gap(shard)
            if shard.is_stopped:
                return
        size = 0
        for record in answer.records:
            sequence = int(record["SequenceNumber"])
            size += len(record["Data"])
            shard.buffer.add(shard.where, sequence, record)
            shard.advance_to(sequence, self._now_ms())
        if answer.behind_ms == 0:
            shard.expected, shard.complete_ms = None, self._now_ms()
        pause_s = 1 / self.settings.reads_per_s if answer.records or answer.behind_ms else self.settings.poll_s
        shard.due = time.monotonic() + max(pause_s, 1 / self.settings.reads_per_s, size / BYTES_PER_S)

    def _is_incomplete(self, shard: ReadShard, first: Any) -> bool:  # noqa: ANN401  # botocore's
        """Whether records may have been deleted before they were read: the record that was read last no longer exists, and it was read long
        ago.
        """
        stream = self._tree.stream
        if stream is None or self._now_ms() - shard.complete_ms <= stream.retention_ms:
            return False
        if shard.start.kind != "AT_SEQUENCE_NUMBER":
            return first is not None or shard.behind_ms == 0
        if shard.expected is None:
            return False
        return int(first["SequenceNumber"]) != shard.expected if first is not None else shard.behind_ms == 0

    def _note_gap(self, shard: ReadShard) -> None:
        """Log a possible gap, once for each position; continue, or stop reading this shard."""
        after = f" after sequence number {shard.start.sequence}" if shard.start.sequence else ""
        text = f"{shard.where.partition}: some records{after} may have been deleted before they were read"
        self._gaps[shard.where] = text
        if self.settings.expired == STOP:
            shard.is_stopped, shard.iterator, shard.is_closed = True, None, False
            shard.problem, self._gaps[shard.where] = (
                f"{text}; set `expired` to `trim_horizon` to continue with the oldest remaining record",
                "",
            )
        else:
            self._lost += 1
            shard.expected, shard.complete_ms = None, self._now_ms()
        log.warning("input %s: %s", self.name, text)

    def _note_failure(self, shard: ReadShard, error: SourceError) -> None:
        """Record a failed call. The shard is tried again later, after a longer wait for each failure in a row."""
        had_iterator, is_busy = shard.iterator is not None, isinstance(error, BusyError)
        shard.iterator = shard.iterator if is_busy else None
        if is_expired(error):
            return
        shard.failures, shard.error = shard.failures + 1, error
        shard.due = time.monotonic() + min(FIRST_PAUSE_S * 2 ** min(shard.failures - 1, 10), LONGEST_PAUSE_S)
        if not is_busy or shard.failures >= _REPORTED_AFTER:
            shard.problem = f"{shard.where.partition}: {error}"
        if is_unknown_sequence(error):
            self._refresh_at = time.monotonic()
            if not had_iterator and shard.failures >= 2 and shard.start.kind == "AT_SEQUENCE_NUMBER":
                # The stream is still the same: that was checked after the first failure.
                self._note_gap(shard)
                if not shard.is_stopped:
                    shard.start, shard.expected = AT_FIRST, None

    def _raise_if_all_fail(self) -> None:
        """Raise the error of a shard if no shard can be read, so that the error counts as a failure of the input."""
        errors = [shard.error for shard in self._tree.reading.values()]
        if errors and all(isinstance(error, (ForbiddenError, UnreachableError)) for error in errors) and errors[0] is not None:
            raise errors[0]
