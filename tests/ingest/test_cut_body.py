"""The beginning of a body keeps no secret whose name may stand behind the point where it was cut."""

import pytest
from tests.ingest.test_ingest import MemoryLog, ingested

from lineage_bridge.ingest.cut_body import mask_beginning
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload
from lineage_bridge.openlineage.redaction import mask

SECRET = b"Hunter2-Xk93"


@pytest.mark.parametrize(
    "before",
    [
        b'{"settings": [{"a": 1}, {"value": "%s", ',
        b'{"settings": {"value": "%s", "na',
        b'{"values": ["%s", "b"], ',
        b'{"value": {"a": ["%s"], "b": {"c": 1',
        b'{"val": "x", "rest": [[{"v": "%s"}, {"default": "%s", "k": [1, ',
        b'[{"value": "%s"',
        b'{"value": "%s',
    ],
)
def test_a_value_is_masked_if_its_name_may_follow(before: bytes) -> None:
    cut = before.replace(b"%s", SECRET)
    masked = mask_beginning(cut)
    assert mask(cut) == cut
    assert SECRET not in masked.replace(b'{"v": "%s"}' % SECRET, b"")  # an object that is complete has no further member
    assert mask_beginning(masked) == masked


@pytest.mark.parametrize(
    "text", [b'{"value": "x"}', b'[{"value": "x", "name": "size"}, {"name": "y", ', b'{"a": "x", "content": "plain", ', b"", b'"']
)
def test_other_values_stay(text: bytes) -> None:
    assert mask_beginning(text) == text


@pytest.mark.parametrize("name", [b"password", b"size"])
def test_no_record_of_a_body_that_is_too_large_has_such_a_value(name: bytes) -> None:
    log = MemoryLog()
    body = b'{"value": "%s", "filler": "%s", "name": "%s"}' % (SECRET, b"x " * SAMPLE_BYTES, name)
    for payload in (Payload(body[:-9], truncated=True), Payload(body[:-1])):
        ingested(payload, log)
    assert len(log.records) == 2
    assert not any(SECRET in record.body for record in log.records)
