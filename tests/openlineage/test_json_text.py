import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.openlineage.json_text import bad_text_paths, is_deeper_than, member_path, mend_text

NESTED: st.SearchStrategy[Any] = st.recursive(
    st.text(st.sampled_from('[]{}"\\a')),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["{", '"]', "\\"]), inner, max_size=3),
    max_leaves=40,
)
BAD = st.lists(st.sampled_from(["a", "\\", "u0000", "\x00", "\ud800", "\udc00", "\U0001f600", '"'])).map("".join)


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max((depth(element) for element in inner), default=0)


@given(NESTED, st.integers(0, 6))
def test_depth_is_exact(value: object, levels: int) -> None:
    assert is_deeper_than(json.dumps(value).encode(), levels) == (depth(value) > levels)


@pytest.mark.parametrize("raw", [b"{" * 1000, b"}" * 1000 + b"{" * 1000, b"[{" * 300 + b"}]" * 300])
def test_depth_of_what_does_not_close(raw: bytes) -> None:
    assert is_deeper_than(raw, 100)


def test_the_depth_of_many_brackets_is_exact():
    raw = b"[" + b"{}," * 3_000 + b"[" * 99 + b"]" * 99 + b"]"
    assert (is_deeper_than(raw, 99), is_deeper_than(raw, 100)) == (True, False)


@given(st.dictionaries(BAD, BAD | st.lists(BAD, max_size=3), max_size=3))
def test_mended_text_is_utf8_without_nul(value: dict[str, Any]) -> None:
    raw = json.dumps(value).encode()
    mended = mend_text(raw)
    assert len(mended) == len(raw)
    assert mend_text(mended) is mended
    was, now = json.dumps(json.loads(raw), ensure_ascii=False), json.dumps(json.loads(mended), ensure_ascii=False)
    now.encode()
    assert "\\u0000" not in now.replace("\\\\", "")
    assert (mended is raw) == (list(bad_text_paths(raw)) == [])
    assert (mended is raw) == (was == now)


def test_paths_of_bad_text() -> None:
    raw = json.dumps({"a": ["x", "\x00"], "b\ud800": {"c": "\udfff"}, "n": 10**5000 % 7}).encode()
    assert list(bad_text_paths(raw)) == ["$.a[1]", "$['b\ufffd']", "$['b\ufffd'].c"]


def test_member_paths() -> None:
    assert member_path("$", "processing_engine") == "$.processing_engine"
    assert member_path("$.a", "spark.logicalPlan") == "$.a['spark.logicalPlan']"
    assert member_path("$", "it's\\") == "$['it\\'s\\\\']"
    assert len(member_path("$", "k" * 10_000)) < 200


ESCAPES = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u0000|u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
PIECES = [
    rb"\u0000",
    rb"\ud800",
    rb"\uDC00",
    rb"\uDBff",
    rb"\\",
    b"\\",
    b'"',
    b"u0000",
    b"ud800",
    rb"\u0041",
    b"\x00\x01",
    b"\x00",
    b"\xff",
]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join))
def test_escapes_are_mended_as_one_by_one(raw: bytes) -> None:
    assert mend_text(raw) == ESCAPES.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], raw)
