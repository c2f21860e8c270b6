"""Sends validated records to the API. The API appends them to the log, because it is the only process that writes the log."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final
from urllib.parse import quote

import httpx
import msgspec
from typing_extensions import Self

from lineage_bridge.conversion import decode
from lineage_bridge.errors import ConfigError, GoneError, NotFoundError, RequestError, UnavailableError
from lineage_bridge.ports.inputs import InputBatch, InputPositions, InputStart, pack_batch
from lineage_bridge.tracing import span, trace_headers

TIMEOUT_S = 60.0
MEDIA_TYPE: Final = "application/msgpack"
_LATER: Final = frozenset({401, 403, 408, 429})
"""HTTP statuses which mean that the API was restarted and now has another key."""
_ERRORS: Final[Mapping[int, type[NotFoundError | GoneError]]] = {404: NotFoundError, 410: GoneError}


class IntakeClient:
    """Implements `ports.InputLog` over HTTP, for several threads.

    `key` returns the API key of LineageBridge's own processes, `trusted` which servers are trusted, as httpx's `verify`. All methods raise
    UnavailableError if the call should be repeated, GoneError if the API was restarted, NotFoundError if the input was removed.
    """

    def __init__(self, address: str, key: Callable[[], str], trusted: Callable[[], ssl.SSLContext | bool] = lambda: True) -> None:
        self._address, self._key, self._trusted = address, key, trusted
        self._http = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def positions(self, name: str, files: Sequence[str] = ()) -> InputPositions:
        """The positions from which an input continues; with keys of files, the positions in those files."""
        what = f"positions?files={quote(','.join(files))}" if files else "positions"
        return decode(self._call("GET", name, what), InputPositions)

    def begin(self, name: str, start: InputStart) -> None:
        """Store where reading begins in partitions that have no position yet."""
        self._call("POST", name, "positions", msgspec.json.encode(start), "application/json")

    def append(self, name: str, batch: InputBatch) -> None:
        """Append the records that the log does not have yet, and wait until they are durable."""
        with span("hand over records", {"lineage_bridge.input": name, "lineage_bridge.records": len(batch.records)}, kind="CLIENT"):
            self._call("POST", name, "records", pack_batch(batch))

    def _call(self, method: str, name: str, what: str, body: bytes = b"", media_type: str = MEDIA_TYPE) -> bytes:
        headers = {"Authorization": f"Bearer {self._key()}", "Content-Type": media_type, **trace_headers()}
        try:
            answer = self._http.request(method, f"/api/v1/inputs/{quote(name)}/{what}", content=body, headers=headers)
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: another thread has just closed this client, to connect anew
            self._open_again()
            raise UnavailableError(
                f"the API does not answer: {str(error) or type(error).__name__}", "check that `lineage-bridge serve` or `api` is running"
            ) from error
        if answer.status_code >= 500 or answer.status_code in _LATER:
            raise UnavailableError(
                f"the API answered {answer.status_code}: {answer.text[:300]}",
                "the request is repeated until the API accepts it; the API's log has the reason",
            )
        if answer.is_error:
            raise _ERRORS.get(answer.status_code, RequestError)(f"the API answered {answer.status_code}: {answer.text[:300]}")
        return answer.content

    def _open_again(self) -> None:
        """Connect again, because the server's certificate may have been replaced."""
        try:
            fresh = self._open()
        except ConfigError:  # the certificate is just being replaced
            return
        before, self._http = self._http, fresh
        before.close()

    def _open(self) -> httpx.Client:
        # Proxies in the environment are for calls to other machines.
        return httpx.Client(base_url=self._address, timeout=TIMEOUT_S, trust_env=False, verify=self._trusted())
