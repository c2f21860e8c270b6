"""The audit trail of a data folder."""

import getpass
import json
from collections.abc import Callable, Iterator
from secrets import token_bytes
from typing import Final

from lineage_bridge.access.audit import AuditTrail, parse_head
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.model.audit import AuditHead, Change
from lineage_bridge.store.state.audit import AuditRepository
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import log_reader, state_database

CHANNEL: Final = "audit"
"""The channel of the log's records with heads."""
_REPORT_BYTES: Final = 1 << 30


def audit_repository(settings: Settings) -> AuditRepository:
    """The stored entries."""
    return AuditRepository(state_database(settings))


def audit_trail(settings: Settings) -> AuditTrail:
    """The trail, for commands that change a data folder without its server. A running server writes the next head into the log."""
    return AuditTrail(audit_repository(settings), now_us, token_bytes)


def by_command(action: str, target: str, details: str = "") -> Change:
    """A change made by a command on the server's machine."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "an unknown user"
    return Change("", f"command of {user}", action, target, details)


def head_operation(head: str) -> bytes:
    """The record of the log that keeps a head: an operation that means nothing to the graph."""
    return json.dumps({"operation": CHANNEL, "head": head}).encode()


def heads_in_log(settings: Settings, on_progress: Callable[[int, int], None]) -> Iterator[AuditHead]:
    """The heads that the log has. Reads all of it; `on_progress` is told how many bytes of how many."""
    reader = log_reader(settings)
    end, reported = reader.durable_end(), 0
    for offset, record in reader.read(0, end):
        if offset - reported >= _REPORT_BYTES:
            reported = offset
            on_progress(offset, end)
        if record.channel == CHANNEL:
            try:
                yield parse_head(str(json.loads(record.body)["head"]))
            except (ValueError, LookupError, TypeError, RequestError):
                continue
