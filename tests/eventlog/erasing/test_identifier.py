"""Identifiers of persons: found in whatever encoding events are written, and masked without moving a byte."""

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.errors import RequestError
from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier

ADA = "Ada.Löwe@example.com"


def escaped(text: str) -> str:
    """Every character of the text as an escape of JSON."""
    units = text.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))


@pytest.mark.parametrize(
    "written",
    [
        ADA.encode(),
        ADA.upper().encode(),
        f'{{"owner": "MAILTO:{ADA.lower()}-old"}}'.encode(),
        json.dumps({"owner": ADA}).encode(),
        json.dumps({"query": json.dumps({"by": json.dumps(ADA)})}).encode(),
        f'"{escaped(ADA)}"'.encode(),
        b'{"location": "/home/' + quote(ADA).encode() + b'"}',
        b"".join((b'"', b64encode(b"user=" + ADA.encode() + b"\n"), b'"')),
        urlsafe_b64encode(b"??" + ADA.encode() + b">>"),
        ADA.replace("ö", "ö").encode(),
    ],
)
def test_an_identifier_is_found_however_it_is_written(written: bytes) -> None:
    assert PersonIdentifier(ADA).is_in(written)
    assert not PersonIdentifier("ada.loewe@example.org").is_in(written)


@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([b64encode, urlsafe_b64encode]))
def test_base64_is_read_wherever_the_identifier_begins(before: bytes, after: bytes, encode) -> None:
    assert PersonIdentifier("grace@example.com").is_in(encode(before + b"grace@example.com" + after))


@given(st.text(min_size=3, max_size=20).filter(lambda text: len(text.strip()) >= 3), st.text(max_size=20), st.text(max_size=20))
def test_every_text_is_found_in_json_and_masked_without_moving_a_byte(name: str, before: str, after: str) -> None:
    name = name.strip()
    identifier, member = PersonIdentifier(name), {"origin": before + name + after}
    for note in (json.dumps(member).encode(), json.dumps(member, ensure_ascii=False).encode("utf-8", "surrogatepass")):
        assert identifier.is_in(note)
        masked = identifier.masked(note)
        assert len(masked) == len(note)


def test_a_masked_note_is_still_json() -> None:
    note = json.dumps({"origin": {"key": f"user {ADA}!"}}).encode()
    masked = PersonIdentifier(ADA).masked(note)
    assert not PersonIdentifier(ADA).is_in(masked)
    assert json.loads(masked)["origin"]["key"].startswith("user ###")


@pytest.mark.parametrize("text", ["", "ab", "  a ", "x" * 1001])
def test_texts_that_would_be_found_everywhere_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match="an identifier has"):
        PersonIdentifier(text)
