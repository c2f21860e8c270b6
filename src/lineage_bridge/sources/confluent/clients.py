"""The HTTP clients of one observer. Clients with the same credential share one rate limit."""

import threading
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient, TlsContext
from lineage_bridge.sources.common.rate_limiter import RateLimiter
from lineage_bridge.sources.common.settings import HttpSettings
from lineage_bridge.sources.confluent.hints import DISCOVERY, missing_key_hint
from lineage_bridge.sources.confluent.settings import ConfluentSettings, Credential

PAGE_SIZE = 100
"""Entries per page: the most that Confluent Cloud returns."""
_MISSING = object()


class Clients:
    """Creates and keeps HTTP clients: one for each user, address and credential. They are kept from poll to poll, with the entity tags
    of unchanged answers.
    """

    def __init__(self, settings: ConfluentSettings) -> None:
        self.settings = settings
        self._limiters: dict[tuple[str, str], RateLimiter] = {}
        self._clients: dict[tuple[str, str, str], HttpClient] = {}
        self._trust: TlsContext | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def start_poll(self, stop: threading.Event) -> None:
        """Start a poll. From now on, clients stop waiting and sending as soon as `stop` is set."""
        with self._lock:
            self._stop = stop
            for limiter in self._limiters.values():
                limiter.stop = stop

    def http(self, user: str, url: str, credential: Credential, limit: str, headers: dict[str, str] | None = None) -> HttpClient:
        """Return the client with which `user` (the key of a plane) calls `url`. `limit` names the rate limit that applies (cloud,
        metrics).
        """
        client_key, limiter_key = (user, url, credential.key), (limit, credential.key)
        with self._lock:
            if limiter_key not in self._limiters:
                self._limiters[limiter_key] = RateLimiter()
                self._limiters[limiter_key].stop = self._stop
            if client_key not in self._clients:
                access = self.access(url, credential)
                self._trust = self._trust or TlsContext(access)
                self._clients[client_key] = HttpClient(access, headers, self._limiters[limiter_key], self._trust)
            return self._clients[client_key]

    def control_plane(self) -> HttpClient:
        """Return the client that lists environments and clusters. Raises SourceError if there is no Cloud API key."""
        if self.settings.cloud is None:
            hint = missing_key_hint(self.settings, DISCOVERY, "")
            raise SourceError("no Cloud API key is set, so environments cannot be listed", hint)
        return self.http(DISCOVERY, self.settings.url, self.settings.cloud, "cloud")

    def rate_limiter(self, credential: Credential, limit: str) -> RateLimiter:
        """Return the rate limiter for this key and limit."""
        with self._lock:
            limiter = self._limiters.setdefault((limit, credential.key), RateLimiter())
            limiter.stop = self._stop
            return limiter

    def access(self, url: str, credential: Credential) -> HttpSettings:
        """The HTTP settings for calling `url` with a credential. Raises SourceError if `url` is not an address."""
        settings = self.settings
        try:
            return HttpSettings.model_validate(
                {
                    "url": url,
                    "username": credential.key,
                    "password": credential.secret,
                    "ca_file": settings.ca_file,
                    "at_once": settings.at_once,
                    "timeout_s": settings.timeout_s,
                    "interval_s": settings.interval_s,
                },
                context=settings.context,
            )
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise SourceError(f"'{url}' is not an HTTP address: {reason}", "correct the address in the settings") from error

    @property
    def requests(self) -> dict[str, int]:
        """The number of requests that each user (key of a plane) has sent so far."""
        sent: dict[str, int] = {}
        with self._lock:
            for (user, _, _), client in self._clients.items():
                sent[user] = sent.get(user, 0) + client.requests
        return sent

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()


def page_entries(page: object, what: str) -> list[Any]:
    """The entries of a page. Confluent Cloud writes null for an empty list. Raises SourceError; its message names `what`, the request."""
    data = page.get("data", _MISSING) if isinstance(page, Mapping) else _MISSING
    if data is None:
        return []
    if not isinstance(data, list):
        raise SourceError(f"{what} did not return a list", "check that the address is that of Confluent Cloud's API")
    return data


def list_all(http: HttpClient, path: str, key: str = "id", **parameters: str) -> list[Mapping[str, Any]]:
    """Fetch all entries of a paged listing. If two have the same value of `key`, the last one is used. Raises the errors of
    `HttpClient.get`.
    """
    found: list[Mapping[str, Any]] = []
    for page in http.pages(path, page_size=PAGE_SIZE, **parameters):
        found += [entry for entry in page_entries(page, f"GET {path}") if isinstance(entry, dict)]
    return list({str(entry.get(key) or position): entry for position, entry in enumerate(found)}.values())
