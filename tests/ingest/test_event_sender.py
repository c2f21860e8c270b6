"""Who sent an event that was rejected."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.ingest.event_sender import MAX_TEXT, EventSender, sender_of

EVENT = {"producer": "p", "job": {"namespace": "ns", "name": "load"}, "inputs": [{"namespace": "ns", "name": "a"}]}
WHOLE = EventSender("ns", "load", "p")


def test_a_valid_object_names_its_sender() -> None:
    assert sender_of(json.dumps(EVENT).encode()) == WHOLE
    assert sender_of(json.dumps(EVENT, indent=3).encode()) == WHOLE


@pytest.mark.parametrize(
    ("raw", "sender"),
    [
        (b"", EventSender()),
        (b"no json", EventSender()),
        (b"[]", EventSender()),
        (b"{", EventSender()),
        (b'{"job"', EventSender()),
        (b'{"job": {"namespace": "ns"', EventSender()),
        (b'{"job": {"namespace": "ns", "name": "load"}, "producer": "p", "run": {"ru', WHOLE),
        (b'{"job": {"namespace": "ns", "name": "load"}, "producer": "p",}', WHOLE),
        (b'{"job": {"namespace": 3, "name": "load"}, "producer": null}', EventSender("", "load", "")),
        (b'{"job": "load", "producer": "\xff"}', EventSender("", "", "\ufffd")),
        (b'{"producer": "\\ud800"}', EventSender("", "", "?")),
        (b'{"producer": "p", "facets": ' + b"[" * 100_000, EventSender("", "", "p")),
    ],
)
def test_what_cannot_be_read_ends_the_search(raw: bytes, sender: EventSender) -> None:
    assert sender_of(raw) == sender


def test_a_long_name_is_cut() -> None:
    name = sender_of(json.dumps({"job": {"namespace": "ns", "name": "x" * 10_000}}).encode()).name
    assert (len(name), name[-3:]) == (MAX_TEXT + 3, "...")


@given(st.binary())
def test_any_bytes_are_read(raw: bytes) -> None:
    assert isinstance(sender_of(raw), EventSender)


@given(st.integers(0, len(json.dumps(EVENT))))
def test_a_cut_event_names_what_comes_before_the_cut(length: int) -> None:
    sender = sender_of(json.dumps(EVENT).encode()[:length])
    assert all(
        found in ("", whole) for found, whole in zip((sender.namespace, sender.name, sender.producer), ("ns", "load", "p"), strict=True)
    )
