"""Hands what sources tell to the API, the one door of all events."""

import logging
from types import TracebackType

import httpx
from typing_extensions import Self

from lineage_bridge.errors import UnavailableError
from lineage_bridge.ports.sources import OutboxMessage

TIMEOUT_S = 60.0
log = logging.getLogger(__name__)


class OutboxDispatcher:
    """Delivers to the API at `address`."""

    def __init__(self, address: str) -> None:
        # Settings of proxies in the environment are for the world outside.
        self._http = httpx.Client(base_url=address, timeout=TIMEOUT_S, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def __call__(self, parcel: OutboxMessage) -> None:
        """Deliver. An event that the door refuses is kept in quarantine, and so delivered. Raises UnavailableError to be called again."""
        try:
            response = self._http.post(parcel.path, content=parcel.body, headers={"Content-Type": "application/json"})
        except httpx.HTTPError as error:
            raise UnavailableError(f"the API does not answer: {str(error) or type(error).__name__}") from error
        if response.status_code >= 500 or response.status_code in (408, 429):
            raise UnavailableError(f"the API answered {response.status_code}")
        if response.is_error:
            log.error("%s refused what a source told with %d: %.300s", parcel.path, response.status_code, response.text)
