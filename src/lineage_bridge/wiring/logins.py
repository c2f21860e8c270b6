"""Sets up logins with a browser at the issuers in the settings, and the sessions that follow."""

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from secrets import token_bytes
from typing import Final, NamedTuple

from lineage_bridge.access.browsers.code_exchange import LoginClient
from lineage_bridge.access.browsers.logins import Logins
from lineage_bridge.access.browsers.sessions import SessionLimits, Sessions
from lineage_bridge.access.browsers.signed_in import SignedInBrowsers
from lineage_bridge.access.oidc.fetching import IssuerClient
from lineage_bridge.access.oidc.issuer_keys import TrustedIssuer
from lineage_bridge.config import Settings
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.settings import SecretReference, reveal
from lineage_bridge.store.state.sessions import BrowserSessionRepository
from lineage_bridge.wiring.people import People
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import source_context, state_database

CALLBACK: Final = "/auth/callback"
TIDY_S: Final = 60.0
"""Seconds between two writes of the sessions' last uses, which also remove expired sessions."""
_SECOND_US: Final = 1_000_000
_log = logging.getLogger(__name__)


class BrowserLogins(NamedTuple):
    """The services of the API for logins; empty if no issuer has a client id."""

    logins: Logins | None = None
    browsers: SignedInBrowsers | None = None


def browser_logins(settings: Settings, known: People, stack: ExitStack) -> BrowserLogins:
    """Create the logins that the settings define, and load the sessions. When `stack` is closed, the times of the last uses of sessions are
    stored. Raises ConfigError.
    """
    clients = login_clients(settings, known)
    if not clients:
        return BrowserLogins()
    external, state = _external(settings), state_database(settings)
    limits = SessionLimits(settings.session_idle_s * _SECOND_US, settings.session_s * _SECOND_US, settings.max_sessions)
    issuers = {client.issuer.name for client in clients}
    sessions = Sessions(BrowserSessionRepository(state), known.roles, issuers, state.key(), now_us, token_bytes, limits)
    stack.callback(_Tidying(sessions.tidy).close)
    return BrowserLogins(Logins(clients, known.roles, external.url + CALLBACK, now_us, token_bytes), SignedInBrowsers(sessions, external))


def login_clients(settings: Settings, known: People) -> list[LoginClient]:
    """Describe this server as an application of each issuer that gave it a client id. Raises ConfigError for settings that cannot be
    used.
    """
    issuers = [issuer for issuer in known.issuers if issuer.settings.client_id]
    if issuers:
        _external(settings)
    return [LoginClient(issuer, IssuerClient(issuer.settings.ca_file), _secret(settings, issuer)) for issuer in issuers]


def _external(settings: Settings) -> ExternalAddress:
    external = settings.external
    if external is None:
        raise ConfigError(
            "an issuer has a client_id, but external_url is not set", "set `external_url` to the address at which browsers reach the server"
        )
    if not external.is_secure and not external.is_on_loopback:
        raise ConfigError(
            f"people cannot log in at {external.url}, because the connection is not encrypted",
            "set `external_url` to an https address, and enable TLS in the server or in a proxy before it",
        )
    return external


def _secret(settings: Settings, issuer: TrustedIssuer) -> str:
    text = issuer.settings.client_secret
    if not text:
        return ""
    try:
        return reveal(SecretReference(text, source_context(settings).secrets))
    except ValueError as error:
        raise ConfigError(
            f"oidc.{issuer.name}.client_secret cannot be resolved: {error}", "docs/secrets.md describes references"
        ) from error


class _Tidying:
    """Runs a function once a minute, and at the end."""

    def __init__(self, tidy: Callable[[], None]) -> None:
        self._tidy, self._stop = tidy, threading.Event()
        self._thread = threading.Thread(target=self._run, name="sessions", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and run the function a last time."""
        self._stop.set()
        self._thread.join()
        self._tidy()

    def _run(self) -> None:
        while not self._stop.wait(TIDY_S):
            self._try()

    def _try(self) -> None:
        try:
            self._tidy()
        except Exception as error:  # noqa: BLE001 - the boundary of a poll loop: sessions would never be tidied again
            _log.warning("sessions could not be stored: %r", error)
