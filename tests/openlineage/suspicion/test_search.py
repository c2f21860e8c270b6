"""What is suspicious is found wherever it is in a body, however long the body is."""

import pytest

from lineage_bridge.openlineage.secret_rules.companions import is_valued
from lineage_bridge.openlineage.suspicion.search import is_suspicious, suspicious_offsets

KEYS = (
    "v",
    "VAL",
    "vals",
    "argument",
    "content",
    "Data",
    "text",
    "default",
    "current",
    "setting",
    "plaintext",
    "value",
    "row_values",
    "\\u0076al",
)
OTHERS = ("va", "value_of", "valued", "x text", "texts", "contents of", "v-", "\\u1076al")


@pytest.mark.parametrize("before", [0, 10, 500, 507, 512, 600, 3_000])
@pytest.mark.parametrize("mark", [b'"password"', b"sk-abcdefghij0123456789", b"https://a:b@c", b"AKIAABCDEFGHIJKLMNOP"])
def test_what_is_suspicious_is_found_at_any_distance_from_the_beginning(before: int, mark: bytes) -> None:
    piece = b"x" * before + b" " + mark
    assert is_suspicious(piece)
    assert bool(suspicious_offsets(piece))
    assert not is_suspicious(b"x" * before + b" words")


@pytest.mark.parametrize("around", [b"", b'"a": "words", ' * 200], ids=["short", "long"])
@pytest.mark.parametrize("blanks", ["", " ", "\t\n", "\r\x0b\x0c"])
def test_keys_of_values_are_found_in_short_and_long_bodies(around: bytes, blanks: str) -> None:
    for key in KEYS:
        raw = around + f'"{key}"{blanks}: 1'.encode() + around
        assert is_valued(raw, 0, len(raw)), key
        assert not is_valued(raw, len(around) + 8, len(raw)), key
    for key in OTHERS:
        raw = around + f'"{key}"{blanks}: 1'.encode() + around
        assert not is_valued(raw, 0, len(raw)), key
