"""The interfaces for authentication, for API keys, for the audit trail, and for erasures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lineage_bridge.model.access import ApiKey, KeyOptions, Principal
from lineage_bridge.model.audit import AuditEntry, AuditHead, Change
from lineage_bridge.model.erasing.erasure import ErasureReport


class Authenticator(Protocol):
    """Determines who sent a request, in one way, such as by API keys."""

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:
        """Determine the principal of a request with these headers (by lower-case names) from this address.

        None if the request has no credentials of the kind that this authenticator knows. Raises RefusedError (401) if it has such
        credentials, but they are invalid. Runs in the server's event loop, so it must not wait.
        """


class KeyRepository(Protocol):
    """Stores API keys. Safe for many threads and processes at once."""

    def records(self) -> list[ApiKey]:
        """All API keys. Those with the same name are next to each other, the oldest first."""

    def add(self, key: ApiKey, expire_others_us: int | None = None) -> bool:
        """Store an API key. Returns whether it was stored.

        Without `expire_others_us`, no other key of this name may be active. With it, another key of this name must be active, and all such
        keys expire no later than at that time.
        """

    def revoke(self, name: str, now_us: int) -> int:
        """Revoke the keys with this name or id; return how many of them were not revoked before."""

    def note_uses(self, uses: Mapping[str, int]) -> None:
        """Store when keys were last used, by id."""


class KeyChanges(Protocol):
    """Tells a running server that any process has changed keys."""

    def changed_keys(self) -> Sequence[ApiKey] | None:
        """Return all keys if any of them may have changed since the last call, else None. Does not wait for a process that is writing."""


class KeyService(Protocol):
    """Users' operations on API keys."""

    def create(self, options: KeyOptions, by: str) -> tuple[ApiKey, str]:
        """Create an API key. Returns the key, and its text, which is shown only now. Raises RequestError."""

    def records(self) -> Sequence[ApiKey]:
        """All keys, by name."""

    def revoke(self, name: str) -> int:
        """Revoke the keys with this name or id, at once; return how many. Raises NotFoundError."""

    def rotate(self, name: str, grace_us: int, by: str) -> tuple[ApiKey, str]:
        """Create a key with the rights of the active key of this name. The old key stays valid for `grace_us`.

        Raises NotFoundError.
        """


class AuditRepository(Protocol):
    """Stores the audit trail. Safe for many threads and processes at once."""

    def append(self, make: Callable[[AuditHead], AuditEntry]) -> AuditEntry:
        """Store the entry that `make` returns for the current head, durably. No other entry is stored in between."""

    def head(self) -> AuditHead:
        """The number and digest of the last entry."""

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """Entries with a number below `below`, the newest first; if they are given, only those of a principal and of an action."""

    def all(self) -> Iterator[AuditEntry]:
        """All entries, the oldest first."""

    def erase(self, is_erased: Callable[[Change], bool], make: Callable[[AuditHead], AuditEntry]) -> tuple[int, AuditEntry]:
        """Erase the content of entries, but keep their hashes in the chain, and store the entry that `make` returns, durably, in one
        transaction. Returns how many entries were erased, and the new entry.
        """

    def overwrite(self) -> None:
        """Overwrite erased content in the database's files. Raises StoreError if that is impossible at the moment."""


class AuditTrail(Protocol):
    """Records who changed what, and verifies the record."""

    def record(self, change: Change) -> None:
        """Append an entry for a change, durably."""

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """Entries with a number below `below`, the newest first; if they are given, only those of a principal and of an action."""

    def faults(self, known: Iterable[AuditHead] = ()) -> Iterator[str]:
        """The faults of the trail, as sentences. `known` are heads of it that were recorded earlier."""

    def erase(self, principal: str, by: Change) -> int:
        """Erase the changes of a principal and those that mention it, and record this as the change `by`. Returns how many there were."""


class ErasureService(Protocol):
    """Users' requests to erase something from the data folder, and the proofs."""

    def request(self, kind: str, name: str, namespace: str, dry_run: bool, requested_by: str) -> ErasureReport:
        """Request an erasure, durably. Returns its report; it has not begun. Raises RequestError."""

    def records(self, limit: int, offset: int) -> list[ErasureReport]:
        """Erasures, the newest first."""

    def record(self, erasure_id: str) -> ErasureReport:
        """The report of an erasure. Raises NotFoundError."""
