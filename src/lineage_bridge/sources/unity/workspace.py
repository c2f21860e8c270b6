"""Client of a Databricks workspace: the REST API of Unity Catalog, and SQL statements.

Sources: the API reference of Databricks, and the models of databricks-sdk.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeVar
from urllib.parse import quote

from lineage_bridge.errors import (
    BusyError,
    ForbiddenError,
    MissingError,
    SourceError,
    StoppedError,
    TimedOutError,
    UnauthenticatedError,
    UnreachableError,
)
from lineage_bridge.sources.common.catalog.reading import list_in, object_in, text_in
from lineage_bridge.sources.common.http import MOST_PAGES, HttpClient
from lineage_bridge.sources.unity.settings import UnitySourceSettings

CATALOGS: Final = "/api/2.1/unity-catalog/catalogs"
SCHEMAS: Final = "/api/2.1/unity-catalog/schemas"
TABLES: Final = "/api/2.1/unity-catalog/tables"
STATEMENTS: Final = "/api/2.0/sql/statements"
_TOKENS: Final = "/oidc/v1/token"
_ADDRESS: Final = "check that the address is that of a Databricks workspace"
_RIGHTS: Final = "grant BROWSE on the catalogs that are to be observed"
_RIGHTS_ON_SYSTEM: Final = (
    "grant CAN USE on the warehouse, USE CATALOG on system, USE SCHEMA on system.access, and SELECT on its table_lineage and column_lineage"
)
_ABSENT: Final = ("DOES_NOT_EXIST", "NOT_FOUND")
_UNDER_WAY: Final = frozenset(("PENDING", "RUNNING"))
_DENIED, _UNDEFINED = "42501", frozenset(("42P01", "42704"))
"""SQL states: insufficient privileges; undefined table or object."""
_PAUSES: Final = (0.1, 0.2, 0.5, 1.0, 2.0)
_LONGEST_PAUSE_S: Final = 5.0
Row = Sequence[str | None]
_ResultT = TypeVar("_ResultT")


class Workspace:
    """Calls the API of one workspace. Thread-safe. `wait` sleeps for the given seconds between two requests for the state of a statement.
    `check_stop` is called before each call, and raises StoppedError if no more calls should be made.
    """

    def __init__(
        self,
        settings: UnitySourceSettings,
        wait: Callable[[float], None] = time.sleep,
        check_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings, self._wait, self._check_stop = settings, wait, check_stop
        self._headers = {"X-Databricks-Workspace-Id": settings.workspace_id} if settings.workspace_id else {}
        self._http: HttpClient | None = None
        self._opening = Lock()

    def page(self, path: str, member: str, token: str = "", **asked: str) -> tuple[list[Mapping[str, Any]], str]:
        """A page of a listing, and the token of the next one, empty on the last page. An empty page may have no list.

        Raises SourceError.
        """
        parameters = {"max_results": "0", "include_browse": "true", **asked, **({"page_token": token} if token else {})}
        answer = self._called(lambda http: http.get(path, **parameters))
        if not isinstance(answer, dict) or not isinstance(answer.get(member, []), list):
            raise SourceError(f"GET {path} did not return a list of {member}", _ADDRESS)
        following = text_in(answer, "next_page_token")
        if following and following == token:
            raise SourceError(f"GET {path} returned the token of the page just read, so the list has no end", _ADDRESS)
        return [entry for entry in list_in(answer, member) if isinstance(entry, dict)], following

    def listed(self, path: str, member: str, **asked: str) -> Iterator[Mapping[str, Any]]:
        """All entries of a listing. Raises SourceError, possibly after some entries."""
        token = ""
        for _ in range(MOST_PAGES):
            entries, token = self.page(path, member, token, **asked)
            yield from entries
            if not token:
                return
        raise SourceError(f"GET {path} has too many pages", _ADDRESS)

    def properties(self, full_name: str) -> Any:  # noqa: ANN401  # JSON
        """The properties of a table; None if it does not exist or may not be read. Raises SourceError."""
        try:
            return object_in(self._called(lambda http: http.get(f"{TABLES}/{quote(full_name, safe='')}", include_browse="true"))).get(
                "properties"
            )
        except (ForbiddenError, MissingError):
            return None

    def has_table(self, full_name: str) -> bool:
        """Whether a table exists. Raises SourceError, which also happens if the caller may not read the table."""
        try:
            answer = self._called(lambda http: http.get(f"{TABLES}/{quote(full_name, safe='')}/exists"))
        except MissingError as error:
            if error.code.endswith(_ABSENT):  # its schema or catalog does not exist either
                return False
            raise
        found = object_in(answer).get("table_exists")
        if not isinstance(found, bool):
            raise SourceError(f"GET {TABLES}/{full_name}/exists did not return whether the table exists", _ADDRESS)
        return found

    def rows(self, statement: str, **parameters: str) -> list[Row]:
        """The rows of a query's result; values are text or None. Parameters are text.

        Raises SourceError if the statement fails or takes too long, or if its result is incomplete.
        """
        asked = {
            "statement": statement,
            "warehouse_id": self.settings.warehouse_id,
            "parameters": [{"name": name, "value": value, "type": "STRING"} for name, value in sorted(parameters.items())],
            "wait_timeout": "0s",
            "disposition": "INLINE",
            "format": "JSON_ARRAY",
        }
        answer = self._ended(self._called(lambda http: http.send("POST", STATEMENTS, asked), _RIGHTS_ON_SYSTEM))
        manifest, result = object_in(answer, "manifest"), object_in(answer, "result")
        if manifest.get("truncated"):
            raise SourceError("the result of a SQL statement is incomplete: Databricks has truncated it", _ADDRESS)
        rows = _rows_in(result)
        for _ in range(MOST_PAGES):
            following = result.get("next_chunk_index")
            if not isinstance(following, int):
                break
            result = self._chunk(f"{STATEMENTS}/{text_in(answer, 'statement_id')}/result/chunks/{following}")
            rows += _rows_in(result)
        if manifest.get("total_row_count") != len(rows):
            raise SourceError(
                f"the result of a SQL statement is incomplete: it has {len(rows)} of {manifest.get('total_row_count')} rows", _ADDRESS
            )
        return rows

    def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _chunk(self, path: str) -> Mapping[str, Any]:
        return object_in(self._called(lambda http: http.get(path)))

    def _ended(self, answer: Any) -> Mapping[str, Any]:  # noqa: ANN401  # JSON
        """Wait until a statement has succeeded, and return the answer about it. A statement that takes too long is cancelled."""
        named, waited = text_in(answer, "statement_id"), 0.0
        pauses = iter(_PAUSES)
        try:
            while (state := text_in(answer, "status", "state")) in _UNDER_WAY and named:
                if waited >= self.settings.statement_timeout_s:
                    raise TimedOutError(  # noqa: TRY301  # it is cancelled below, as when the poll is stopped
                        f"a SQL statement did not end within {self.settings.statement_timeout_s:g} s", "raise `statement_timeout_s`"
                    )
                pause = next(pauses, _LONGEST_PAUSE_S)
                self._wait(pause)
                waited += pause
                answer = self._called(lambda http: http.get(f"{STATEMENTS}/{named}"))
        except (StoppedError, TimedOutError):
            with suppress(SourceError):
                self._open().send("POST", f"{STATEMENTS}/{named}/cancel", {})
            raise
        if state != "SUCCEEDED":
            raise _failed(answer, state)
        return object_in(answer)

    def _called(self, call: Callable[[HttpClient], _ResultT], rights: str = _RIGHTS) -> _ResultT:
        """Make a call. If the token of an OAuth client is not accepted any more, log in again and repeat the call once."""
        self._check_stop()
        http = self._open()
        try:
            try:
                return call(http)
            except UnauthenticatedError:
                if not self.settings.client_id:
                    raise
                self._forget(http)
                return call(self._open())
        except UnauthenticatedError as error:
            raise UnauthenticatedError(str(error), "check `token`, or `client_id` and `client_secret`") from error
        except ForbiddenError as error:
            raise ForbiddenError(str(error), rights) from error

    def _open(self) -> HttpClient:
        with self._opening:
            if self._http is None:
                asked = self.settings
                bearer = {"Authorization": f"Bearer {self._issued_token()}"} if asked.client_id else {}
                self._http = HttpClient(asked, {"Accept": "application/json", **self._headers, **bearer})
            return self._http

    def _forget(self, http: HttpClient) -> None:
        with self._opening:
            if self._http is http:
                self._http.close()
                self._http = None

    def _issued_token(self) -> str:
        asked = self.settings.model_copy(update={"username": self.settings.client_id, "password": self.settings.client_secret})
        login = HttpClient(asked)
        try:
            answer = login.send_form(_TOKENS, {"grant_type": "client_credentials", "scope": "all-apis"})
        except (UnreachableError, BusyError):
            raise
        except SourceError as error:
            raise UnauthenticatedError(str(error), "check `client_id` and `client_secret`") from error
        finally:
            login.close()
        token = text_in(answer, "access_token")
        if not token:
            raise UnauthenticatedError(f"POST {_TOKENS} did not return a token", "check `client_id` and `client_secret`")
        return token


def _rows_in(result: Mapping[str, Any]) -> list[Row]:
    return [row for row in list_in(result, "data_array") if isinstance(row, list)]


def _failed(answer: Any, state: str) -> SourceError:  # noqa: ANN401  # JSON
    message = text_in(answer, "status", "error", "message").partition("\n")[0][:500]
    text = f"a SQL statement ended as {state or 'unknown'}" + (f": {message}" if message else "")
    sql_state = text_in(answer, "status", "sql_state")
    if sql_state == _DENIED:
        return ForbiddenError(text, _RIGHTS_ON_SYSTEM)
    if sql_state in _UNDEFINED:
        return MissingError(text, "enable the system schema `access`, and grant the right to read it")
    return SourceError(text, "" if state else _ADDRESS)
