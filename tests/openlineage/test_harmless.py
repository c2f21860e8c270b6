"""Texts that only mention secrets are left out together; what is masked beside them stays the same."""

import json
from random import Random
from typing import Any

import pytest
from tests.openlineage.planted import planted

from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.suspicion import harmless
from lineage_bridge.openlineage.suspicion.harmless import harmful_offsets
from lineage_bridge.openlineage.suspicion.search import suspicious_offsets

COLUMNS = [{"name": f"c{n}_access_token", "type": "STRING", "description": f"the password of {n}"} for n in range(9)]
SECRET = "hunter2Xyzzy42"


def left(body: object) -> list[int]:
    raw = json.dumps(body).encode()
    return list(harmful_offsets(raw, suspicious_offsets(raw)))


def test_columns_that_are_called_like_secrets_are_left_out() -> None:
    assert left({"fields": COLUMNS}) == []
    assert left({"fields": COLUMNS[:2]}) != [], "of a few, each is read"


@pytest.mark.parametrize("length", [1, 100, 240, 256, 300, 511, 513, 600, 5_000])
def test_a_long_text_full_of_suspicion_changes_nothing_about_what_is_beside_it(length: int) -> None:
    long = ("token is " * length)[:length]
    body = {"a": [long], "fields": COLUMNS, "b": [f"{long}token"], "last": COLUMNS, "description": f"token {long}"}
    raw = json.dumps(body).encode()
    assert not set(left(body)) & {offset for offset in suspicious_offsets(raw) if b"_access_tok" in raw[max(0, offset - 10) : offset + 5]}
    texts = [raw.index(b'"a"'), raw.index(b'"b"')]
    assert all(any(start < offset < start + 6 + length + 5 for offset in left(body)) for start in (texts if length > 4 else texts[1:]))


BESIDE: list[Any] = [
    {"description": f"the password is {SECRET}"},
    {"description": f"password={SECRET}"},
    {"name": "password", "value": SECRET},
    {"type": "password", "value": SECRET},
    {"password": {"name": f"my token {SECRET}"}},
    {"args": ["--password", SECRET]},
    {"command": ["password", SECRET]},
    {"d_token": {"description": SECRET}},
    {"name": f"raw/token/ghp_{'a1B2' * 9}"},
    {"comment": f"curl -u me:{SECRET} https://token.example"},
    {"name": f"token:{SECRET}@host"},
]


@pytest.mark.parametrize("beside", BESIDE, ids=map(str, range(len(BESIDE))))
@pytest.mark.parametrize("indent", [None, 1])
def test_a_secret_beside_them_is_masked_as_without_them(beside: Any, indent: int | None) -> None:
    alone = json.loads(mask(json.dumps([beside]).encode()))[0]
    assert alone != beside
    assert json.loads(mask(json.dumps({"fields": COLUMNS, "x": beside}, indent=indent).encode())) == {"fields": COLUMNS, "x": alone}


def test_what_is_masked_does_not_depend_on_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [json.dumps({"cols": COLUMNS, "facet": facet}).encode() for _, _, facet in planted(Random(3))]
    masked = [mask(body) for body in bodies]
    monkeypatch.setattr(harmless, "harmful_offsets", lambda _, offsets: offsets)
    assert masked == [mask(body) for body in bodies]
    assert sum(body != after for body, after in zip(bodies, masked, strict=True)) > 50
