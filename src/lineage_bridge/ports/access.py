"""Authentication, the keys by which it recognises principals, and the trail of what they changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lineage_bridge.model.access import ApiKey, KeyOptions, Principal
from lineage_bridge.model.audit import AuditEntry, AuditHead, Change


class Authenticator(Protocol):
    """Recognises who sent a request, in one way, such as by API keys."""

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:
        """The principal of a request with these headers (by lower-case names) from this address.

        None if it brings no credentials of the kind that this authenticator knows. Raises RefusedError (401) if it does and they are
        not valid. Runs in the server's event loop: it must not wait.
        """


class KeyRepository(Protocol):
    """Stores API keys. Safe for many threads and processes at once."""

    def records(self) -> list[ApiKey]:
        """All keys, those of one name next to each other, the oldest first."""

    def add(self, key: ApiKey, expire_others_us: int | None = None) -> bool:
        """Store a key; return whether it was stored.

        Without `expire_others_us`, no key of its name may be active. With it, one has to be, and the active keys of the name expire at that
        time at the latest.
        """

    def revoke(self, name: str, now_us: int) -> int:
        """Revoke the keys with this name or id; return how many of them were not revoked before."""

    def note_uses(self, uses: Mapping[str, int]) -> None:
        """Store when keys were last used, by id."""


class KeyChanges(Protocol):
    """Reports changes of keys by any process to a running server."""

    def changed_keys(self) -> Sequence[ApiKey] | None:
        """All keys if any may have changed since the last call; else None. Does not wait for a process that is writing."""


class KeyService(Protocol):
    """Users' operations on API keys."""

    def create(self, options: KeyOptions, by: str) -> tuple[ApiKey, str]:
        """A new key, and its text, which is shown this once. Raises RequestError."""

    def records(self) -> Sequence[ApiKey]:
        """All keys, by name."""

    def revoke(self, name: str) -> int:
        """Revoke the keys with this name or id, at once; return how many. Raises NotFoundError."""

    def rotate(self, name: str, grace_us: int, by: str) -> tuple[ApiKey, str]:
        """A new key with the rights of the active key of this name, which then works for `grace_us` more.

        Raises NotFoundError.
        """


class AuditRepository(Protocol):
    """Stores the audit trail. Safe for many threads and processes at once."""

    def append(self, make: Callable[[AuditHead], AuditEntry]) -> AuditEntry:
        """Durably store the entry that `make` returns for the current head; no other entry is stored in between."""

    def head(self) -> AuditHead:
        """The number and digest of the last entry."""

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """Entries with a number below `below`, of a principal and of an action, the newest first."""

    def all(self) -> Iterator[AuditEntry]:
        """All entries, the oldest first."""

    def erase(self, is_erased: Callable[[Change], bool], make: Callable[[AuditHead], AuditEntry]) -> tuple[int, AuditEntry]:
        """Erase changes, leave their links in the chain, and store the entry that `make` returns, durably.

        All of it happens or nothing. Returns how many were erased, and the entry.
        """

    def overwrite(self) -> None:
        """Overwrite in the files what was erased. Raises StoreError if that cannot be done now."""


class AuditTrail(Protocol):
    """Records who changed what, and verifies the record."""

    def record(self, change: Change) -> None:
        """Append a change, durably."""

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """Entries with a number below `below`, of a principal and of an action, the newest first."""

    def faults(self, known: Iterable[AuditHead] = ()) -> Iterator[str]:
        """The faults of the trail, as sentences. `known` are heads of it that were recorded earlier."""

    def erase(self, principal: str, by: Change) -> int:
        """Erase the changes of a principal and those that name it, record that as the change `by`; return how many there were."""
