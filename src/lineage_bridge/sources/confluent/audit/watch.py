"""Watches the audit log between polls. It counts changes, so that the next poll can run early."""

import logging
import threading
from collections.abc import Mapping
from contextlib import closing

from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.sources.common.kafka.protocol.tail import TopicTail
from lineage_bridge.sources.confluent.audit.client import connection
from lineage_bridge.sources.confluent.audit.parse import CHANGES, Request, parse_request
from lineage_bridge.sources.confluent.settings import AuditLog, ConfluentSettings

RETRY_S = 10.0
_WAIT_S = 0.5
log = logging.getLogger(__name__)


class Watch:
    """Reads the audit log in its own thread, from these offsets, until closed. `changes` counts the changes of selected resources.

    If the audit log cannot be read, the watch tries again; polls report that it cannot be read.
    """

    def __init__(self, settings: ConfluentSettings, audit_log: AuditLog, offsets: Mapping[int, int]) -> None:
        self.changes = 0
        self._settings, self._audit_log, self._offsets = settings, audit_log, dict(offsets)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit-log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and wait for it."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._read()
            self._stop.wait(RETRY_S)

    def _read(self) -> None:
        try:
            with closing(TopicTail(connection(self._audit_log, self._settings), self._audit_log.topic)) as tail:
                tail.begin(self._offsets, None)
                self._follow(tail)
        except LineageBridgeError as error:
            log.info("cannot watch the audit log: %s", error)

    def _follow(self, tail: TopicTail) -> None:
        while not self._stop.is_set():
            values = tail.read(_WAIT_S)
            self.changes += sum(self._is_relevant(parse_request(value)) for value in values)
            self._offsets = tail.offsets

    def _is_relevant(self, request: Request | None) -> bool:
        """Whether a request changed a resource that the settings select. A request without environment or cluster counts as relevant."""
        if request is None or request.category != CHANGES:
            return False
        environments, clusters = self._settings.environments, self._settings.clusters
        environment, cluster = request.resource.environment, request.resource.cluster
        is_elsewhere = environments and environment and environment not in environments
        return not is_elsewhere and not (clusters and cluster and cluster not in clusters)
