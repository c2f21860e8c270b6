"""How log lines are written: as text for people, or as one JSON object per line for programs."""

import json
import logging
import re
from contextvars import ContextVar
from datetime import datetime, timezone
from typing import Final, Literal, TypeAlias

LogFormat: TypeAlias = Literal["text", "json"]
REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""The id of the request that this task or thread serves; empty outside of requests."""
TRACE: Final[ContextVar[tuple[str, str]]] = ContextVar("trace", default=("", ""))
"""The ids of the trace and of the span that this task or thread is part of; empty where none are recorded."""
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_TEXT: Final = "%(asctime)s %(levelname)-7s {program}: %(message)s"


class _TextLines(logging.Formatter):
    """Writes log lines as text. If there is a request, its id is added."""

    def __init__(self, program: str) -> None:
        super().__init__(_TEXT.format(program=program))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the standard library's name
        """The log line without a traceback. Characters that would begin another line or control a terminal are escaped."""
        id_, line = REQUEST_ID.get(), _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], super().formatMessage(record))
        return f"{line} [request {id_}]" if id_ else line


class _JsonLines(logging.Formatter):
    """Writes log lines as JSON objects with time, level, program, logger, message, the ids of request, trace and span, the traceback,
    and the record's `fields`.
    """

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def format(self, record: logging.LogRecord) -> str:
        """Convert a log record to a line with one JSON object."""
        trace_id, span_id = TRACE.get()
        line = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "program": self._program,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": REQUEST_ID.get() or None,
            "trace_id": trace_id or None,
            "span_id": span_id or None,
            "traceback": self.formatException(record.exc_info) if record.exc_info else None,
            **getattr(record, "fields", {}),
        }
        return json.dumps({name: value for name, value in line.items() if value is not None}, ensure_ascii=False, default=str)


def log_formatter(form: LogFormat, program: str) -> logging.Formatter:
    """Create a formatter for log lines in the form text or JSON. Each line names the program."""
    return _JsonLines(program) if form == "json" else _TextLines(program)
