"""Removes what is old from the graph once a day, beside the stream of events."""

import logging
import threading
from contextlib import AbstractContextManager
from typing import Final

from lineage_bridge.model.keeping.retention import ExpiredCounts
from lineage_bridge.pipeline.status import StatusFile
from lineage_bridge.ports.graph_store import GraphStore, Retention

FIRST_S: Final = 60.0
"""Seconds from the start of the pipeline to the first pass."""
EVERY_S: Final = 86_400.0
_RETRY_S: Final = 900.0
_BREATH_S: Final = 0.02
"""Seconds between two steps, in which a batch of events can be committed."""
_log = logging.getLogger(__name__)


class RetentionThread(threading.Thread):
    """Makes a pass a minute after the start, and then once a day. A pass that fails is begun again later; the stream goes on meanwhile."""

    def __init__(
        self,
        retention: Retention,
        store: GraphStore,
        lock: AbstractContextManager[object],
        status: StatusFile,
        stop: threading.Event,
        first_s: float = FIRST_S,
    ) -> None:
        """`first_s`: seconds until the first pass."""
        super().__init__(name="retention", daemon=True)
        self._retention, self._store, self._lock, self._status, self._stop_event = retention, store, lock, status, stop
        self._first_s = first_s

    def run(self) -> None:
        """Run until the pipeline stops."""
        pause = self._first_s
        while not self._stop_event.wait(pause):
            pause = EVERY_S
            try:
                self._pass()
            except Exception as error:  # noqa: BLE001 - the boundary of a poll loop: the stream goes on, and so does the next pass
                _log.warning("what is old could not be removed from the graph, and stays for now: %s", error)
                pause = _RETRY_S

    def _pass(self) -> None:
        total = ExpiredCounts()
        self._note(total, is_running=True)
        for step in self._retention(self._store):
            with self._lock:
                if self._stop_event.is_set():
                    return
                total.add(step())
            self._note(total, is_running=True)
            if self._stop_event.wait(_BREATH_S):
                return
        self._note(total, is_running=False)
        if total != ExpiredCounts():
            _log.info(
                "retention removed %d runs, %d events, %d samples of statistics and %d rejected events",
                *(total.runs, total.events, total.samples, total.rejected),
            )

    def _note(self, total: ExpiredCounts, *, is_running: bool) -> None:
        at = {} if is_running else {"finished_us": self._status.now_us()}
        counts = {"runs": total.runs, "events": total.events, "samples": total.samples, "rejected": total.rejected}
        self._status.change(retention={**counts, **at})
