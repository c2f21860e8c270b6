"""Converts a record of an input to the log records of its events: one implementation for all forms, also in Spark's workers."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.topic_record import restored
from lineage_bridge.inputs.values import origin_of, payload_of
from lineage_bridge.model.access import AccessScope, Principal

_PREFIX = "input:"


def principal_name(name: str) -> str:
    """The principal that the records of an input have."""
    return _PREFIX + name


class CollectingLog:
    """Implements `ports.EventLog` by keeping what `ingest` appends, until it is sent."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        """Keep records; their offsets are not known yet."""
        self.records += records
        done: Future[list[int]] = Future()
        done.set_result([])
        return done

    def end(self) -> int:
        """The log's end is not known here."""
        return 0


class RecordJudge(NamedTuple):
    """Validates records of the input `name`, whose events are limited to `namespaces`; `key` is the installation's. Can be pickled.

    With `restores`, records that LineageBridge wrote to the stream keep their earlier verdicts, because the stream is its log.
    """

    name: str
    channel: str
    namespaces: tuple[str, ...]
    key: bytes
    restores: bool = False

    def __call__(self, record: IncomingRecord, clock_us: Callable[[], int]) -> list[LogRecord]:
        """The log records of a record: none if it has no value."""
        if record.value is None:
            return []
        if self.restores and (written := restored(self.name, record, self.key)):
            return [written]
        collected = CollectingLog()
        principal = Principal(principal_name(self.name), frozenset({AccessScope.INGEST}), self.namespaces)
        sender = Sender(self.channel, principal, origin=origin_of(self.name, record, self.key))
        ingest(payload_of(record.value, record.refused), sender, collected, clock_us(), key=self.key)
        return collected.records
