"""Members are masked alike, whether only the suspicious ones are read or all tokens."""

import json
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.events import run_event
from tests.openlineage.planted import planted

from lineage_bridge.openlineage import redaction
from lineage_bridge.openlineage.json_text import PlainParts, no_limit
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.suspicion.members import edit_members
from lineage_bridge.openlineage.suspicion.search import suspicious_offsets

SECRET = "hunter2Xyzzy42"
KEYS = ("password", "db_token", "auth", "name", "value", "type", "k", "aes_key", "tokens", "note", "token_id", "namespace")
VALUES: tuple[Any, ...] = (
    SECRET,
    "${DB_PASSWORD}",
    "********",
    "password_hash2",
    f"https://a:{SECRET}@c/d",
    f"t?sig={SECRET}&a=1",
    f"--password {SECRET}",
    "aB1" * 14,
    "password",
    "",
    12345678,
    None,
    [SECRET],
    {"a": SECRET},
    ["mysql", f"-p{SECRET}"],
    f"tab\t{SECRET}",
)
READ: list[Any] = [
    {"password": SECRET, "url": f"https://a:{SECRET}@c/d"},
    {"name": f"t?token={SECRET}", "namespace": f"s3://a:{SECRET}@c"},
    {"password": 12345678, "note": ["a", {"b": 1}]},
]
NOT_READ: list[Any] = [
    [f"token={SECRET}"],
    {"password": [SECRET]},
    {"password": {"a": SECRET}},
    {"name": "password", "value": SECRET},
    {"k": "password", "v": SECRET},
    {"a": ["--password", SECRET]},
    {"a": ["mysql", f"-p{SECRET}"], "token": SECRET},
    {"token": SECRET, "d": "aB" * 30},
    {"token": f"a\n{SECRET}"},
    {f"token={SECRET}": 1},
]


def only_members(body: object, **form: Any) -> dict[int, int] | None:
    """The positions that are edited without reading all tokens; None if they are read."""
    raw = json.dumps(body, **form).encode()
    found: dict[int, int] = {}

    def edit_text(start: int, end: int, _: str) -> bool:
        found[start] = end
        return True

    done = edit_members(PlainParts(raw, suspicious_offsets(raw)), (found.__setitem__, edit_text), no_limit)
    return None if done is None else found


@pytest.mark.parametrize("body", READ, ids=map(str, range(len(READ))))
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_members_are_read_alone(body: Any, separators: tuple[str, str]) -> None:
    assert only_members({"facet": body}, separators=separators)


@pytest.mark.parametrize("body", NOT_READ, ids=map(str, range(len(NOT_READ))))
def test_what_is_decided_elsewhere_is_read_token_by_token(body: Any) -> None:
    assert only_members({"facet": body}) is None


def test_json_with_other_blanks_and_what_is_no_json_are_read_token_by_token() -> None:
    assert only_members({"password": SECRET}, separators=(",", " : ")) is None
    cut = json.dumps({"password": SECRET}).encode()[:-1]
    assert edit_members(PlainParts(cut, suspicious_offsets(cut)), (dict[int, int]().__setitem__, lambda *_: True), no_limit) is None


def bodies() -> list[bytes]:
    random = Random(5)
    pairs = [{key: value} for key, value in product(KEYS, VALUES)]
    mixed = [{**random.choice(pairs), **random.choice(pairs), "x": random.choice(pairs), "y": [random.choice(pairs)]} for _ in range(1_000)]
    events = [run_event(run_facets={"x": facet}) for facet in (*pairs, *mixed, *(facet for _, _, facet in planted(random)))]
    return [json.dumps(json.loads(event), separators=random.choice(((",", ":"), (", ", ": ")))).encode() for event in events]


def test_members_are_masked_as_if_all_tokens_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    events, counted = bodies(), list[bool]()

    def counting(*given: Any) -> bool | None:
        counted.append((done := edit_members(*given)) is not None)
        return done

    monkeypatch.setattr(redaction, "edit_members", counting)
    masked = [mask(event) for event in events]
    assert min(counted.count(True), counted.count(False)) > 300, "both ways are taken"
    monkeypatch.setattr(redaction, "edit_members", lambda *_: None)
    assert masked == [mask(event) for event in events]


@pytest.mark.parametrize("padding", [0, 300])
def test_a_list_of_values_that_names_a_secret_itself_does_not_hide_the_list_of_names(padding: int) -> None:
    names, values = ["a", "b", "db_password", "d"], ["${DB_PASSWORD}", "b", SECRET, "d"]
    raw = json.dumps({"pad": "y" * padding, "names": names, "values": values}).encode()
    assert json.loads(mask(raw))["values"] == ["${DB_PASSWORD}", "b", "********", "d"]
    lists = {"columns": ["a", "token"], "names": ["a", "b", "password"], "rows": [["x", SECRET]], "values": ["x", "y", SECRET]}
    assert SECRET not in mask(json.dumps({"pad": "y" * padding, **lists}).encode()).decode()


def test_a_long_word_before_others_is_searched_in_linear_time() -> None:
    raw = json.dumps({"session": "p" * 4_000 + " x"}).encode()
    assert mask(raw) == raw
