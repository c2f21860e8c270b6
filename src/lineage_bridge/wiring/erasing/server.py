"""Lets a running server carry out erasures: its supervisor stops the other programs meanwhile, and clients wait."""

import logging
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import LineageBridgeError, RequestError, UnavailableError
from lineage_bridge.model.erasing.erasure import DONE, FAILED, INCOMPLETE, ErasureReport, ErasureRequest
from lineage_bridge.store.state.erasures import ErasureRepository
from lineage_bridge.wiring.backup import server_stopped
from lineage_bridge.wiring.erasing.erasing import OnStep, erase
from lineage_bridge.wiring.erasing.requests import waiting_requests
from lineage_bridge.wiring.shared import state_database

POLL_S = 0.5
_log = logging.getLogger(__name__)


def carry_out(settings: Settings, erasure: str, on_step: OnStep) -> ErasureReport:
    """Carry out a requested erasure, or let the running server do it, and return its report. A dry run never needs the server.

    Raises the errors of `erase`; UnavailableError if the server could not carry it out.
    """
    request = next(request for request in waiting_requests(settings.paths) if request.id == erasure)
    if request.dry_run:
        return erase(settings, request, on_step)
    with ExitStack() as stack:
        try:
            stack.enter_context(server_stopped(settings.paths))
        except UnavailableError:
            on_step("waiting for the server, which stops its other programs meanwhile")
            return _wait(settings, erasure)
        return erase(settings, request, on_step)


def _wait(settings: Settings, erasure: str) -> ErasureReport:
    """Wait until the server has carried out an erasure."""
    repository = ErasureRepository(state_database(settings))
    while (report := repository.record(erasure)).status not in (DONE, INCOMPLETE, FAILED):
        time.sleep(POLL_S)
    if report.status == FAILED:
        raise UnavailableError(f"the erasure failed: {report.error}", "remove the cause, then run: lineage-bridge erase resume")
    return report


class ErasureProcess:
    """Carries out requested erasures in a process of its own, which runs `command`. One that failed is tried again by the next server."""

    def __init__(self, paths: DataFolder, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._paths, self._command, self._environment = paths, command, environment
        self._tried: set[str] = set()
        self._counting: subprocess.Popen[bytes] | None = None

    def is_due(self) -> bool:
        """Whether there are requests that were not tried yet and for which all other programs must stop. New dry runs are started here, and
        the other programs go on.
        """
        if self._counting is not None and self._counting.poll() is not None:
            self.close()
        new = [request for request in self._waiting() if request.id not in self._tried]
        dry_runs = {request.id for request in new if request.dry_run}
        if dry_runs and self._counting is None:
            self._tried |= dry_runs
            self._counting = self._started("--dry-runs")
        return len(new) > len(dry_runs)

    def run(self, stop: threading.Event) -> None:
        """Carry out what was requested, until that is done or `stop` is set; what is interrupted continues at the next start."""
        self._tried.update(request.id for request in self._waiting() if not request.dry_run)
        process = self._started()
        while process.poll() is None:
            if stop.wait(POLL_S):
                process.terminate()
                process.wait()
        _release(process)
        if process.returncode and not stop.is_set():
            _log.error("an erasure failed (exit code %d): lineage-bridge erase list shows why", process.returncode)

    def close(self) -> None:
        """End a dry run that has not ended."""
        if self._counting is not None:
            self._counting.terminate()
            self._counting.wait()
            _release(self._counting)
            self._counting = None

    def _waiting(self) -> list[ErasureRequest]:
        """The requests; none while a file is removed meanwhile, or cannot be read, which `erase resume` reports."""
        try:
            return waiting_requests(self._paths)
        except (OSError, RequestError):
            return []

    def _started(self, *options: str) -> "subprocess.Popen[bytes]":
        # The process ends with this one, which holds its standard input open.
        return subprocess.Popen(  # noqa: S603  # our own program
            [*self._command, *options], stdin=subprocess.PIPE, env=dict(self._environment), start_new_session=True
        )


def _release(process: "subprocess.Popen[bytes]") -> None:
    if process.stdin:
        process.stdin.close()


def resume_all(settings: Settings, on_step: Callable[[ErasureRequest, str], None], *, dry_runs: bool | None = None) -> list[ErasureReport]:
    """Carry out all waiting erasures; with `dry_runs`, only the dry runs or only the others. No other process may use the data folder,
    except during dry runs. If some fail, the others are carried out nevertheless, and the first error (one of those of `erase`) is raised
    then.
    """
    waiting = [request for request in waiting_requests(settings.paths) if dry_runs in (None, request.dry_run)]
    found = [_attempt(settings, request, partial(on_step, request)) for request in waiting]
    errors = [outcome for outcome in found if not isinstance(outcome, ErasureReport)]
    if errors:
        raise errors[0]
    return [outcome for outcome in found if isinstance(outcome, ErasureReport)]


def _attempt(settings: Settings, request: ErasureRequest, on_step: OnStep) -> ErasureReport | LineageBridgeError | OSError:
    """Carry out an erasure, and return its report, or the error if that fails."""
    try:
        return erase(settings, request, on_step)
    except (LineageBridgeError, OSError) as error:
        return error
