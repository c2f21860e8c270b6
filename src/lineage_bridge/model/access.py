"""Principals and their credentials: who sends a request, and what the sender may do."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from lineage_bridge.graph.identity.limits import matches


class AccessScope(str, Enum):
    """A scope: what a principal may do. No scope includes another.

    `ingest` sends events, `read` asks questions, `operate` changes the graph and what is observed, `admin` manages keys and sessions.
    """

    INGEST = "ingest"
    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


ALL_SCOPES = frozenset(AccessScope)


@dataclass(frozen=True)
class Visibility:
    """What a principal that is limited to namespaces may see. Its own datasets and jobs have a name in a namespace that one of these globs
    matches.

    Of other nodes, the principal sees the names of direct neighbours of its own nodes if `neighbours` is set, and no other names.
    """

    namespaces: tuple[str, ...]
    neighbours: bool = True

    def owns(self, namespace: str) -> bool:
        """Whether the nodes of a namespace are the principal's own."""
        return matches(namespace, self.namespaces)

    def owned(self, namespaces: Iterable[str]) -> frozenset[str]:
        """The namespaces among these that are the principal's own."""
        return frozenset(filter(self.owns, namespaces))


NOWHERE = Visibility((), neighbours=False)
"""Sees nothing."""


@dataclass(frozen=True)
class Principal:
    """The sender of a request. `name` is stored in the log records of its events; it is empty for a program without credentials.

    `namespaces` are globs. If there are any, the namespace of each event's job (for a DatasetEvent, of its dataset) must match one of them.
    `visibility` says what the principal may see of the graph; None: everything. `is_internal`: the principal is one of LineageBridge's own
    processes.
    """

    name: str
    scopes: frozenset[AccessScope]
    namespaces: tuple[str, ...] = ()
    visibility: Visibility | None = None
    is_internal: bool = False

    def may_send(self, namespace: str) -> bool:
        """Whether the principal may send events of jobs in this namespace."""
        return not self.namespaces or matches(namespace, self.namespaces)


@dataclass(frozen=True)
class ApiKey:
    """An API key without its secret. Keys with the same name are one principal.

    `digest` is the digest of the secret. If there are any, `namespaces` (globs) and the namespaces of `teams` limit what the key's
    principal may send and see. Times are UTC microseconds; `used_us` is at most a minute behind. `created_by` is a principal, empty for the
    command line on the server's machine. `is_internal`: only LineageBridge's own processes have it.
    """

    id: str
    name: str
    digest: bytes
    scopes: frozenset[AccessScope]
    namespaces: tuple[str, ...]
    note: str
    created_us: int
    created_by: str = ""
    expires_us: int | None = None
    revoked_us: int | None = None
    used_us: int | None = None
    teams: tuple[str, ...] = ()
    is_internal: bool = False

    def state(self, now_us: int) -> Literal["active", "expired", "revoked"]:
        """The state of the key: `active`, `expired` or `revoked`."""
        if self.revoked_us is not None:
            return "revoked"
        return "expired" if self.expires_us is not None and self.expires_us <= now_us else "active"


@dataclass(frozen=True)
class KeyOptions:
    """A key to create; without `expires_us` it does not expire."""

    name: str
    scopes: frozenset[AccessScope]
    namespaces: tuple[str, ...] = ()
    note: str = ""
    expires_us: int | None = None
    teams: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoginIdentity:
    """Who has logged in: the principal's name, the issuer at which the login took place, and the principal's roles that are in the
    settings.
    """

    principal: str
    issuer: str
    roles: tuple[str, ...]


@dataclass(frozen=True)
class BrowserSession:
    """The session of a browser, without the secret in its cookie. `digest` is the digest of that secret.

    Times are UTC microseconds; `used_us` is at most a minute behind.
    """

    digest: bytes
    identity: LoginIdentity
    created_us: int
    used_us: int
    expires_us: int

    @property
    def id(self) -> str:
        """The id that people use for the session. It is not secret: neither digest nor cookie can be derived from it."""
        return hashlib.sha256(b"session id\0" + self.digest).hexdigest()[:16]
