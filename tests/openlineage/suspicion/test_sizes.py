"""What is masked in a body does not depend on its size, nor on how its characters are written."""

import json
from typing import Any

import pytest

from lineage_bridge.openlineage.redaction import mask

SECRET = "Abcdef123Xyz9"
KEY = "X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH"
WORDS = [{"a": "words of a long text, without any secret"}] * 20
COLUMNS = [{"name": f"c{n}_access_token", "type": "STRING"} for n in range(20)]
BODIES: list[Any] = [
    {"tokens": [{"name": SECRET}]},
    {"tokens": [SECRET, "word"]},
    {"api_keys": [SECRET]},
    {"access_keys": [{"id": "x", "k": SECRET}, {"id": "y", "k": SECRET}]},
    {"auth": {"a": {}, "b": [], "c": {"d": SECRET}}},
    {"basic_auth": ["me", SECRET]},
    {"tokens": [[[{"q": [{"r": SECRET}]}]]]},
    {"tokens": {"a": 1, "b": SECRET, "c": {"d": 2}}},
    {"value": {"tokens": [SECRET]}},
    {"db_pins": [SECRET], "x": "token"},
    {"kty": "RSA", "e": "AQAB", "d": KEY},
    {"key_ops": [], "d": KEY},
    {"argNames": ["url", "user", "password"], "argValues": ["jdbc:x", "me", SECRET]},
    {"rows": [["api_key", SECRET, "2026-01-05"], ["region", "eu, west", "2026-01-05"]]},
    {"columns": ["a, b", "c", "d", "token", "e"], "rows": [["x", "y", "z", SECRET, "words"]]},
]


@pytest.mark.parametrize("body", BODIES, ids=map(str, range(len(BODIES))))
@pytest.mark.parametrize("beside", [WORDS, COLUMNS], ids=["words", "columns"])
def test_a_small_body_is_masked_as_in_a_large_one(body: Any, beside: Any) -> None:
    alone = json.loads(mask(json.dumps(body).encode()))
    assert SECRET not in str(alone)
    assert KEY not in str(alone)
    assert json.loads(mask(json.dumps({"beside": beside, "body": body}).encode())) == {"beside": beside, "body": alone}


def test_what_is_no_secret_stays_under_names_of_several() -> None:
    body = {"beside": WORDS, "tokens": [101, 2023, "word", "orders_2024", "other words"] * 2_000, "pins": [{"name": "a", "type": "INT8"}]}
    raw = json.dumps(body).encode()
    assert mask(raw) == raw


def test_what_is_read_under_names_of_several_costs_little() -> None:
    words = [{"id": number, "t": {"text": f"word{number}"}, "e": "a\\b"} for number in range(2_000)]
    for body in ({"tokens": words}, {"tokens": [{**word, "e": ""} for word in words]}, {"tokens": "x", "a": COLUMNS * 100}):
        spent: list[int] = []
        raw = json.dumps(body).encode()
        assert mask(raw, spent.append) == raw
        assert min(spent) >= 0
        assert sum(spent) < len(raw) * (1_000 if "\\" in str(body) else 150)


@pytest.mark.parametrize(
    "written",
    [
        r'{"name": "password", "\u0076alue": "%s"}',
        r'{"type": "password", "def\u0061ult": "%s"}',
        r'{"\u0061uth": [{"name": "my_token", "x": "%s"}]}',
        r'{"read_key": "x\u0031\/%sABCDEFGH"}',
    ],
)
def test_what_is_written_with_escapes_is_masked(written: str) -> None:
    columns = json.dumps(COLUMNS)
    assert SECRET.encode() not in mask(f'{{"columns": {columns}, "x": {written % SECRET}}}'.encode())


def test_a_secret_in_a_list_that_is_one_secret_leaves_json() -> None:
    words = [f"w{number}" for number in range(900)]
    words[500] = "token=abc1Xyz9Secret"
    body = {"k": "password", "v": words, "others": WORDS, "token": "x"}
    masked = json.loads(mask(json.dumps(body).encode()))
    assert masked == {"k": "password", "v": ["********"], "others": WORDS, "token": "********"}
