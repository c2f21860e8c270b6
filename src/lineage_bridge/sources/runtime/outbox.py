"""Sends the events and aliases of sources to the API, the only way into the log."""

import logging
import ssl
from collections.abc import Callable
from types import TracebackType

import httpx
from typing_extensions import Self

from lineage_bridge.errors import ConfigError, UnavailableError
from lineage_bridge.ports.sources import OutboxMessage
from lineage_bridge.tracing import span, trace_headers

TIMEOUT_S = 60.0
_LATER = frozenset({401, 403, 408, 429})
"""Statuses after which a message is sent again, because the message is not their cause. 401 and 403: the API was restarted with another
key."""
log = logging.getLogger(__name__)


class OutboxDispatcher:
    """Sends the messages of the outbox to the API at `address`, with the API key that `key` returns.

    `trusted` returns which servers are trusted, as httpx's `verify`; it is called again after a failure, because the server's certificate
    may have been replaced.
    """

    def __init__(self, address: str, key: Callable[[], str], trusted: Callable[[], ssl.SSLContext | bool] = lambda: True) -> None:
        self._address, self._key, self._trusted = address, key, trusted
        self._http = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def __call__(self, message: OutboxMessage) -> None:
        """Send a message. Events that the API puts into quarantine count as sent. Raises UnavailableError if the message must be
        sent again.
        """
        with span("deliver events", {"url.path": message.path}, kind="CLIENT"):
            self._send(message)

    def _send(self, message: OutboxMessage) -> None:
        try:
            key = self._key()
            credentials = {"Authorization": f"Bearer {key}"} if key else {}
            headers = {"Content-Type": "application/json", **credentials, **trace_headers()}
            response = self._http.post(message.path, content=message.body, headers=headers)
        except httpx.HTTPError as error:
            self._open_again()
            raise UnavailableError(
                f"the API does not answer: {str(error) or type(error).__name__}", "check that `lineage-bridge serve` or `api` is running"
            ) from error
        if response.status_code >= 500 or response.status_code in _LATER:
            raise UnavailableError(f"the API answered {response.status_code}", "the events are kept and sent again; see the API's log")
        if response.is_error:
            log.error("%s refused a message of a source with %d: %.300s", message.path, response.status_code, response.text)

    def _open_again(self) -> None:
        try:
            fresh = self._open()
        except ConfigError as error:  # the certificate is just being replaced
            log.warning("%s", error)
            return
        self._http.close()
        self._http = fresh

    def _open(self) -> httpx.Client:
        # Proxies in the environment are for calls to other machines.
        return httpx.Client(base_url=self._address, timeout=TIMEOUT_S, trust_env=False, verify=self._trusted())
