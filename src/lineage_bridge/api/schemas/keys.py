"""API keys, and the audit trail: requests and responses."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text

KeyScope = Literal["ingest", "read", "operate", "admin"]


class KeyRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """An API key to create. `namespaces` are globs, for keys with the scope `ingest` only; without `expires_in_s` it does not expire."""

    name: str
    scopes: list[KeyScope]
    namespaces: list[str] = []
    note: str = ""
    expires_in_s: int | None = None


class RotateRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """How many seconds the previous key still works."""

    grace_s: int = 86_400


class KeyItem(Struct, frozen=True, omit_defaults=True):
    """An API key. `key` is its text, which only the answer that creates it has."""

    id: str
    name: str
    scopes: list[KeyScope]
    namespaces: list[str]
    state: Literal["active", "expired", "revoked"]
    note: str
    created_at: str
    created_by: str
    expires_at: Text = UNSET
    revoked_at: Text = UNSET
    last_used_at: Text = UNSET
    key: str | UnsetType = UNSET


class Keys(Struct, frozen=True):
    """The API keys, by name; those of one name are one principal."""

    keys: list[KeyItem]


class KeysRevoked(Struct, frozen=True):
    """How many keys were revoked."""

    revoked: int


class AuditItem(Struct, frozen=True, omit_defaults=True):
    """A change. `details` is JSON without secrets, or empty. One that was erased has only its time, its action and its hashes."""

    sequence: int
    at: str
    action: str
    erased: bool
    commitment: str
    digest: str
    principal: Text = UNSET
    origin: Text = UNSET
    target: Text = UNSET
    details: Text = UNSET
    salt: Text = UNSET


class AuditPage(Struct, frozen=True):
    """Changes, the newest first."""

    changes: list[AuditItem]
