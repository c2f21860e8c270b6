"""Splitting payloads into events."""

import gzip
import tracemalloc

import pytest
from tests.corpora.verdicts import EVENT

from lineage_bridge.ingest.payload import Payload, split_payload


def test_a_compression_bomb_is_unpacked_no_further_than_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    tracemalloc.start()
    events = split_payload(Payload(bomb, compressed=True, max_bytes=1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert events.rejected is not None
    assert events.rejected.code == "too_large"
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("data", "items", "single"),
    [
        (EVENT, [EVENT], True),
        (b" [1, {}] ", [b"1", b"{}"], False),
        (b'{"events": [1]}', [b"1"], False),
        (b'{"events": [1], "run": {}}', [b'{"events": [1], "run": {}}'], True),
        (b"1\n\n2\n", [b"1", b"2"], False),
        (b"", [b""], True),
        (b"no json\nat all", [b"no json\nat all"], True),
    ],
)
def test_a_payload_is_one_event_or_several(data: bytes, items: list[bytes], single: bool) -> None:
    events = split_payload(Payload(data))
    assert (list(events.items), events.single, events.rejected) == (items, single, None)


def test_more_events_than_the_limit_are_refused_as_a_whole() -> None:
    assert split_payload(Payload(b"[1,2]", max_events=2)).rejected is None
    refused = split_payload(Payload(b"[1,2,3]", max_events=2))
    assert refused.rejected is not None
    assert (refused.rejected.code, refused.items, refused.single) == ("too_many", [b"[1,2,3]"], True)


def test_a_stream_that_ends_early_is_refused() -> None:
    refused = split_payload(Payload(gzip.compress(EVENT)[:-9], compressed=True))
    assert refused.rejected is not None
    assert refused.rejected.code == "not_json"


def test_compressed_bytes_are_estimated_larger() -> None:
    assert Payload(b"1234").estimated_bytes == 4
    assert Payload(b"1234", compressed=True).estimated_bytes > 4


@pytest.mark.parametrize("pieces", [1, 2, 7, 300])
def test_a_stream_of_any_members_is_unpacked_whole(pieces: int):
    data = b"".join(b'{"number": %d}\n' % number for number in range(5000))
    size = len(data) // pieces + 1
    packed = b"".join(gzip.compress(data[at : at + size]) + gzip.compress(b"") for at in range(0, len(data), size))
    assert b"\n".join(split_payload(Payload(packed, compressed=True)).items) == data.strip()
    assert split_payload(Payload(packed[:-3], compressed=True)).rejected
    assert split_payload(Payload(packed, compressed=True, max_bytes=len(data))).rejected is None
    refused = split_payload(Payload(packed, compressed=True, max_bytes=len(data) - 1))
    assert refused.rejected
    assert refused.rejected.code == "too_large"


def test_twice_as_many_members_take_about_twice_the_work():
    """Counts copied bytes instead of time: what lies behind a member's end is copied once for each member."""

    class CountingBytes(bytes):
        copied = 0

        def __getitem__(self, index):
            piece = super().__getitem__(index)
            CountingBytes.copied += len(piece)
            return piece

    members = 20_000
    data = CountingBytes(gzip.compress(b"") * members)
    split_payload(Payload(data, compressed=True))
    assert CountingBytes.copied < 10 * len(data)
