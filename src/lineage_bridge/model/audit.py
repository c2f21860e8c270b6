"""The audit trail: a chain of entries that state who changed what."""

from typing import NamedTuple


class Change(NamedTuple):
    """What somebody changed, before it becomes an entry of the audit trail."""

    principal: str
    origin: str
    action: str
    target: str
    details: str = ""


class AuditEntry(NamedTuple):
    """An entry of the audit trail, which is one link of the chain. `change` is None once it was erased; `sequence` counts from 1; the
    time is UTC microseconds.
    """

    sequence: int
    at_us: int
    action: str
    change: Change | None
    salt: bytes
    commitment: bytes
    digest: bytes


class AuditHead(NamedTuple):
    """The head of the chain: number and digest of the last entry. For an empty chain, the number is 0 and the digest consists of zeros."""

    sequence: int
    digest: bytes


NO_ENTRIES = AuditHead(0, bytes(32))
"""The head of an empty chain."""
