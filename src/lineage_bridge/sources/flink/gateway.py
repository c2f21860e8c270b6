"""Client of Flink's SQL gateway. It runs SHOW CREATE TABLE in a session of its own, which reads and writes no data."""

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from lineage_bridge.errors import SourceError, UnreachableError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.text.splitting import split
from lineage_bridge.sql.text.tokens import TokenError, tokens

_WAITING = ("RUNNING", "PENDING", "INITIALIZED")
_PAUSE_S = 0.1
_FIRST = "/v1"


class Session:
    """An open session at the SQL gateway. Its statements have no effect outside of it, except in external catalogs."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._session = f"{_FIRST}/sessions/{_text(http.send('POST', f'{_FIRST}/sessions', {}), 'sessionHandle')}"

    def rows(self, statement: str) -> list[list[Any]] | None:
        """Run a statement and return its rows; None if Flink refuses it. Raises SourceError."""
        answer = self._http.send("POST", f"{self._session}/statements", {"statement": statement})
        operation = f"{self._session}/operations/{_text(answer, 'operationHandle')}"
        if not self._finished(operation):
            return None
        found: list[list[Any]] = []
        page = f"{operation}/result/0"
        for _ in range(100):
            answer = self._http.get(page)
            results = answer.get("results") or {}
            found += [row.get("fields") or [] for row in results.get("data") or ()]
            following = answer.get("nextResultUri")
            if not following or answer.get("resultType") == "EOS":
                break
            page = str(following).split("?")[0]
        return found

    def close(self) -> None:
        """End the session. Raises SourceError."""
        self._http.send("DELETE", self._session, None)

    def _finished(self, operation: str) -> bool:
        """Wait for an operation to end, at most for the timeout of one call. Returns whether it succeeded."""
        until = time.monotonic() + self._http.settings.timeout_s
        while (status := _text(self._http.get(f"{operation}/status"), "status")) in _WAITING:
            if time.monotonic() > until:
                raise UnreachableError(
                    f"the SQL gateway did not finish a statement within {self._http.settings.timeout_s:g} s",
                    "raise `timeout_s` if the gateway is slow",
                )
            time.sleep(_PAUSE_S)
        return status == "FINISHED"


def tables(http: HttpClient, ddl: str, paths: Iterable[Name]) -> dict[Name, str]:
    """Fetch the DDL of tables, empty for unknown ones. Those statements of `ddl` that declare catalogs are run first. Raises
    SourceError.
    """
    session = Session(http)
    try:
        for statement in _catalogs(ddl):
            session.rows(statement)
        found = {}
        for path in paths:
            rows = session.rows(f"SHOW CREATE TABLE {'.'.join(_quoted(part) for part in path)}")
            found[path] = str(rows[0][0]) if rows and rows[0] else ""
    finally:
        with suppress(SourceError):  # an unused session expires
            session.close()
    return found


def _catalogs(ddl: str) -> list[str]:
    """Return those statements of a script that declare catalogs."""
    try:
        found = tokens(ddl)
    except TokenError as err:
        found = err.before
    statements = [statement for statement in split(found) if [token.upper for token in statement[:2]] == ["CREATE", "CATALOG"]]
    return [ddl[statement[0].start : statement[-1].end] for statement in statements]


def _quoted(part: str) -> str:
    return f"`{part.replace('`', '``')}`"


def _text(answer: Any, key: str) -> str:  # noqa: ANN401  # JSON
    if not isinstance(answer, dict) or not isinstance(answer.get(key), str):
        raise SourceError(f"the SQL gateway answered without {key}", "check that gateway_url is the address of a Flink SQL gateway")
    return str(answer[key])
