"""Checks the log slowly while it is in use, and reports damage that it finds."""

import logging
import threading
import time
from pathlib import Path
from typing import Final

from lineage_bridge.eventlog.archive.check import check_all, check_files
from lineage_bridge.eventlog.check import Damage, LogCheck, check_segments, unacknowledged

TICK_S: Final = 5.0
"""Seconds between two counts of the segments and their sizes."""
AGAIN_S: Final = 24 * 3600.0
"""Seconds between two checks that read every record."""
_IDLE_SHARE: Final = 4.0
"""How long a check pauses, as a multiple of the time that it reads, so that events have precedence."""

_log = logging.getLogger(__name__)


class _StoppedError(Exception):
    """Raised to end a check, because the watch was closed."""


class LogWatch:
    """Reads every record of the log in `directory`, and of the archive, in a thread, when it is opened and once a day.

    Damage is logged when it is found.
    """

    def __init__(self, directory: Path, archive: Path) -> None:
        self._directory, self._archive = directory, archive
        self._found: LogCheck | None = None
        self._reported: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-watch", daemon=True)
        self._thread.start()

    def found(self) -> LogCheck | None:
        """The result of the last check, with acknowledgements made since then; None before the first check has ended."""
        found = self._found
        return None if found is None else found._replace(new=unacknowledged(self._directory, found.damage))

    def close(self) -> None:
        """Stop checking."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        due, segments = 0.0, frozenset[Damage]()
        while not self._stop.is_set():
            try:
                now = frozenset((*check_segments(self._directory), *check_files(self._archive)))
                if time.monotonic() >= due or now != segments:
                    self._check()
                    due, segments = time.monotonic() + AGAIN_S, now
            except _StoppedError:
                return
            except OSError as error:
                _log.warning("the event log cannot be checked: %s", error)
            self._stop.wait(TICK_S)

    def _check(self) -> None:
        rested = time.monotonic()

        def rest() -> None:
            nonlocal rested
            if self._stop.wait(min(1.0, (time.monotonic() - rested) * _IDLE_SHARE)):
                raise _StoppedError
            rested = time.monotonic()

        self._found = check_all(self._directory, self._archive, rest)
        for damage in unacknowledged(self._directory, self._found.damage):
            if damage.key not in self._reported:
                self._reported.add(damage.key)
                _log.error("the event log is damaged: %s (see: lineage-bridge log check)", damage.detail)
