"""The audit trail: who changed what, in a chain of hashes."""

from typing import NamedTuple


class Change(NamedTuple):
    """What somebody changed, before it becomes an entry of the audit trail."""

    principal: str
    origin: str
    action: str
    target: str
    details: str = ""


class AuditEntry(NamedTuple):
    """One link of the chain. `change` is None once it was erased; `sequence` counts from 1; the time is UTC microseconds."""

    sequence: int
    at_us: int
    action: str
    change: Change | None
    salt: bytes
    commitment: bytes
    digest: bytes


class AuditHead(NamedTuple):
    """The end of the chain: the last entry's number and digest; 0 and zeros for an empty one."""

    sequence: int
    digest: bytes


NO_ENTRIES = AuditHead(0, bytes(32))
"""The head of an empty chain."""
