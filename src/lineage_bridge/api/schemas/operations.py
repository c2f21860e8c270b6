"""Responses about the state of the server, its principals and its audit trail, and requests that operate it."""

from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text

KeyScope = Literal["ingest", "read", "operate", "admin"]


class EraseRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Runs to erase, by their UUIDs."""

    runs: list[str]


class Erased(Struct, frozen=True, tag_field="status", tag="accepted"):
    """The erasure is durable and takes effect soon."""

    runs: int
    position: str


class DiskUse(Struct, frozen=True):
    """Bytes that the log uses, and bytes free on its disk."""

    used_bytes: int
    free_bytes: int


class Health(Struct, frozen=True, omit_defaults=True, tag_field="status", tag="ok"):
    """The process answers; `disk` is for those who may read."""

    disk: DiskUse | UnsetType = UNSET


class PartState(Struct, frozen=True):
    """A part of the system: `state` is "ok" or what it is instead."""

    state: str
    detail: str


class PartStates(Struct, frozen=True):
    """The parts of the system. All must work, but for damage to the log: what can be read of it is used.

    `issuers`, if tokens of any are accepted, is whether their keys could be fetched last; those fetched before are used. `inputs`, if there
    are any, is whether all are read, `targets`, if any are published to continuously, whether all are; the server is ready all the same.
    """

    intake: PartState
    log: PartState
    store: PartState
    pipeline: PartState
    issuers: PartState | UnsetType = UNSET
    inputs: PartState | UnsetType = UNSET
    targets: PartState | UnsetType = UNSET


class Lag(Struct, frozen=True):
    """How far the graph lags behind the log and the archive, in bytes of records; -1 if unknown."""

    bytes: int
    caught_up: bool
    log_end: str
    applied: str


class LogDamage(Struct, frozen=True):
    """Damaged places of the event log, those that no operator has acknowledged, and how many bytes cannot be read."""

    places: int
    unacknowledged: int
    unreadable_bytes: int


class Readiness(Struct, frozen=True):
    """Whether everything works, and the state of each part."""

    ready: bool
    parts: PartStates
    lag: Lag
    settling: bool
    disk: DiskUse
    log: LogDamage


class Version(Struct, frozen=True):
    """The program, its version, and the version of the standard that it writes."""

    version: str
    name: str = "LineageBridge"
    openlineage: str = "2-0-2"


class AnalysisPage(Struct, frozen=True):
    """A page of one part of the last analysis; with the counts of all parts, and the time and position of the analysis.

    Unless `exact`, counts of what lies down- and upstream are estimates. Without `flows`, whoever asks is limited to namespaces, and the
    other counts are of these.
    """

    part: str
    items: list[Raw]
    counts: dict[str, int]
    nodes: int
    exact: bool
    unused_days: int
    made_at: str
    position: str
    flows: int | UnsetType = UNSET


class KeyRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """An API key to create. `namespaces` (globs) and those of `teams` limit keys with the scopes `ingest` and `read`.

    Without `expires_in_s` it does not expire.
    """

    name: str
    scopes: list[KeyScope]
    namespaces: list[str] = []
    note: str = ""
    expires_in_s: int | None = None
    teams: list[str] = []


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
    teams: list[str] = []
    key: str | UnsetType = UNSET


class Keys(Struct, frozen=True):
    """The API keys, by name; those of one name are one principal."""

    keys: list[KeyItem]


class KeysRevoked(Struct, frozen=True):
    """How many keys were revoked."""

    revoked: int


class SessionItem(Struct, frozen=True, omit_defaults=True):
    """A browser that has logged in: whose it is, and the `issuer`. `id` is no secret. `address`: where its last request came from.

    Without `address`, the server was started after that request. `expires_at` is when it is over at the latest.
    """

    id: str
    principal: str
    issuer: str
    began_at: str
    last_used_at: str
    expires_at: str
    address: str = ""


class SessionsAnswer(Struct, frozen=True):
    """The sessions of browsers, the one that began last first."""

    sessions: list[SessionItem]


class SessionsEnded(Struct, frozen=True):
    """How many sessions were ended."""

    ended: int


class SessionInfo(Struct, frozen=True, omit_defaults=True):
    """Who sends the request, and what that principal may do; `principal` is empty for a program without credentials.

    For a browser that has logged in: where (`issuer`), until when at the latest, and the token that its pages send with what they write.
    """

    principal: str
    scopes: list[KeyScope]
    namespaces: list[str]
    issuer: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET
    csrf_token: str | UnsetType = UNSET


class LoggedOut(Struct, frozen=True):
    """Whether there was a session, which is over now. At `issuer_logout_url`, if there is one, a browser logs out at the issuer too."""

    ended: bool
    issuer_logout_url: str


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
