"""The HTTP clients of one observer: those with one credential share its limit."""

import threading
from collections.abc import Mapping
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient, TlsContext
from lineage_bridge.sources.common.rate_limiter import RateLimiter
from lineage_bridge.sources.common.settings import HttpSettings
from lineage_bridge.sources.confluent.settings import ConfluentSettings, Credential

PAGE = 100
"""Entries of a page: as many as Confluent Cloud gives."""


class Clients:
    """One client for each user of it, address and credential; kept from poll to poll, with what they know of unchanged answers."""

    def __init__(self, settings: ConfluentSettings) -> None:
        self.settings = settings
        self._gates: dict[tuple[str, str], RateLimiter] = {}
        self._clients: dict[tuple[str, str, str], HttpClient] = {}
        self._trust: TlsContext | None = None
        self._making = threading.Lock()
        self._stop = threading.Event()

    def begin(self, stop: threading.Event) -> None:
        """From now on `stop` ends all waiting and asking."""
        with self._making:
            self._stop = stop
            for gate in self._gates.values():
                gate.stop = stop

    def http(self, user: str, url: str, credential: Credential, limit: str, headers: dict[str, str] | None = None) -> HttpClient:
        """The client that `user` (a plane's key) asks `url` with. `limit`: which of the key's limits counts its calls (cloud, metrics)."""
        client, gate = (user, url, credential.key), (limit, credential.key)
        with self._making:
            if gate not in self._gates:
                self._gates[gate] = RateLimiter()
                self._gates[gate].stop = self._stop
            if client not in self._clients:
                access = self.access(url, credential)
                self._trust = self._trust or TlsContext(access)
                self._clients[client] = HttpClient(access, headers, self._gates[gate], self._trust)
            return self._clients[client]

    def gate(self, credential: Credential, limit: str) -> RateLimiter:
        """The gate that calls with this key under this limit pass."""
        with self._making:
            gate = self._gates.setdefault((limit, credential.key), RateLimiter())
            gate.stop = self._stop
            return gate

    def access(self, url: str, credential: Credential) -> HttpSettings:
        """How a system at `url` is asked with a credential."""
        told = self.settings
        return HttpSettings(
            url=url,
            username=credential.key,
            password=credential.secret,
            ca_file=told.ca_file,
            at_once=told.at_once,
            timeout_s=told.timeout_s,
            interval_s=told.interval_s,
        )

    @property
    def requests(self) -> dict[str, int]:
        """How many calls each user has sent so far."""
        sent: dict[str, int] = {}
        with self._making:
            for (user, _, _), client in self._clients.items():
                sent[user] = sent.get(user, 0) + client.requests
        return sent

    def close(self) -> None:
        """Let go of connections."""
        for client in self._clients.values():
            client.close()


def listed(http: HttpClient, path: str, key: str = "id", **parameters: str) -> list[Mapping[str, Any]]:
    """All entries of a listing, over its pages; of one whose `key` comes twice the last, all that have none. Raises as `Http.get` does."""
    found: list[Mapping[str, Any]] = []
    for page in http.pages(path, page_size=PAGE, **parameters):
        data = page.get("data") if isinstance(page, dict) else None
        if not isinstance(data, list):
            raise SourceError(f"GET {path} answered no list")
        found += [one for one in data if isinstance(one, dict)]
    return list({str(one.get(key) or at): one for at, one in enumerate(found)}.values())
