"""Watching the audit log between polls: changes are counted, so that the next poll can come early."""

import logging
import threading
from collections.abc import Mapping
from contextlib import closing

from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.sources.common.kafka.protocol.tail import TopicTail
from lineage_bridge.sources.confluent.audit.events import CHANGES, Request, read
from lineage_bridge.sources.confluent.audit.plane import connection
from lineage_bridge.sources.confluent.settings import AuditLog, ConfluentSettings

RETRY_S = 10.0
_WAIT_S = 0.5
log = logging.getLogger(__name__)


class Watch:
    """Reads on from these offsets, in a thread of its own, until it is closed. `changes`: how many it has seen of what is observed.

    An audit log that cannot be read is tried again; that it cannot be read is told at the polls.
    """

    def __init__(self, settings: ConfluentSettings, audit_log: AuditLog, offsets: Mapping[int, int]) -> None:
        self.changes = 0
        self._settings, self._log, self._offsets = settings, audit_log, dict(offsets)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._watch()
            self._stop.wait(RETRY_S)

    def _watch(self) -> None:
        try:
            with closing(TopicTail(connection(self._log, self._settings), self._log.topic)) as tail:
                tail.begin(self._offsets, None)
                self._follow(tail)
        except LineageBridgeError as error:
            log.info("the audit log cannot be watched just now: %s", error)

    def _follow(self, tail: TopicTail) -> None:
        while not self._stop.is_set():
            values = tail.read(_WAIT_S)
            self.changes += sum(self._counts(read(value)) for value in values)
            self._offsets = tail.offsets

    def _counts(self, request: Request | None) -> bool:
        """Whether it is a change of what the settings name. What is told without a place may be anywhere."""
        if request is None or request.part != CHANGES:
            return False
        told = self._settings
        environment, cluster = request.resource.environment, request.resource.cluster
        elsewhere = told.environments and environment and environment not in told.environments
        return not elsewhere and not (told.clusters and cluster and cluster not in told.clusters)
