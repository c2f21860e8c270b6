"""Sets up the process that publishes continuously to targets."""

import logging
import os
import random
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from lineage_bridge.catalogs.continuous.attempts import Attempts
from lineage_bridge.catalogs.continuous.feed import changes_behind
from lineage_bridge.catalogs.continuous.follower import Attempt, Follower, Following
from lineage_bridge.catalogs.continuous.manager import FollowerManager
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.config import Settings
from lineage_bridge.errors import StoppedError, StoreError
from lineage_bridge.eventlog.archive.reader import AllRecords
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.pipeline.status import replace_file
from lineage_bridge.ports.continuous import ContinuousTarget, FollowersReport
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.state.followers import FollowRepository
from lineage_bridge.store.state.targets import PublicationLedger
from lineage_bridge.wiring.processes import alone_until_signal, now_us
from lineage_bridge.wiring.shared import all_records, readers, source_context, state_database
from lineage_bridge.wiring.targets.publishing import target_service

LOOK_S = 0.2
"""The interval at which a waiting publication checks whether it should continue, in seconds."""
_log = logging.getLogger(__name__)


def run_publisher(settings: Settings) -> None:
    """Publish continuously until a signal. Raises UnavailableError if another process does so."""
    service = target_service(settings)
    settings.paths.publishing.mkdir(parents=True, exist_ok=True)
    path = settings.paths.followers_report
    with (
        alone_until_signal(settings.paths.publisher_lock, f"another process publishes the graph of {settings.data_dir}") as stop,
        readers(settings) as pool,
    ):
        publishing = ContinuousPublishing(settings, pool)
        report = partial(_write_report, path)
        manager = FollowerManager(service.configured, publishing.follower, publishing.repository, report, pid=os.getpid(), clock_us=now_us)
        try:
            manager.run(stop)
        finally:
            path.unlink(missing_ok=True)


class ContinuousPublishing:
    """Creates the followers of targets, and publishes for them. The graph is read for one of them at a time."""

    def __init__(self, settings: Settings, pool: ReaderPool) -> None:
        state = state_database(settings)
        self._settings, self._pool, self._records = settings, pool, all_records(settings)
        self._kinds = TargetKinds(settings.paths.published, source_context(settings))
        self.repository = FollowRepository(state)
        ledger, installation = PublicationLedger(state), graph_id(state.key())
        self._attempts = Attempts(pool.reader, ledger, self.repository, installation, now_us, _wait, os.getpid())

    def follower(self, target: ContinuousTarget, basis: str, is_stopped: Callable[[], bool]) -> Follower:
        """Create the follower of a target, which publishes to it whenever the graph has changed. Raises ConfigError."""
        made = self._kinds.make(target.name, target.kind, target.settings)
        made.close()
        following = Following(
            partial(changes_behind, self._pool.reader),
            partial(self._publish, target, is_stopped),
            GraphCompleteness(self._records, self._pool).is_complete,
            self.repository,
            now_us,
            random.random,
        )
        return Follower(target.name, basis, made.settings.debounce_s, made.settings.max_wait_s, following)

    def _publish(self, target: ContinuousTarget, is_stopped: Callable[[], bool], complete: bool) -> Attempt | None:
        lock = FileLock(self._settings.paths.publishing / f"{target.name}.lock", timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        with lock, closing(self._kinds.make(target.name, target.kind, target.settings)) as made:
            return self._attempts.publish(made, is_stopped, complete=complete)


@dataclass
class GraphCompleteness:
    """Determines whether the graph contains all events that the log had when `is_complete` was first called, and the lineage derived from
    them.
    """

    records: AllRecords
    pool: ReaderPool
    _end: int | None = field(default=None)

    def is_complete(self) -> bool:
        """Whether the graph contains all these events. Once a call has returned true, the next call starts over with the events that the
        log has then.
        """
        if self._end is None:
            self._end = self.records.durable_end()
        try:
            with self.pool.reader() as reader:
                applied, settling = reader.progress.position(), reader.progress.settling()
        except StoreError:
            return False
        found = applied.get((LOG_SOURCE, 0), 0) >= self._end and not self.records.archived_behind(applied) and not settling
        if found:
            self._end = None
        return found


def _wait(is_stopped: Callable[[], bool], seconds: float) -> None:
    """Wait for some seconds. Raises StoppedError as soon as publishing should stop."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0:
        if is_stopped():
            raise StoppedError("the publication was stopped")
        time.sleep(min(LOOK_S, left_s))


def _write_report(path: Path, report: FollowersReport) -> None:
    """Write the status of targets to the file that the API reads. If the disk is full, the last report remains."""
    try:
        replace_file(path, msgspec.json.encode(report))
    except OSError as error:
        _log.warning("the status of targets cannot be written to %s: %s", path, error.strerror)
