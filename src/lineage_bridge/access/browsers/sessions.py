"""Keeps the sessions of browsers, within limits of their number and duration."""

import hashlib
import hmac
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

from lineage_bridge.access.roles import Roles
from lineage_bridge.errors import NotFoundError, OverloadedError
from lineage_bridge.model.access import BrowserSession, LoginIdentity, Principal
from lineage_bridge.ports.sessions import SessionRepository

SECRET_BYTES: Final = 32
_DIGEST: Final = b"session\0"
_CSRF: Final = b"csrf\0"


@dataclass(frozen=True)
class OpenSession:
    """An active session, as administrators see it. `used_us` is the time of its last request, `address` the address from which that request
    came, if known.

    The address is kept in memory only.
    """

    session: BrowserSession
    used_us: int
    address: str = ""


@dataclass(frozen=True)
class SessionLimits:
    """The limits of sessions: one ends when it was not used for `idle_us`, and `whole_us` after its login.

    There are at most `most` sessions. If a principal already has `most_of_principal` sessions, a new one ends the principal's oldest
    session.
    """

    idle_us: int
    whole_us: int
    most: int = 10_000
    most_of_principal: int = 20


class Sessions:
    """The sessions of this server. Safe for many threads at once; `find` does not wait.

    A session is identified by a secret of 256 random bits, of which only a digest is stored: HMAC-SHA-256 with the installation's key. The
    rights of a principal follow from the roles in the settings at each start; sessions of issuers that are no longer configured end.
    """

    def __init__(
        self,
        repository: SessionRepository,
        roles: Roles,
        issuers: Collection[str],
        installation_key: bytes,
        clock_us: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        limits: SessionLimits,
    ) -> None:
        self._repository, self._roles, self._limits = repository, roles, limits
        self._key, self._clock_us, self._random_bytes = installation_key, clock_us, random_bytes
        self._open: dict[bytes, tuple[BrowserSession, Principal]] = {}
        self._used: dict[bytes, int] = {}
        self._addresses: dict[bytes, str] = {}
        self._lock = threading.Lock()
        stored = repository.records()
        repository.replace([session.digest for session in stored if session.identity.issuer not in issuers])
        for session in stored:
            if session.identity.issuer in issuers:
                self._open[session.digest] = session, self._principal(session.identity)

    def begin(self, identity: LoginIdentity, replaced: str = "", address: str = "") -> str:
        """Begin a session for a browser at an address, and return its secret. `replaced` is the secret of the browser's previous
        session, which ends.

        Raises OverloadedError if there are too many.
        """
        secret = urlsafe_b64encode(self._random_bytes(SECRET_BYTES)).rstrip(b"=").decode()
        now_us = self._clock_us()
        session = BrowserSession(self._digest(secret), identity, now_us, now_us, now_us + self._limits.whole_us)
        with self._lock:
            ended = {self._digest(replaced)} & self._open.keys() | self._over(now_us) | self._oldest_of(identity.principal)
            if len(self._open) - len(ended) >= self._limits.most:
                raise OverloadedError("too many sessions are active", "raise the setting max_sessions, or wait until sessions end")
            self._repository.replace(ended, session)
            self._forget(ended)
            self._open[session.digest] = session, self._principal(identity)
            self._addresses[session.digest] = address
        return secret

    def find(self, secret: str, address: str = "") -> tuple[BrowserSession, Principal] | None:
        """Find the active session with this secret, and its principal; None if there is none. The time and address of this use are
        recorded.
        """
        digest = self._digest(secret)
        found, now_us = self._open.get(digest), self._clock_us()
        if found is None or self._is_over(found[0], now_us):
            return None
        self._used[digest] = now_us
        if address:
            self._addresses[digest] = address
        return found

    def records(self) -> list[OpenSession]:
        """The active sessions, newest first."""
        now_us = self._clock_us()
        with self._lock:
            found = [session for session, _ in self._open.values() if not self._is_over(session, now_us)]
            shown = [OpenSession(session, self._last_use(session), self._addresses.get(session.digest, "")) for session in found]
        return sorted(shown, key=lambda each: (-each.session.created_us, each.session.id))

    def end_named(self, name: str) -> int:
        """End the session with this id, or all sessions of the principal with this name. Their next requests are refused. Returns how many
        sessions were ended.

        Raises NotFoundError if there is none.
        """
        with self._lock:
            every = [session for session, _ in self._open.values()]
            named = [session.digest for session in every if name in (session.id, session.identity.principal)]
            if not named:
                raise NotFoundError(
                    f"there is no session {name!r}, and no session of a principal of this name",
                    "`lineage-bridge session list` shows the sessions",
                )
            self._repository.replace(named)
            self._forget(named)
        return len(named)

    def end(self, secret: str) -> LoginIdentity | None:
        """End the session with this secret, and return the identity of its user; None if there is no such session."""
        digest = self._digest(secret)
        with self._lock:
            found = self._open.get(digest)
            if found is None:
                return None
            self._repository.replace([digest])
            self._forget([digest])
        return found[0].identity

    def csrf_token(self, secret: str) -> str:
        """The token that pages of a session send with every change. It is derived from the session's secret, which pages cannot read."""
        return urlsafe_b64encode(self._hash(_CSRF, secret)).rstrip(b"=").decode()

    def tidy(self) -> None:
        """Store the times when sessions were last used, and remove sessions that have ended."""
        with self._lock:
            used = {digest: used_us for digest, used_us in dict(self._used).items() if self._is_later_use(digest, used_us)}
            if used:
                self._repository.note_uses(used)
            for digest, used_us in used.items():
                session, principal = self._open[digest]
                self._open[digest] = replace(session, used_us=used_us), principal
            over = self._over(self._clock_us())
            if over:
                self._repository.replace(over)
            self._forget(over | ({*self._used, *self._addresses} - self._open.keys()))

    def _is_later_use(self, digest: bytes, used_us: int) -> bool:
        """Whether a session was used later than the time that is stored for it."""
        return digest in self._open and used_us > self._open[digest][0].used_us

    def _principal(self, identity: LoginIdentity) -> Principal:
        return self._roles.principal(identity.principal, identity.issuer, identity.roles)

    def _is_over(self, session: BrowserSession, now_us: int) -> bool:
        return now_us >= session.expires_us or now_us - self._last_use(session) >= self._limits.idle_us

    def _last_use(self, session: BrowserSession) -> int:
        return max(session.used_us, self._used.get(session.digest, 0))

    def _over(self, now_us: int) -> set[bytes]:
        return {session.digest for session, _ in self._open.values() if self._is_over(session, now_us)}

    def _oldest_of(self, principal: str) -> set[bytes]:
        """The oldest sessions of a principal, which must end so that another one can begin."""
        own = [session.digest for session, _ in self._open.values() if session.identity.principal == principal]
        return set(own[: max(0, len(own) - self._limits.most_of_principal + 1)])

    def _forget(self, digests: Collection[bytes]) -> None:
        for digest in digests:
            self._open.pop(digest, None)
            self._used.pop(digest, None)
            self._addresses.pop(digest, None)

    def _digest(self, secret: str) -> bytes:
        return self._hash(_DIGEST, secret)

    def _hash(self, purpose: bytes, secret: str) -> bytes:
        return hmac.new(self._key, purpose + secret.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
