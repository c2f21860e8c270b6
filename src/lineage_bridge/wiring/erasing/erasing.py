"""Carries out one erasure, step by step. Each step can be repeated, so an interrupted erasure is simply begun again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.erasing.erased_ids import IdCollector
from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.erasing.rewriting import FileErasure, erase_in_archive, erase_in_log, leftovers
from lineage_bridge.eventlog.erasing.selection import bodies_with, choose_records
from lineage_bridge.eventlog.lock import DirectoryLock
from lineage_bridge.eventlog.segment import list_segments
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.model.erasing.erasure import DONE, FAILED, INCOMPLETE, PERSON, RUNNING, ErasureReport, ErasureRequest, FileCounts
from lineage_bridge.store.state.erasures import ErasureRepository
from lineage_bridge.wiring.erasing.elsewhere import outside_of_the_folder
from lineage_bridge.wiring.erasing.files import discard, discard_cut_files, discard_graph, discard_scratch
from lineage_bridge.wiring.erasing.person import erase_in_state, find_what_is_left, is_in_graph, rows_in_state
from lineage_bridge.wiring.erasing.requests import drop_request
from lineage_bridge.wiring.log import pipeline_stopped
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import graph_database, state_database

OnStep = Callable[[str], None]
"""Called with the name of each step, and of each file that is searched."""


def erase(settings: Settings, request: ErasureRequest, on_step: OnStep = lambda _: None) -> ErasureReport:
    """Carry out an erasure while no other process uses the data folder, and return its report, which is kept. A dry run only reads, so a
    server may run meanwhile.

    If it fails, the report says why, the request stays, and the erasure can be begun again. Raises LogLockedError, UnavailableError while a
    process uses the folder, LogError for bytes of the log that cannot be read, StoreError, OSError.
    """
    graph_database(settings)  # its address must be known
    repository = ErasureRepository(state_database(settings))
    report = msgspec.structs.replace(repository.record(request.id), status=RUNNING, error="")
    repository.save(report)
    try:
        if request.dry_run:
            _Erasing(settings, request, report, repository, on_step).try_out()
        else:
            with _alone(settings):
                _Erasing(settings, request, report, repository, on_step).run()
    except (LineageBridgeError, OSError) as error:
        repository.save(msgspec.structs.replace(report, status=FAILED, error=str(error), finished_us=now_us()))
        raise
    drop_request(settings.paths, request.id)
    return repository.record(request.id)


@contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Hold the locks of the log and of the pipeline. The torn end of a write that was never acknowledged is cut off first."""
    log = settings.paths.log
    log.mkdir(parents=True, exist_ok=True)
    if list_segments(log):
        LogWriter(log, lock_timeout_s=1.0).close()
    lock = DirectoryLock(log, 1.0)
    try:
        with pipeline_stopped(settings.paths.pipeline_lock):
            yield
    finally:
        lock.release()


@dataclass
class _Erasing:
    """The steps of an erasure. What each finds is added to the report."""

    settings: Settings
    request: ErasureRequest
    report: ErasureReport
    repository: ErasureRepository
    on_step: OnStep
    ids: IdCollector = field(default_factory=IdCollector)

    def try_out(self) -> None:
        """Count what would be erased."""
        self._search(is_changed=False)
        self.report.rows = rows_in_state(self.settings, self.request)
        self._finish(DONE)

    def run(self) -> None:
        """Erase. The graph, and what else is computed from the log, is removed: the pipeline computes it again."""
        paths = self.settings.paths
        self.report.requested_by = self._masked(self.report.requested_by)
        for path in (*leftovers(paths.log, paths.archive), *paths.erasing.glob("*.new")):
            discard(path)
        self._search(is_changed=True)
        self.report.repeats = self.ids.write(paths.log)
        removed = list(discard_cut_files(paths, bodies_with(self.request), self.on_step))
        if self.repository.record(self.request.id).files or removed or is_in_graph(paths, self.request):
            self.on_step("the graph")
            removed += [*discard_graph(self.settings), *discard_scratch(paths)]
        self.report.removed = sorted({*self.report.removed, *removed})
        self.repository.save(self.report)
        self.on_step("the state database")
        found, before = erase_in_state(self.settings, self.request), self.report.rows
        self.report.rows = {table: max(found.get(table, 0), before.get(table, 0)) for table in sorted({*found, *before})}
        self.repository.save(self.report)
        left: list[str] = []
        if self.request.kind == PERSON:
            left, removed = find_what_is_left(self.settings, self.request, self.on_step)
            self.report.removed = sorted({*self.report.removed, *removed})
        self.report.left, self.report.elsewhere = left, outside_of_the_folder(self.settings)
        self._finish(INCOMPLETE if left else DONE)

    def _search(self, *, is_changed: bool) -> None:
        """Search the log and the archive, and, unless this is a dry run, erase there."""
        paths, choose, disk = self.settings.paths, choose_records(self.request), LocalDisk()
        self.report.records = 0

        def note(file: FileErasure) -> bool:
            name = self._masked(str(file.path.relative_to(paths.data_dir)))
            self.on_step(name)
            self.report.records += file.records
            self.ids.add(file.erased_ids)
            if file.patches:
                self.repository.count_file(self.request.id, name, FileCounts(file.erased, file.masked))
            return is_changed

        erase_in_log(paths.log, choose, disk, note)
        erase_in_archive(paths.archive, choose, disk, note)

    def _masked(self, text: str) -> str:
        """The text as the report may contain it."""
        if self.request.kind != PERSON:
            return text
        return PersonIdentifier(self.request.name).masked(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")

    def _finish(self, status: str) -> None:
        self.report.status, self.report.finished_us = status, now_us()
        self.repository.save(self.report)
