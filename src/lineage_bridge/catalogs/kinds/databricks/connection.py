"""The connection that Databricks' own client classes use for their calls: checked addresses, no credentials of the machine, no retries.

Databricks' own connection reads credentials from the environment and from files, connects to any address that the host names, and retries
by itself.
"""

import base64
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from lineage_bridge.catalogs.http import HttpAnswer, LoggedInClient, TargetClient, outcome_of
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import Json, Outcome, Repeat
from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.settings import reveal

_TOKENS: Final = "/oidc/v1/token"
_ABORTED: Final = "ABORTED"


class AnsweredError(SourceError):
    """An answer with an error; `code` is Databricks' own, empty if the answer is not Databricks'."""

    def __init__(self, named: str, answer: HttpAnswer, code: str) -> None:
        super().__init__(f"{named} answered {answer.status}: {answer.message or code}", "check that the address is that of a workspace")
        self.answer, self.code = answer, code

    @property
    def is_missing(self) -> bool:
        """Whether the object that the call names does not exist."""
        return bool(self.code) and (self.answer.status == 404 or self.code.endswith(("DOES_NOT_EXIST", "NOT_FOUND")))

    @property
    def is_taken(self) -> bool:
        """Whether the object to create already exists."""
        return bool(self.code) and (self.answer.status == 409 or self.code.endswith("ALREADY_EXISTS"))

    @property
    def outcome(self) -> Outcome:
        """The outcome of the call for an object. If the answer is not Databricks', a later attempt may succeed."""
        found = outcome_of(self.answer)
        return found._replace(later=False) if self.code else found


class WorkspaceConnection:
    """Makes calls to a workspace, with the interface that Databricks' client classes use. Thread-safe."""

    def __init__(self, settings: DatabricksSettings, repeat: Repeat) -> None:
        """`repeat` is called to make each request, and may repeat it."""
        self._settings, self._plain = settings, TargetClient(settings, repeat, is_busy=_is_aborted)
        self._client = LoggedInClient(settings, self._plain, self._asked_for_token)
        self._cfg = SimpleNamespace(workspace_id=settings.workspace_id or None)  # which they read

    def do(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Json | None = None,
    ) -> Json:
        """Make a call and return the decoded answer. Raises AnsweredError for an error answer, and the errors of `TargetClient.call`."""
        asked = dict(_flattened(query or {}))
        target = quote(path, safe="/") + (f"?{urlencode(asked)}" if asked else "")
        answer = self._client.call(method, target, None if body is None else encode(body), headers)
        named = f"{method} {path}"
        if not answer.is_success:
            raise AnsweredError(named, answer, _code(answer))
        found = answer.json() if answer.body else {}
        if not isinstance(found, dict):
            raise SourceError(f"the answer to {named} is not a JSON object", "check that the address is that of a Databricks workspace")
        if "page_token" in asked and found.get("next_page_token") == asked["page_token"]:
            raise SourceError(
                f"{named} returned the token of the page just read, so the list has no end",
                "try again later; if it repeats, report it to Databricks",
            )
        return found

    def _asked_for_token(self) -> HttpAnswer:
        secret = reveal(self._settings.client_secret or "")
        basic = base64.b64encode(f"{self._settings.client_id}:{secret}".encode()).decode()
        body = urlencode({"grant_type": "client_credentials", "scope": "all-apis"}).encode()
        headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        return self._plain.call("POST", _TOKENS, body, headers)

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _flattened(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Convert members of nested objects to parameters: `object_info.table.name`."""
    for name, value in query.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _flattened(value))
        else:
            yield name, str(value)


def _is_aborted(answer: HttpAnswer) -> bool:
    return not answer.is_success and _code(answer) == _ABORTED


def _code(answer: HttpAnswer) -> str:
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, RecursionError):
        return ""
    code = found.get("error_code") if isinstance(found, dict) else None
    return code if isinstance(code, str) else ""
