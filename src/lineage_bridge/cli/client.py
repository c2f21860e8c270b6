"""A client of the HTTP API, for commands."""

import os
import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeAlias

import httpx
from rich.filesize import decimal
from typing_extensions import Self

from lineage_bridge.cli.console import print_message
from lineage_bridge.config import Settings, user_credentials
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.errors import GoneError, LineageBridgeError, NotFoundError, RequestError, ServerError, UnavailableError

TIMEOUT_S = 75.0
"""Timeout of a request in seconds; longer than the longest wait that the server allows."""
WAIT_S, PATIENCE_S = 10, 120.0
LAG_WAIT_S, POLL_S = 120.0, 0.3
"""How long, in seconds, a question without a result waits for events that are not in the answers yet."""
JSON_TYPE = "application/json"
_CLOSED = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
"""Errors that mean that the server closed the connection while a request was being sent."""
_LISTS = {
    "/api/v1/graph/runs/": "lineage-bridge runs NAMESPACE JOB lists the runs of a job",
    "/api/v1/graph/schemas/diff": "lineage-bridge schemas NAMESPACE NAME lists the versions, `lineage-bridge search TEXT` finds names",
    "/api/v1/quarantine/": "lineage-bridge quarantine list lists its events",
    "/api/v1/sources/": "lineage-bridge source list lists the sources",
    "/api/v1/inputs/": "lineage-bridge input list lists the inputs",
    "/api/v1/targets/": "lineage-bridge target list lists the targets",
    "/api/v1/sessions/": "lineage-bridge session list lists the sessions",
    "/api/v1/tasks/enrich": "lineage-bridge source list and lineage-bridge target list list them",
    "/api/v1/tasks/": "lineage-bridge task list lists the tasks",
}
"""For a path of the API, the hint that names the command which lists its objects. All other paths are about datasets and jobs."""


Json: TypeAlias = Any
"""A JSON value, decoded."""
Parameter: TypeAlias = str | int | float | bool | list[str] | None


