"""Opens the audit trail of a data folder."""

import getpass
import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from secrets import token_bytes
from typing import Any, Final

from lineage_bridge.access.audit import HashChain, format_head, parse_head
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError, RequestError
from lineage_bridge.ingest.ingest import Sender, ingest_operation
from lineage_bridge.model.audit import AuditHead, Change
from lineage_bridge.ports.log import EventLog
from lineage_bridge.store.state.audit import AuditRepository
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import log_reader, state_database

CHANNEL: Final = "audit"
"""The channel of log records that hold a head of the audit trail."""
_REPORT_RECORDS: Final = 500_000
_log = logging.getLogger(__name__)


def audit_repository(settings: Settings) -> AuditRepository:
    """The repository with the entries of the audit trail."""
    return AuditRepository(state_database(settings))


def audit_trail(settings: Settings, publish: Callable[[AuditHead], None] = lambda _: None) -> HashChain:
    """The audit trail of a data folder. Commands that change the folder without the server do not append a head to the log: the server's
    next head covers their entries.
    """
    return HashChain(audit_repository(settings), now_us, token_bytes, publish)


def publish_head(log: EventLog, head: AuditHead) -> None:
    """Append a head of the audit trail to the log, as an operation without effect on the graph."""
    operation = json.dumps({"operation": CHANNEL, "head": format_head(head)}).encode()
    try:
        ingest_operation(operation, Sender(CHANNEL), log, now_us()).add_done_callback(_report)
    except LineageBridgeError as error:
        _log.warning("the head of the audit trail is not in the log: %s", error)


def _report(offsets: "Future[Any]") -> None:
    error = offsets.exception()
    if error:
        _log.warning("the head of the audit trail is not in the log: %s", error)


def by_command(action: str, target: str, details: str = "") -> Change:
    """Make the entry for a change by a command on the server's machine."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "an unknown user"
    return Change("", f"command of {user}", action, target, details)


def record_command(settings: Settings, action: str, target: str = "", **details: str | int) -> None:
    """Record a command on the server's machine that changed or copied a data folder. `details` must not contain secrets."""
    audit_trail(settings).record(by_command(action, target, json.dumps(details) if details else ""))


def heads_in_log(settings: Settings, on_progress: Callable[[int], None]) -> Iterator[AuditHead]:
    """Find the heads of the audit trail by reading the whole log. `on_progress` gets the number of records read, from time to time."""
    reader = log_reader(settings)
    for count, (_, record) in enumerate(reader.read(0, reader.durable_end()), start=1):
        if count % _REPORT_RECORDS == 0:
            on_progress(count)
        if record.channel == CHANNEL:
            try:
                yield parse_head(str(json.loads(record.body)["head"]))
            except (ValueError, LookupError, TypeError, RequestError):
                continue
