"""Runs publications to targets, each in a separate process, and sets up the API's service for targets."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec
from filelock import FileLock, Timeout
from msgspec.structs import replace

from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.continuous.status import Followed
from lineage_bridge.catalogs.environment import targets_from_environment
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.publish import Publication
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError, RequestError, StoppedError, StoreMissingError, UnavailableError
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.ports.continuous import FollowersReport
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.followers import FollowRepository
from lineage_bridge.store.state.targets import PublicationLedger, TargetRepository
from lineage_bridge.wiring.processes import is_alive, now_us
from lineage_bridge.wiring.shared import readers, source_context, state_database

_FOLLOWERS = msgspec.json.Decoder(FollowersReport)
LOCK_S = 10
"""How long to wait for a process that has finished publishing and is about to end, in seconds."""
CANCEL_S = 20.0
"""How long the running calls of a cancelled publication may take, in seconds; then its process is killed."""
STOPPED = "the publication was stopped"
COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main", "publication")


def followers_report(settings: Settings) -> FollowersReport | None:
    """The last report of the process that publishes continuously; None if it does not run."""
    try:
        found = _FOLLOWERS.decode(settings.paths.followers_report.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return found if is_alive(found.pid) else None


def _unknown(_: str) -> int:
    raise StoreMissingError("internal error: changes were to be counted in a process that does not read the graph", "please report this")


def target_service(settings: Settings, behind: Callable[[str], int] = _unknown) -> TargetService:
    """The service for users' operations on targets; `behind` returns the number of changes of the graph after a cursor.

    Raises ConfigError for an invalid target in the settings file.
    """
    state = state_database(settings)
    repository = TargetRepository(state)
    kinds = TargetKinds(settings.paths.published, source_context(settings))
    service = TargetService(
        settings.targets,
        repository,
        PublicationLedger(state),
        kinds,
        PublishingProcesses(settings, repository),
        now_us,
        Followed(FollowRepository(state), behind, partial(followers_report, settings), now_us),
        targets_from_environment(os.environ, kinds),
    )
    service.check_file()
    return service


class PublishingProcesses:
    """Implements `catalogs.service.PublicationProcesses` for the processes that this process has started. They end when this process
    ends.
    """

    def __init__(self, settings: Settings, repository: TargetRepository) -> None:
        self._settings, self._repository = settings, repository
        self._lock = threading.Lock()
        self._processes: dict[int, tuple[str, subprocess.Popen[bytes]]] = {}
        self._cancelled: dict[int, threading.Timer] = {}

    def is_publishing(self, pid: int) -> bool:
        """Whether the process with this id, from a report, is a running publication. The id may have been reused for another process."""
        with self._lock:
            return self._is_publishing(pid)

    def _is_publishing(self, pid: int) -> bool:
        return pid in self._processes or (pid == os.getpid() and bool(self._processes))

    def targets(self) -> frozenset[str]:
        """The names of the targets to which a process is publishing."""
        with self._lock:
            return frozenset(name for name, _ in self._processes.values())

    def cancel(self, name: str) -> None:
        """Ask a publication to end. It ends at once or, if it is calling the target, within CANCEL_S."""
        with self._lock:
            for process in [process for of, process in self._processes.values() if of == name and self._may_cancel(process)]:
                timer = self._cancelled[process.pid] = threading.Timer(CANCEL_S, process.terminate)
                timer.daemon = True
                timer.start()
                if process.stdin:
                    with suppress(OSError, ValueError):  # it has ended, and its input may be closed
                        process.stdin.write(b"\n")
                        process.stdin.flush()

    def _may_cancel(self, process: "subprocess.Popen[bytes]") -> bool:
        return process.returncode is None and process.pid not in self._cancelled

    def begin(self, name: str, report: PublicationReport) -> None:
        """Start the process of a publication. Raises RequestError if one is running, UnavailableError if it cannot be started."""
        flags = (("--plan", report.plan_only), ("--prune", report.prune), ("--overwrite", report.overwrite))
        begun = replace(report, pid=os.getpid())
        with self._lock:
            last = self._repository.report(name)
            if last is not None and last.state == "running" and self._is_publishing(last.pid):
                raise RequestError(f"a publication to target {name} is under way", f"follow it with: lineage-bridge target show {name}")
            self._repository.save_report(name, begun)
            try:
                process = subprocess.Popen(  # noqa: S603  # our own command
                    [*COMMAND, name, *(flag for flag, is_set in flags if is_set)],
                    stdin=subprocess.PIPE,
                    env={**os.environ, **self._settings.environment()},
                )
            except OSError as error:
                failed = UnavailableError(
                    f"the process that publishes cannot be started: {error.strerror}", "free memory on the server, and publish again"
                )
                self._repository.save_report(name, replace(begun, state="failed", ended_us=now_us(), error=str(failed)))
                raise failed from error
            self._processes[process.pid] = (name, process)
        threading.Thread(target=self._watch, args=(name, begun, process), name=f"publishing to {name}", daemon=True).start()

    def _watch(self, name: str, begun: PublicationReport, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        with self._lock:
            timer = self._cancelled.pop(process.pid, None)
        if timer:
            timer.cancel()
        if process.stdin:
            with suppress(OSError):  # it has ended without reading that it was cancelled
                process.stdin.close()
        last = self._repository.report(name)
        is_its = last is not None and (last.pid == process.pid or (last.pid, last.started_us) == (begun.pid, begun.started_us))
        if last is not None and is_its and last.state == "running":
            message = STOPPED if timer else f"the process that published ended with code {code}"
            state = "cancelled" if timer else "interrupted"
            self._repository.save_report(name, replace(last, state=state, ended_us=now_us(), error=message))
        with self._lock:
            self._processes.pop(process.pid, None)
            late = self._cancelled.pop(process.pid, None)
        if late:
            late.cancel()


def publish(
    settings: Settings, name: str, *, plan_only: bool, prune: bool, overwrite: bool, stop: threading.Event | None = None
) -> PublicationReport:
    """Plan for a target, and publish to it unless `plan_only`, until `stop` is set. Raises UnavailableError while another process publishes
    to it.
    """
    stop = stop or threading.Event()
    service, state = target_service(settings), state_database(settings)
    repository = TargetRepository(state)
    started_us = _started_us(repository.report(name))
    settings.paths.publishing.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(settings.paths.publishing / f"{name}.lock", timeout=LOCK_S), readers(settings) as pool:
            report = PublicationReport("running", plan_only, prune, overwrite, started_us, os.getpid())
            try:
                target = service.target(name)
            except LineageBridgeError as error:  # such as an address that is no longer allowed
                repository.save_report(name, replace(report, state="failed", ended_us=now_us(), error=str(error), hint=error.hint))
                raise
            try:
                publisher = Publisher(target, PublicationLedger(state), graph_id(state.key()), now_us, partial(_wait, stop), stop.is_set)
                return Publication(publisher, pool.reader, report, partial(repository.save_report, name)).run()
            finally:
                target.close()
    except Timeout as error:
        busy = UnavailableError(f"another process publishes to target {name}", f"follow it with: lineage-bridge target show {name}")
        failed = PublicationReport("failed", plan_only, prune, overwrite, started_us, os.getpid(), now_us(), str(busy), busy.hint, "busy")
        repository.save_report(name, failed)
        raise busy from error


def _started_us(last: PublicationReport | None) -> int:
    """The time at which this publication started. It is read from the report that the parent process wrote, so that both processes use the
    same time; without a report, it is the current time.
    """
    return last.started_us if last is not None and last.state == "running" and last.pid == os.getppid() else now_us()


def _wait(stop: threading.Event, seconds: float) -> None:
    """Wait for some seconds. Raises StoppedError as soon as the publication is cancelled."""
    if stop.wait(seconds):
        raise StoppedError(STOPPED)