class Client:
    """Calls the server at `address`, and raises its error responses as exceptions of `errors`.

    `has_next_page`: the list that `get` returned last has more items than were asked for.
    """

    def __init__(self, address: str, key: Callable[[], str] | None = None, trusted: ssl.SSLContext | bool = True) -> None:
        """`key` returns the API key to send; if that is empty, none is sent. `trusted` says which servers are trusted, in the form
        of httpx's `verify`.
        """
        self.address = address
        # trust_env=False: proxy settings in the environment must not apply to a server on this machine.
        self._has_connected = False
        self.has_next_page = False
        self._http = httpx.Client(base_url=address, timeout=TIMEOUT_S, trust_env=False, verify=trusted, auth=_bearer(key) if key else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.close()

    def get(self, path: str, **parameters: Parameter) -> Json:
        """Send a GET request, and return the JSON in the response. Parameters that are None are left out.

        Raises the exception that `error_of` makes of an error response, and UnavailableError if the server does not answer.
        """
        response = self._raise_for_error(self._get(path, parameters))
        self.has_next_page = "next" in response.links
        return response.json()

    def query(self, path: str, results: str = "", /, **parameters: Parameter) -> Json:
        """Send a question to the graph, like `get`. If nothing is found while events are not in the answers yet, wait for them and
        ask again.

        `results` names the member of the answer that is empty if nothing is found. Raises the errors of `get`.
        """
        return self.when_complete(lambda: self.get(path, **parameters), lambda answer: not results or bool(answer[results]))

    def when_complete(self, ask: Callable[[], Json], has_found: Callable[[Json], bool] = bool) -> Json:
        """Call `ask` and return its result. If it finds nothing while events are not in the answers yet, wait for them and call it
        again.

        Raises the errors of `ask`; while events are missing, with the hint to try again later.
        """
        error: LineageBridgeError | None = None
        answer = None
        try:
            answer = ask()
            if has_found(answer):
                return answer
        except (NotFoundError, UnavailableError) as failure:
            error = failure
        pending = self.lag()
        if pending and self._wait_for_events(pending, has_graph=not isinstance(error, UnavailableError)):
            return ask()
        if pending and isinstance(error, NotFoundError):
            raise NotFoundError(str(error), "try again when `lineage-bridge status` says that answers are complete") from error
        if error is not None:
            raise error
        return answer

    def lag(self) -> str:
        """How far answers lag, as the beginning of a sentence such as "694.8 kB of events are"; empty if answers are complete."""
        lag = self.readiness()["lag"]
        return f"{decimal(lag['bytes'])} of events are" if lag["bytes"] > 0 else ""

    def get_bytes(self, path: str) -> bytes:
        """Send a GET request, and return the body of the response unchanged. Raises the errors of `get`."""
        return self._raise_for_error(self._get(path, {})).content

    def post(self, path: str, body: bytes = b"", kind: str = JSON_TYPE) -> Json:
        """Send a POST request, and return the JSON in the response. Raises the errors of `get`."""
        return self._raise_for_error(self._call(self._post_request(path, body, kind))).json()

    def delete(self, path: str) -> Json:
        """Send a DELETE request, and return the JSON in the response. Raises the errors of `get`."""
        return self._raise_for_error(self._call(self._http.build_request("DELETE", path))).json()

    def post_events(self, body: bytes, kind: str, path: str = "/api/v1/lineage") -> Json:
        """Send events, and return their outcomes, even if all were rejected. Raises the errors of `get`."""
        response = self._call(self._post_request(path, body, kind), repeatable=True)
        answer = _json(response)
        if response.is_success or (isinstance(answer, dict) and ("events" in answer or answer.get("status") == "rejected")):
            return answer
        raise error_of(response)

    def readiness(self) -> dict[str, Json]:
        """The state of each part of the server. It is returned whether the server is ready or not."""
        response = self._get("/api/v1/ready", {})
        answer = _json(response)
        if not isinstance(answer, dict) or "parts" not in answer:
            raise error_of(response)
        return answer

    def answers(self, path: str) -> bool:
        """Send a GET request for this path, and return whether the server answers with success."""
        try:
            return self._http.get(path, timeout=5.0).is_success
        except httpx.HTTPError:
            return False

    def wait_for(self, position: str, patience_s: float = PATIENCE_S) -> None:
        """Wait until answers reflect a position or, if it is empty, all events that the server has accepted so far.

        Raises UnavailableError after `patience_s` seconds without progress.
        """
        position = position or str(self.readiness()["lag"]["log_end"])
        last_applied, since = "", time.monotonic()
        while True:
            response = self._get("/api/v1/lineage/datasets", {"limit": 1, "min_position": position, "wait": WAIT_S})
            if response.is_success:
                return
            applied = str(self.readiness()["lag"]["applied"])
            if applied != last_applied:
                last_applied, since = applied, time.monotonic()
            elif response.status_code != 503 or time.monotonic() - since > patience_s:
                raise error_of(response)

    def has_connected(self) -> bool:
        """Whether the server has answered before, or answers now."""
        self._has_connected = self._has_connected or self.answers("/api/v1/health")
        return self._has_connected

    def _wait_for_events(self, pending: str, *, has_graph: bool) -> bool:
        """Wait until all events are in the answers. Returns whether they are.

        Does not wait if the pipeline is not running, unless there is no graph yet either: then the pipeline is expected to start.
        """
        states = ("ok", "starting") if has_graph else ("ok", "starting", "absent")
        if self.readiness()["parts"]["pipeline"]["state"] not in states:
            return False
        print_message(f"nothing found yet; {pending} not in the answers yet: waiting for them, at most {LAG_WAIT_S:g} s")
        until = time.monotonic() + LAG_WAIT_S
        while time.monotonic() < until:
            if not self.lag():
                return True
            time.sleep(POLL_S)
        return False

    def _get(self, path: str, parameters: Mapping[str, Parameter]) -> httpx.Response:
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._call(self._http.build_request("GET", path, params=given), repeatable=True)

    def _post_request(self, path: str, body: bytes, kind: str) -> httpx.Request:
        return self._http.build_request("POST", path, content=body, headers={"Content-Type": kind})

    def _call(self, request: httpx.Request, *, repeatable: bool = False) -> httpx.Response:
        """Send a request. A `repeatable` request is sent again if its connection is closed, as servers do with idle connections."""
        try:
            try:
                return self._http.send(request)
            except _CLOSED:
                if not repeatable:
                    raise
            return self._http.send(request)
        except httpx.TimeoutException as error:
            raise UnavailableError(f"{self.address} did not answer within {TIMEOUT_S:g} s", "see: lineage-bridge status") from error
        except _CLOSED as error:
            raise UnavailableError(f"{self.address} closed the connection without an answer", "see: lineage-bridge status") from error
        except httpx.TransportError as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                reason = str(error).rpartition("failed: ")[2].partition(" (_ssl")[0]
                raise UnavailableError(f"the certificate of {self.address} is not trusted: {reason}", "see --url-ca-file") from error
            raise UnavailableError(
                f"no LineageBridge server at {self.address}", "start one with lineage-bridge serve, or give its address with --url"
            ) from error

    def _raise_for_error(self, response: httpx.Response) -> httpx.Response:
        if response.is_success:
            return response
        raise error_of(response)


def connect(settings: Settings) -> Client:
    """Open a client for the server in the settings, with the user's API key. Raises ConfigError."""
    key = user_credentials(settings, os.environ)
    return Client(settings.address, lambda: key, trusted_by_clients(settings))


def _bearer(key: Callable[[], str]) -> Callable[[httpx.Request], httpx.Request]:
    """Adds the API key to each request of the client."""

    def authorize(request: httpx.Request) -> httpx.Request:
        text = key()
        if text:
            request.headers["Authorization"] = f"Bearer {text}"
        return request

    return authorize


def error_of(response: httpx.Response) -> LineageBridgeError:
    """Convert the response of an unsuccessful call to an exception."""
    answer = _json(response)
    problem = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(problem, dict):
        return ServerError(
            f"{response.url.copy_with(query=None)} returned HTTP {response.status_code}",
            response.status_code,
            "check that it is the address of a LineageBridge server of the same version",
        )
    message, hint = str(problem.get("message", "")), str(problem.get("hint", ""))
    if response.status_code == 404:
        near = [(name["namespace"], name["name"]) for name in problem.get("near", [])]
        return NotFoundError(message, _did_you_mean(near) or _where_to_look(response.url.path), near)
    if response.status_code == 410:
        return GoneError(message, hint)
    if response.status_code == 422:
        return RequestError(message, hint)
    if response.status_code == 503:
        return UnavailableError(message, "see: lineage-bridge status")
    return ServerError(message, response.status_code, hint)


def _where_to_look(path: str) -> str:
    """The hint for an object that was not found. It names the command that lists the objects of an API path."""
    return next((hint for prefix, hint in _LISTS.items() if path.startswith(prefix)), "`lineage-bridge search TEXT` finds names")


def _did_you_mean(near: list[tuple[str, str]]) -> str:
    return f"did you mean {' or '.join(f'{namespace} {name}' for namespace, name in near)}?" if near else ""


def _json(response: httpx.Response) -> Json:
    try:
        return response.json()
    except ValueError:
        return None
