"""Implements the commands on the event log (check, repair, restore), and compares the log with the graph."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import (
    RequestError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    StoreUnreachableError,
    StoreVersionError,
    UnavailableError,
)
from lineage_bridge.eventlog.archive.check import check_all, repair_archive
from lineage_bridge.eventlog.archive.files import is_archived
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.check import LogCheck, acknowledge
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.eventlog.lock import DirectoryLock
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.repair import RepairOutcome, repair_log, restore_records
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import fold_records, without_erased
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import RecordKind, StoredRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import QUARANTINE
from lineage_bridge.model.keeping.retention import RetentionPolicy
from lineage_bridge.model.verification import Difference
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.postgresql.log_identity import known_position
from lineage_bridge.store.probe import Probe
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.wiring.processes import pipeline_status
from lineage_bridge.wiring.shared import log_reader, readers

_ARRIVAL = QUARANTINE.names.index("arrival") - QUARANTINE.key_size
_STREAM = (LOG_SOURCE, 0)
_PORTION = 2_000
START_S = 15.0
"""How many seconds the API waits at its start for a graph in PostgreSQL."""
_log = logging.getLogger(__name__)


def check(settings: Settings, *, acknowledged: bool = False) -> LogCheck:
    """Read every record of the log and of the archive. With `acknowledged`, all current damage is recorded as known to an operator."""
    found = check_all(settings.paths.log, settings.paths.archive)
    if acknowledged:
        acknowledge(settings.paths.log, found.damage)
    return found


def repair(settings: Settings) -> list[RepairOutcome]:
    """Repair the log and the archive as far as possible. Raises LogLockedError, UnavailableError while a server runs."""
    paths, disk = settings.paths, LocalDisk()
    lock = DirectoryLock(paths.log)
    try:
        done = repair_log(paths.log, disk)
        with pipeline_stopped(paths.pipeline_lock):
            return [*done, *(repair_archive(paths.archive, disk) if paths.archive.exists() else ())]
    finally:
        lock.release()


@contextmanager
def pipeline_stopped(path: Path) -> Iterator[None]:
    """Hold the lock of the pipeline, so that no process writes the archive. Raises UnavailableError while one runs."""
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError("a pipeline is running on this data folder", "stop the server first") from error
    with lock:
        yield


def restore(settings: Settings, paths: Sequence[Path], on_record: Callable[[], None]) -> int:
    """Append the records in some files that the log lacks, and return their number. Raises LogLockedError while a server runs,
    RequestError, StoreUnreachableError.
    """
    for path in paths:
        if not path.exists():
            raise RequestError(f"there is no file {str(path)!r}", "name segments, .cut files, or a copy of the log folder")
    floor = 0
    # A database that does not answer may hold offsets that must not be issued again.
    with readers(settings) as pool, suppress(StoreMissingError, StoreVersionError, StoreDamagedError), pool.reader() as graph:
        floor = graph.progress.position().get(_STREAM, 0)
    reader = log_reader(settings)
    with LogWriter(settings.paths.log, floor) as writer:
        known = (record for _, record in reader.read(0, reader.durable_end()))
        return restore_records(writer, known, paths, on_record, ErasedIds(settings.paths.log))


def compare_with_graph(settings: Settings, graph: GraphReader, names: Names, policy: RetentionPolicy) -> Difference:
    """Compare the records of the log and of the archive, up to the graph's position, with those that the graph knows.

    Events that are old by the policy of retention may still be in the log when the graph no longer knows them.

    `surplus` counts records that only the graph has, `missing` records that the graph should have but lacks.
    """
    reader, archive = log_reader(settings), ArchiveReader(settings.paths.archive)
    position = graph.progress.position()
    erased = {(run,): (0,) for run in graph.whole.erased_runs()}
    count, surplus, missing, unknown = 0, 0, 0, list[StoredRecord]()
    for source, partition in sorted({_STREAM, *position}):
        at, known = position.get((source, partition), 0), dict(graph.whole.record_addresses(source, partition))
        for stored in _records(reader, archive, source, partition, at):
            if stored.record.kind in (RecordKind.EVENT, RecordKind.REJECTED):
                count += 1
                if known.pop(stored.offset, None) != stored.record.event_id:
                    unknown.append(stored)
            if len(unknown) == _PORTION:
                missing += _wanted(unknown, names, policy, erased)
                unknown.clear()
        surplus += len(known)
    return Difference("log", count, surplus, missing + _wanted(unknown, names, policy, erased))


def _wanted(records: list[StoredRecord], names: Names, policy: RetentionPolicy, erased: dict[Row, Row]) -> int:
    """How many of these records, which the graph does not know, it should know."""
    tables = without_erased({**fold_records(records, names), "erased": erased})
    namespaces = {key[0]: key[2] for key in tables["node"]}
    old = set[Row]()
    for key, (effective, _, _, job, dataset, _) in tables["event"].items():
        cutoffs = policy.cutoffs_of(namespaces.get(job or dataset, ""))
        if effective < max(cutoffs.events, cutoffs.runs):
            old.add(key)
    rejected_before = policy.cutoffs_of("").events
    rejected: int = sum(row[_ARRIVAL] >= rejected_before for row in tables["quarantine"].values())
    return rejected + sum(key[:2] not in old for key in tables["event_record"])


def _records(log: LogReader, archive: ArchiveReader, source: str, partition: int, end: int) -> Iterator[StoredRecord]:
    if is_archived(source):
        yield from archive.read(source, partition, 0, end)
    else:
        for offset, record in log.read(0, min(end, log.durable_end())):
            yield StoredRecord(source, partition, offset, record)


def _read_offset(pool: ReaderPool) -> int:
    with pool.reader() as graph:
        return graph.progress.position().get((LOG_SOURCE, 0), 0)


def applied_offset(pool: ReaderPool, paths: DataFolder, wait_s: float | None = None) -> int:
    """The offset up to which the store has read the log. No offset before it may be issued again.

    If the store's database does not answer (within `wait_s` seconds, if given), the result is the offset that the pipeline last reported
    or, without a report, the one that it stored when it started.
    """
    try:
        return _read_offset(pool) if wait_s is None else Probe(partial(_read_offset, pool), wait_s).answer()
    except StoreUnreachableError as error:
        _log.warning("events are accepted before it is known how far the graph has read the log: %s", error)
        reported = (pipeline_status(paths) or {}).get("position")
        offset = reported.get(f"{LOG_SOURCE}/0", 0) if isinstance(reported, dict) else 0
        return max(known_position(paths.graph_owner), offset if isinstance(offset, int) else 0)
    except StoreMissingError:
        return 0
    except StoreError:
        return known_position(paths.graph_owner)
