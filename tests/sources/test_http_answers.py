"""What is read of an answer that a system gives, whatever is in it."""

import json
from typing import Any

import httpx
import pytest

from lineage_bridge.sources.common.http_answers import asked_wait, message_of


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"message": "no\x1b[31m such\x07 topic"}, "no [31m such topic"),
        ({"error": {"code": "own_publication", "message": "it came from here"}}, "own_publication: it came from here"),
        ({"errors": [{"detail": "first"}, {"title": "second"}]}, "first; second"),
        ({"error": "x" * 400}, "x" * 300),
        (["message"], ""),
    ],
    ids=["control characters", "an object", "a list", "long", "no object"],
)
def test_a_message_is_one_printable_line(body: Any, message: str) -> None:
    assert message_of(httpx.Response(400, content=json.dumps(body))) == message


@pytest.mark.parametrize("header", ["\xb2", "soon", "", "-1"])
def test_a_wait_that_is_no_number_and_no_date_is_not_asked_for(header: str) -> None:
    assert asked_wait(httpx.Response(503, headers=[(b"Retry-After", header.encode("latin-1"))])) is None


def test_a_wait_is_asked_for_in_seconds_or_by_date() -> None:
    assert asked_wait(httpx.Response(503, headers={"Retry-After": "7"})) == 7.0
    assert asked_wait(httpx.Response(503, headers={"Retry-After": "Thu, 01 Jan 2026 00:00:00 GMT"})) == 0.0
