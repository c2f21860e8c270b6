"""API keys: create, list, revoke and rotate them."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from lineage_bridge.access.key_text import digest_of, make_key
from lineage_bridge.access.teams import LIMITABLE, Teams
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.model.access import ALL_SCOPES, AccessScope, ApiKey, KeyOptions
from lineage_bridge.ports.access import KeyRepository

INTERNAL: Final = "lineage-bridge"
"""The principal of LineageBridge's own processes."""
MOST_NAMESPACES, MOST_CHARACTERS = 100, 500
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@/+-]{0,99}")
_LIST: Final = "lineage-bridge key list shows the keys"


class ApiKeys:
    """Implements `ports.KeyService`. `random_bytes` must be a source of random bytes that is fit for secrets; `on_change` is called
    after each change.
    """

    def __init__(
        self,
        repository: KeyRepository,
        installation_key: bytes,
        clock_us: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        on_change: Callable[[], None] = lambda: None,
        teams: Teams | None = None,
    ) -> None:
        self._repository, self._installation_key = repository, installation_key
        self._clock_us, self._random_bytes, self._on_change = clock_us, random_bytes, on_change
        self._teams = teams or Teams()

    def create(self, options: KeyOptions, by: str) -> tuple[ApiKey, str]:
        """Create an API key, and return it with its text. Raises RequestError."""
        now_us = self._clock_us()
        _check(options, now_us)
        self._teams.require(options.teams, f"the key {options.name!r}")
        key, text = self._made(options, by, now_us)
        if not self._repository.add(key):
            raise RequestError(f"there is an active key {options.name!r}", "choose another name, or replace it: lineage-bridge key rotate")
        self._on_change()
        return key, text

    def records(self) -> Sequence[ApiKey]:
        """All keys."""
        return self._repository.records()

    def revoke(self, name: str) -> int:
        """Revoke the keys with this name, or the one with this id. Raises NotFoundError."""
        revoked = self._repository.revoke(name, self._clock_us())
        self._on_change()
        if not revoked and all(name not in (key.name, key.id) for key in self.records()):
            raise NotFoundError(f"there is no key {name!r}", _LIST)
        return revoked

    def rotate(self, name: str, grace_us: int, by: str) -> tuple[ApiKey, str]:
        """Replace a key by a new one. The old one stays valid for `grace_us`. Raises NotFoundError."""
        now_us = self._clock_us()
        active = [key for key in self.records() if key.name == name and key.state(now_us) == "active"]
        if not active:
            raise NotFoundError(f"there is no active key {name!r}", _LIST)
        newest = active[-1]
        lasts_us = None if newest.expires_us is None else newest.expires_us - newest.created_us
        expires_us = None if lasts_us is None else now_us + lasts_us
        key, text = self._made(KeyOptions(name, newest.scopes, newest.namespaces, newest.note, expires_us, newest.teams), by, now_us)
        if not self._repository.add(key, now_us + grace_us):
            raise NotFoundError(f"there is no active key {name!r} any more", _LIST)
        self._on_change()
        return key, text

    def _made(self, options: KeyOptions, by: str, now_us: int) -> tuple[ApiKey, str]:
        id_, text = make_key(self._random_bytes)
        digest = digest_of(text, self._installation_key)
        made = ApiKey(
            id_, options.name, digest, options.scopes, options.namespaces, options.note, now_us, by, options.expires_us, teams=options.teams
        )
        return made, text


def internal_key(installation_key: bytes, now_us: int, random_bytes: Callable[[int], bytes]) -> tuple[ApiKey, str]:
    """Create the API key of LineageBridge's own processes. Its text is stored only in a file for these processes."""
    id_, text = make_key(random_bytes)
    return ApiKey(id_, INTERNAL, digest_of(text, installation_key), ALL_SCOPES, (), "", now_us, is_internal=True), text


def _check(options: KeyOptions, now_us: int) -> None:
    """Check the options of a new key. Raises RequestError if they do not make a valid key."""
    if not _NAME.fullmatch(options.name) or options.name == INTERNAL:
        hint = "use up to 100 letters, digits and . _ @ / + -, first a letter or digit"
        raise RequestError(f"{options.name!r} is not a valid name of a key", hint, {"name": f"it is not a valid name: {hint}"})
    if not options.scopes:
        raise RequestError(f"the key {options.name!r} has no scope", f"choose one or more of {', '.join(AccessScope)}")
    if (options.namespaces or options.teams) and not options.scopes <= LIMITABLE:
        raise RequestError(
            "a key that is limited to namespaces can only have the scopes 'ingest' and 'read'", "create a second key for the other scopes"
        )
    limits = (*options.namespaces, *options.teams)
    if len(limits) > MOST_NAMESPACES or any(not 0 < len(glob) <= MOST_CHARACTERS for glob in limits):
        raise RequestError(
            "the key has too many namespaces and teams, or one of them is empty or too long",
            f"give at most {MOST_NAMESPACES} namespaces and teams, each of 1 to {MOST_CHARACTERS} characters",
        )
    if len(options.note) > MOST_CHARACTERS:
        raise RequestError("the key's note is too long", f"use up to {MOST_CHARACTERS} characters")
    if options.expires_us is not None and options.expires_us <= now_us:
        raise RequestError("the key's expiry is in the past", "choose a later expiry")
