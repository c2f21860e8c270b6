"""Runs SQL statements in a SQL warehouse by Databricks' Statement Execution API."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from databricks.sdk.service.sql import (
    Disposition,
    ExecuteStatementRequestOnWaitTimeout,
    Format,
    StatementExecutionAPI,
    StatementParameterListItem,
)

from lineage_bridge.catalogs.kinds.databricks.connection import AnsweredError, WorkspaceConnection
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import Json
from lineage_bridge.errors import ForbiddenError, SourceError, StoppedError, TimedOutError, UnauthenticatedError

Row = list[str | None]
_UNDER_WAY: Final = frozenset(("PENDING", "RUNNING"))
_PAUSES: Final = (0.5, 1.0, 2.0)
_LONGEST_PAUSE_S: Final = 5.0
_HELD_S: Final = range(5, 51)
"""How many seconds Databricks holds a call until its statement ends."""
_DENIED: Final = "42501"
"""The SQL state of missing privileges."""
_WRONG: Final = ("0A", "22", "42")
"""Classes of SQL states that the statement itself causes: a feature that is not supported, wrong data, a wrong name or form."""
_RIGHTS: Final = "grant CAN USE on the warehouse"
_MOST_CHUNKS: Final = 1000


class FailedStatementError(SourceError):
    """A statement failed; `sql_state` is its SQL state, empty if Databricks stated none."""

    def __init__(self, message: str, sql_state: str) -> None:
        super().__init__(message)
        self.sql_state = sql_state

    @property
    def is_denied(self) -> bool:
        """Whether privileges are missing."""
        return self.sql_state == _DENIED

    @property
    def may_pass(self) -> bool:
        """Whether a later attempt may succeed."""
        return self.is_denied or not self.sql_state.startswith(_WRONG)


class Warehouse:
    """A SQL warehouse, which the first statement starts. Thread-safe. `wait` waits some seconds, or raises StoppedError."""

    def __init__(self, settings: DatabricksSettings, connection: WorkspaceConnection, wait: Callable[[float], None]) -> None:
        self._settings, self._wait = settings, wait
        self._api: Any = StatementExecutionAPI(connection)  # type: ignore[no-untyped-call]  # their constructor has no types
        held = int(min(10.0, settings.timeout_s / 2))
        self._held = f"{held if held in _HELD_S else 0}s"

    def rows(self, statement: str, parameters: Mapping[str, str]) -> list[Row]:
        """Run a query and return all rows of its result. Raises the errors of `run`, and SourceError if the result is incomplete."""
        answer = self.run(statement, parameters)
        manifest, result = answer.get("manifest", {}), answer.get("result", {})
        found = list(result.get("data_array") or ())
        for _ in range(_MOST_CHUNKS):
            following = result.get("next_chunk_index")
            if not isinstance(following, int):
                break
            result = self._api.get_statement_result_chunk_n(answer["statement_id"], following).as_dict()
            found += result.get("data_array") or ()
        if manifest.get("truncated") or manifest.get("total_row_count") != len(found):
            raise SourceError(
                f"the result of a SQL statement is incomplete: it has {len(found)} of {manifest.get('total_row_count')} rows",
                "try again later; if it repeats, report it to Databricks",
            )
        return found

    def run(self, statement: str, parameters: Mapping[str, str] = {}) -> Json:
        """Run a statement to its end, and return the answer.

        Raises FailedStatementError if it fails, TimedOutError if it takes too long, ForbiddenError if the warehouse may not be used,
        SourceError if there is none, and the errors of calls. A statement that takes too long is cancelled.
        """
        try:
            answer = self._api.execute_statement(
                statement,
                self._settings.warehouse_id,
                disposition=Disposition.INLINE,
                format=Format.JSON_ARRAY,
                on_wait_timeout=ExecuteStatementRequestOnWaitTimeout.CONTINUE,
                parameters=[StatementParameterListItem(name, "STRING", value) for name, value in sorted(parameters.items())] or None,
                wait_timeout=self._held,
            ).as_dict()
        except UnauthenticatedError:
            raise
        except ForbiddenError as error:
            raise ForbiddenError(str(error), _RIGHTS) from error
        except AnsweredError as error:
            if error.outcome.later:
                raise
            raise SourceError(f"the SQL warehouse refused a statement: {error}", "check `warehouse_id` and the right CAN USE") from error
        return self._ended(answer)

    def _ended(self, answer: Json) -> Json:
        named, waited, pauses = str(answer.get("statement_id", "")), 0.0, iter(_PAUSES)
        try:
            while _state(answer) in _UNDER_WAY and named:
                if waited >= self._settings.statement_timeout_s:
                    limit = self._settings.statement_timeout_s
                    raise TimedOutError(f"a SQL statement did not end within {limit:g} s", "raise `statement_timeout_s`")  # noqa: TRY301  # it is cancelled below
                pause = next(pauses, _LONGEST_PAUSE_S)
                self._wait(pause)
                waited += pause
                answer = self._api.get_statement(named).as_dict()
        except (StoppedError, TimedOutError):
            with suppress(SourceError):
                self._api.cancel_execution(named)
            raise
        if _state(answer) != "SUCCEEDED":
            raise _failed(answer)
        return answer


def _state(answer: Json) -> str:
    return str(answer.get("status", {}).get("state", ""))


def _failed(answer: Json) -> FailedStatementError:
    status = answer.get("status", {})
    message = str(status.get("error", {}).get("message", "")).partition("\n")[0][:500]
    text = f"a SQL statement ended as {_state(answer) or 'unknown'}" + (f": {message}" if message else "")
    return FailedStatementError(text, str(status.get("sql_state", "")))
