"""Keeps the keys of an issuer, and its addresses, up to date in a thread."""

import logging
import threading
from dataclasses import dataclass
from typing import Final

from lineage_bridge.access.oidc.endpoints import IssuerEndpoints, read_endpoints
from lineage_bridge.access.oidc.fetching import Fetch
from lineage_bridge.access.oidc.key_set import VerificationKeys, read_key_set
from lineage_bridge.config.people import IssuerSettings
from lineage_bridge.errors import SourceError

REFRESH_S: Final = 300.0
"""How often the keys are fetched, in seconds, if no token needs new ones."""
LEAST_S: Final = 10.0
"""The minimum interval between two fetches, in seconds."""
RETRY_S: Final = 30.0
"""The interval after a failed fetch, in seconds."""
_MOST_ASKED: Final = 200
_log = logging.getLogger(__name__)


class IssuerKeys:
    """Fetches the keys of an issuer, and keeps the set that the issuer published last."""

    def __init__(self, name: str, settings: IssuerSettings, fetch: Fetch, least_s: float = LEAST_S) -> None:
        self.keys, self.problem = VerificationKeys(), "the keys were not fetched yet"
        self.endpoints: IssuerEndpoints | None = None
        self._name, self._settings, self._fetch, self._least_s = name, settings, fetch, least_s
        self._begun = self._done = 0
        self._asked: dict[str, int] = {}
        self._wanted, self._stopping = threading.Event(), threading.Event()

    def start(self) -> None:
        """Begin to fetch the issuer's keys in a thread."""
        threading.Thread(target=self._run, name=f"keys of {self._name}", daemon=True).start()

    def close(self) -> None:
        """Stop fetching; a fetch in progress is not waited for."""
        self._stopping.set()
        self._wanted.set()

    def has_no_key(self, kid: str) -> bool:
        """Whether it is known that the issuer has no key with this id: a key set without it was fetched after a token first named this id.
        If no key set was fetched since then, returns False, and one will be fetched soon. Does not wait.
        """
        first = self._asked.setdefault(kid, self._begun)
        if len(self._asked) > _MOST_ASKED:
            self._asked.pop(next(iter(self._asked)), None)
        self._wanted.set()
        return self._done > first

    def refresh(self) -> None:
        """Fetch the keys of the issuer now. Raises SourceError."""
        self._begun += 1
        try:
            keys = self._fetched()
        except SourceError as error:
            self._note(str(error))
            return
        if keys != self.keys:
            self.keys = keys
        self._done = self._begun
        self._note("" if keys.keys else "the issuer's key set has no key that can be used")

    def _fetched(self) -> VerificationKeys:
        issuer = self._settings.issuer
        document = self._fetch(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise SourceError(
                f"the issuer at {issuer} calls itself {str(document.get('issuer'))[:200]!r}",
                "set `issuer` to exactly the address that it calls itself",
            )
        endpoints = read_endpoints(document, issuer)
        if not endpoints.keys:
            raise SourceError(f"the issuer {issuer} publishes no https address for its keys (jwks_uri)", "check `issuer` in the settings")
        keys = read_key_set(self._fetch(endpoints.keys), self._settings.algorithms)
        self.endpoints = endpoints
        return keys

    def _note(self, problem: str) -> None:
        """Store the current problem with the issuer (empty if there is none), and log it when it changes."""
        if problem and problem != self.problem:
            known = "the previous ones are used" if self.keys.keys else "its tokens are not accepted"
            _log.warning("the keys of the issuer %r cannot be fetched, %s: %s", self._name, known, problem)
        elif self.problem and not problem:
            _log.info("the issuer %r has %d keys", self._name, len(self.keys.keys))
        self.problem = problem

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.clear()
            try:
                self.refresh()
            except Exception as error:  # noqa: BLE001 - the boundary of a poll loop: the keys would never be fetched again
                self._note(f"unexpected: {error!r}")
            if self._stopping.wait(self._least_s):
                return
            self._wanted.wait(RETRY_S if self.problem else REFRESH_S)


@dataclass(frozen=True)
class TrustedIssuer:
    """An issuer whose tokens are accepted: its name in the settings, the settings themselves, and its keys."""

    name: str
    settings: IssuerSettings
    keys: IssuerKeys
