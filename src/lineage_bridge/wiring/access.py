"""Sets up API keys, and the rules about who may use the server."""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from secrets import token_bytes
from typing import Final

from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.keys import ApiKeys, internal_key
from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.store.state.keys import ApiKeyRepository, WatchedKeys
from lineage_bridge.wiring.logins import login_clients
from lineage_bridge.wiring.people import knows_people, people, teams
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import state_database

RECHECK_US: Final = 5_000
"""Microseconds between two checks for keys changed by another process. A check takes longer than validating an event."""
NOTE_USES_S: Final = 60.0
"""Seconds between two writes of the keys' last uses."""


def key_service(settings: Settings, on_change: Callable[[], None] = lambda: None) -> ApiKeys:
    """The service for the API keys of a data folder, whether or not a server runs on it."""
    state = state_database(settings)
    return ApiKeys(ApiKeyRepository(state), state.key(), now_us, token_bytes, on_change, teams(settings))


def asks_for_keys(settings: Settings) -> bool:
    """Whether the server refuses requests without credentials. Raises ConfigError for settings that contradict each other."""
    if settings.insecure_open and settings.auth == "required":
        raise ConfigError("insecure_open and auth = 'required' contradict each other", "remove one of the two settings")
    return settings.auth == "required" or not (settings.is_local or settings.insecure_open)


def check_reachable(settings: Settings) -> None:
    """Check that somebody can authenticate at a server that requires credentials (there is an active key, an issuer or a proxy), and that
    the settings for logins can work. Raises ConfigError.
    """
    login_clients(settings, people(settings))
    if (
        not knows_people(settings)
        and asks_for_keys(settings)
        and not any(key.state(now_us()) == "active" for key in key_service(settings).records())
    ):
        where = f"external_url {settings.external_url!r}" if settings.is_on_loopback else f"host {settings.host!r}"
        why = "auth = 'required'" if settings.is_local else f"the API listens on {where}, which other machines can reach"
        hint = "create a key with lineage-bridge key create NAME --scope read, or let everybody in with --insecure-open"
        raise ConfigError(f"{why}, and there is no active API key", hint)


def authenticator(settings: Settings, stack: ExitStack) -> KeyAuthenticator:
    """Create the authenticator of API keys, and write the internal key of LineageBridge's own processes to its file. When `stack` is
    closed, the times of the last uses of keys are stored.
    """
    state = state_database(settings)
    key, text = internal_key(state.key(), now_us(), token_bytes)
    _write_private(settings, text)
    watched = WatchedKeys(state)
    stack.callback(watched.close)
    found = KeyAuthenticator(watched, state.key(), now_us, (key,), RECHECK_US, teams(settings))
    stack.callback(_KeyUses(found, ApiKeyRepository(state)).close)
    return found


class _KeyUses:
    """Stores once a minute, and at the end, when keys were last used."""

    def __init__(self, authenticator: KeyAuthenticator, repository: ApiKeyRepository) -> None:
        self._authenticator, self._repository = authenticator, repository
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="key-uses", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, and store the last uses."""
        self._stop.set()
        self._thread.join()
        self._store()

    def _run(self) -> None:
        while not self._stop.wait(NOTE_USES_S):
            self._store()

    def _store(self) -> None:
        uses = self._authenticator.take_uses()
        if uses:
            self._repository.note_uses(uses)


def _write_private(settings: Settings, text: str) -> None:
    """Write the internal key to its file, which only this user may read. The file is replaced as a whole."""
    path = settings.paths.internal_key
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text + "\n")
    fresh.replace(path)
