"""Reading events from files in all formats, with unchanged bytes."""

import gzip
import json

import pytest

from lineage_bridge.cli.files import batches, read_events
from lineage_bridge.errors import RequestError

EVENT = b'{"run": {"runId": "1"}, "x":  1.0}'
TWO = b'{"run":{"runId":"2"}}'
PRETTY = json.dumps(json.loads(EVENT), indent=2).encode()
SURROGATE = b'{"run":{"runId":"\\ud800"}}'


def found(tmp_path, content: bytes, name: str = "events.json") -> list[bytes]:
    path = tmp_path / name
    path.write_bytes(content)
    return [event.raw for event in read_events(str(path))]


@pytest.mark.parametrize(
    ("content", "events"),
    [
        (EVENT, [EVENT]),
        (EVENT + b"\n", [EVENT]),
        (PRETTY + b"\n", [PRETTY]),
        (EVENT + b"\n" + TWO, [EVENT, TWO]),
        (b"\n" + EVENT + b"\r\n\n" + TWO + b"\n\n", [EVENT, TWO]),
        (b"[" + EVENT + b" ,\n" + TWO + b"]\n", [EVENT, TWO]),
        (b"[\n" + PRETTY + b"\n]", [PRETTY]),
        (b'{"events": [' + EVENT + b", " + TWO + b"]}", [EVENT, TWO]),
        (b'{"events": [1], "run": {}}', [b'{"events": [1], "run": {}}']),
        (b"[" + SURROGATE + b"," + TWO + b"]", [SURROGATE, TWO]),
        (SURROGATE + b"\n" + TWO, [SURROGATE, TWO]),
        (EVENT + b"\n{broken\n" + TWO, [EVENT, b"{broken", TWO]),
        (b'{"a":\n', [b'{"a":']),
        (b"{\n broken\n}", [b"{\n broken\n}"]),
        (b"not json", [b"not json"]),
        (b"", []),
        (b" \n\n", []),
        (b"[]", []),
    ],
)
def test_events_keep_their_bytes(tmp_path, content, events):
    assert found(tmp_path, content) == events
    assert found(tmp_path, gzip.compress(content), "events.gz") == events


def test_ndjson_files_are_read_by_line_even_if_the_first_is_invalid(tmp_path):
    assert found(tmp_path, b"{broken\n" + EVENT, "events.ndjson") == [b"{broken", EVENT]
    assert found(tmp_path, gzip.compress(b"{broken\n" + EVENT), "events.jsonl.gz") == [b"{broken", EVENT]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(RequestError, match=r"cannot read .*none\.json: No such file"):
        list(read_events(str(tmp_path / "none.json")))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(EVENT * 100)[:-9])
    with pytest.raises(RequestError, match=r"cannot read .*cut\.gz"):
        list(read_events(str(cut)))


def test_batches_keep_order_and_limits(tmp_path):
    path = tmp_path / "events.ndjson"
    lines = [b'{"n":%d}' % number for number in range(10)]
    path.write_bytes(b"\n".join(lines))
    cut = list(batches(read_events(str(path)), most_events=3))
    assert [len(batch.events) for batch in cut] == [3, 3, 3, 1]
    assert [event.raw for batch in cut for event in batch.events] == lines
    assert [len(batch.events) for batch in batches(read_events(str(path)), most_bytes=16)] == [2] * 5


def test_invalid_json_is_sent_unchanged(tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(b'{"a":\n')
    (batch,) = batches(read_events(str(path)))
    assert batch.body == b'{"a":'
