"""Retention: the policy in the settings, the steps that carry it out, and a forecast of them."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from lineage_bridge.config import Settings
from lineage_bridge.config.retention import RetentionSettings
from lineage_bridge.errors import StoreError
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.expiring.emptying import empty_expired
from lineage_bridge.eventlog.expiring.expired_offsets import ExpiredOffsets
from lineage_bridge.eventlog.lock import DirectoryLock
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.keeping.retention import KEPT, Cutoffs, ExpiredCounts, RetentionPolicy
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_store import GraphStore, Retention, RetentionStep
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.reader import ReaderPool, StoreLocation
from lineage_bridge.store.retention.expiry import Expiry
from lineage_bridge.store.retention.forecast import forecast as forecast_of
from lineage_bridge.store.retention.pass_time import time_of_pass
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import graph_database

_log = logging.getLogger(__name__)


def policy_of(settings: Settings, at_us: int) -> RetentionPolicy:
    """The policy of the settings, with its cutoffs at a time."""
    return RetentionPolicy((rule.namespace, _cutoffs(rule, at_us)) for rule in settings.retention)


def _cutoffs(rule: RetentionSettings, at_us: int) -> Cutoffs:
    return Cutoffs(*(KEPT if days is None else at_us - days * DAY_US for days in rule.days))


def retention_of(settings: Settings, clock_us: Callable[[], int] = now_us) -> Retention | None:
    """What removes from the graph what is old according to the settings; None if they keep everything."""
    return partial(_steps, settings, clock_us) if settings.retention else None


def _steps(settings: Settings, clock_us: Callable[[], int], store: GraphStore) -> Iterator[RetentionStep]:
    if not isinstance(store, GraphWriter):
        raise StoreError("this graph store cannot remove what is old")
    with _reading(settings) as connection:
        at_us = _time_of_pass(connection, clock_us())
    yield from Expiry(store, policy_of(settings, at_us), ExpiredOffsets(settings.paths.log)).steps(partial(_reading, settings), at_us)


def _time_of_pass(connection: StoreConnection, now: int) -> int:
    at_us = time_of_pass(connection, now)
    if 0 < at_us < now - 2 * DAY_US:
        _log.warning(
            "retention decides by %s, %d days before the clock of this machine, because no newer event is in the graph or the last pass"
            " was long ago",
            format_time(at_us),
            (now - at_us) // DAY_US,
        )
    return at_us


@contextmanager
def _reading(settings: Settings) -> Iterator[StoreConnection]:
    """A read transaction of the graph."""
    database = graph_database(settings)
    location: StoreLocation = ReaderPool(database or settings.paths.graph).location
    with closing(location.connect()) as connection:
        if database is None:
            # The search sorts rows of all old runs, which need not fit in memory.
            connection.raw.execute("PRAGMA temp_store = FILE")
        connection.execute("BEGIN")
        yield connection
        connection.execute("ROLLBACK")


def forecast(settings: Settings) -> dict[str, ExpiredCounts]:
    """What a pass of retention would remove now, by namespace. Raises StoreError if there is no graph."""
    with _reading(settings) as connection:
        at_us = _time_of_pass(connection, now_us())
        return forecast_of(connection, policy_of(settings, at_us), at_us)


def empty_log(log: Path) -> int:
    """Empty the expired records of a log that no process writes. Returns how many segments were rewritten. Raises LogLockedError."""
    lock = DirectoryLock(log, 1.0)
    try:
        return empty_expired(log, LocalDisk())
    finally:
        lock.release()
