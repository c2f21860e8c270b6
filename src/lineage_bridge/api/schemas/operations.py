"""The responses about the state of the server, its principals and its audit trail, and the requests that operate it."""

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
    """How many bytes the log uses, and how many are free on its disk."""

    used_bytes: int
    free_bytes: int


class Health(Struct, frozen=True, omit_defaults=True, tag_field="status", tag="ok"):
    """The process answers. `disk` is present for principals with the scope `read`."""

    disk: DiskUse | UnsetType = UNSET


class PartState(Struct, frozen=True):
    """The state of a part of the server; "ok" if it works."""

    state: str
    detail: str


class PartStates(Struct, frozen=True):
    """The parts of the server. It is ready if all work; a damaged log is an exception, because its readable records are used.

    Three states are only present if they apply, and the server is ready even if they are bad: `issuers` (of tokens) is "ok" if their keys
    could be fetched at the last try, `inputs` if all inputs are read, `targets` if all targets with continuous publishing receive changes.
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
    """The number of damaged byte ranges of the event log, of those that no operator has acknowledged, and of unreadable bytes."""

    places: int
    unacknowledged: int
    unreadable_bytes: int


class Readiness(Struct, frozen=True):
    """Whether the whole server works, and the state of each of its parts."""

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
    """A page of one part of the last analysis, with the counts of all parts, and the time and position of the analysis.

    Unless `exact`, counts of down- and upstream nodes are estimates. `flows` is absent for principals that are limited to namespaces;
    the other counts are then of their namespaces.
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
    """An API key to create. A key with only the scopes `ingest` and `read` can be limited to `namespaces` (globs) and to the namespaces of
    `teams`.

    Without `expires_in_s` it does not expire.
    """

    name: str
    scopes: list[KeyScope]
    namespaces: list[str] = []
    note: str = ""
    expires_in_s: int | None = None
    teams: list[str] = []


class RotateRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """For how many seconds the previous key stays valid."""

    grace_s: int = 86_400


class KeyItem(Struct, frozen=True, omit_defaults=True):
    """An API key. `key` is its text, which is only in the answer that creates it."""

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
    """The API keys, sorted by name. Keys with the same name are the same principal."""

    keys: list[KeyItem]


class KeysRevoked(Struct, frozen=True):
    """How many keys were revoked."""

    revoked: int


class PinRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A view of the web page: its address from `view/` on, as the page writes it, and what it shows, for people."""

    address: str
    name: str = ""


class PinItem(Struct, frozen=True):
    """A pin: `view/pin/<id>` of the page leads to the view at `address`. The pin contains no data of the view. `author` is the principal
    that kept it.
    """

    id: str
    address: str
    name: str
    author: str
    created_at: str


class PinsAnswer(Struct, frozen=True):
    """Pins, the newest first."""

    pins: list[PinItem]


class PinRemoved(Struct, frozen=True):
    """Whether the pin was removed by this request, and not by another one at the same time."""

    removed: bool


class SessionItem(Struct, frozen=True, omit_defaults=True):
    """The session of a logged-in browser: its principal, and the `issuer`. `id` is not secret. `address`: where its last request came
    from.

    `address` is absent if the server was started after that request. `expires_at` is the latest time at which the session ends.
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
    """The principal of the request and its scopes; `principal` is empty for a program without credentials.

    For a logged-in browser also its `issuer`, the latest end of the session, and the CSRF token that writes of its pages must contain.
    """

    principal: str
    scopes: list[KeyScope]
    namespaces: list[str]
    issuer: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET
    csrf_token: str | UnsetType = UNSET


class LoggedOut(Struct, frozen=True):
    """Whether there was a session, which has now ended. `issuer_logout_url`, if present, is where the browser also logs out at the
    issuer.
    """

    ended: bool
    issuer_logout_url: str


class AuditItem(Struct, frozen=True, omit_defaults=True):
    """An entry of the audit trail. `details` is JSON without secrets, or empty. An erased entry has only its time, its action and its
    hashes.
    """

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
    """Entries of the audit trail, the newest first."""

    changes: list[AuditItem]
