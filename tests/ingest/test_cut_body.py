"""The beginning of a body keeps no secret whose name may stand behind the point where it was cut."""

import pytest
from tests.ingest.test_ingest import MemoryLog, ingested

from lineage_bridge.ingest.cut_body import mask_beginning
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.secret_rules.companions import values_left_open

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
        b'{"a": {"content": ["%s"], "',
        b'{"rows": [["a", "%s"]], "columns": ["x", "',
        b'{"a": "{\\"value\\": \\"%s\\", \\"na',
        b'{"message": "config: {\\"value\\": \\"%s\\", \\"na',
        b'{"a": "{\\"value\\": \\"%s\\",\\',
        b'{"a": {"value": "%s"]], "k": ["',
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
def test_no_record_of_a_body_that_is_too_large_or_was_cut_has_such_a_value(name: bytes) -> None:
    log = MemoryLog()
    body = b'{"value": "%s", "filler": "%s", "name": "%s"}' % (SECRET, b"x " * SAMPLE_BYTES, name)
    for payload in (Payload(body[:-9], truncated=True), Payload(body[:-1]), Payload(b'{"settings": [{"value": "%s", "na' % SECRET)):
        ingested(payload, log)
    assert len(log.records) == 3
    assert not any(SECRET in record.body for record in log.records)


def test_the_work_is_counted_by_what_is_in_the_text() -> None:
    def steps(levels: int) -> int:
        text = b"[" * levels + b'"x",' * 50 + b"]" * levels
        spent: list[int] = []
        found = values_left_open(text, lambda _: True)
        mask_beginning(text, spent.append)
        assert len(found) == 50
        return sum(spent)

    assert steps(2000) > steps(1000) > 1000 * 1500
