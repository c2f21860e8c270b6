"""Log lines for people and for programs."""

import json
import logging
import sys

from lineage_bridge.config.log_format import REQUEST_ID, log_formatter


def record(message: str, *args: object, fields: dict[str, object] | None = None, failed: bool = False) -> logging.LogRecord:
    error = None
    if failed:
        try:
            int("no")
        except ValueError:
            error = sys.exc_info()
    made = logging.LogRecord("lineage_bridge.x", logging.WARNING, __file__, 1, message, args, error)
    made.created, made.msecs = 1_767_603_600.25, 250.0
    if fields:
        made.fields = fields
    return made


def test_json_lines_have_one_object_each_with_the_time_in_utc():
    line = log_formatter("json", "pipeline").format(record("took %d s: %s", 3, 'a "ü"\nb'))
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "2026-01-05T09:00:00.250+00:00",
        "level": "warning",
        "program": "pipeline",
        "logger": "lineage_bridge.x",
        "message": 'took 3 s: a "ü"\nb',
    }


def test_json_lines_have_tracebacks_and_fields():
    line = json.loads(log_formatter("json", "api").format(record("failed", fields={"status": 500, "peer": None}, failed=True)))
    assert line["status"] == 500
    assert "peer" not in line
    assert line["traceback"].endswith("invalid literal for int() with base 10: 'no'")


def test_lines_name_the_request_that_is_served():
    text, lines = log_formatter("text", "api"), log_formatter("json", "api")
    assert text.format(record("slow")).endswith("WARNING api: slow")
    token = REQUEST_ID.set("load-7")
    try:
        assert text.format(record("slow")).endswith("WARNING api: slow [request load-7]")
        assert json.loads(lines.format(record("slow")))["request_id"] == "load-7"
    finally:
        REQUEST_ID.reset(token)


def test_a_message_is_one_line_whatever_it_names():
    line = log_formatter("text", "api").format(record("GET %s", "/x\n2026-01-05 INFO api: forged\r\x1b[2J\u2028ü\t"))
    assert line.endswith("WARNING api: GET /x\\n2026-01-05 INFO api: forged\\r\\x1b[2J\\u2028ü\t")
    assert len(log_formatter("text", "api").format(record("failed", failed=True)).splitlines()) > 2, "tracebacks keep their lines"
