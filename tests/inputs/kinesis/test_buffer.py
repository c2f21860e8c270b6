"""What Kinesis answers is taken apart record by record, and what it weighs is given back once it was taken."""

from datetime import datetime, timezone

import pytest
from tests.inputs.kinesis.aggregate import aggregated

from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.kinesis.aggregation import user_records
from lineage_bridge.inputs.kinesis.shards import RecordBuffer

WHERE = StreamPartition("lineage", "1", "shardId-000000000000")
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def answered(data: bytes) -> dict[str, object]:
    return {"Data": data, "PartitionKey": "key", "ApproximateArrivalTimestamp": AT}


def test_parts_come_in_order_and_nothing_is_left_of_their_weight() -> None:
    buffer = RecordBuffer()
    values = [str(number).encode() for number in range(5)]
    buffer.add(WHERE, 7, answered(b"alone"))
    buffer.add(WHERE, 8, answered(aggregated(*(("key", value) for value in values))))
    buffer.add(WHERE, 9, answered(aggregated()))
    assert buffer.size > len(b"alone") + sum(map(len, values))
    found = []
    while buffer:
        found.append(buffer.pop())
    assert [(record.offset, record.part, record.value) for record in found] == [
        (7, 0, b"alone"),
        *((8, part, value) for part, value in enumerate(values)),
        (9, None, None),
    ]
    assert buffer.size == 0
    with pytest.raises(IndexError):
        buffer.pop()


def test_of_many_small_records_only_those_are_made_that_are_looked_at() -> None:
    data = aggregated(*(("key", b"{}") for _ in range(10_000)))
    parts = user_records(data)
    assert parts is not None
    assert (len(parts), parts[9_999].data, len(parts[2:5])) == (10_000, b"{}", 3)
    buffer = RecordBuffer()
    buffer.add(WHERE, 1, answered(data))
    assert [buffer.pop().part for _ in range(3)] == [0, 1, 2]
    assert (bool(buffer), buffer.size) == (True, len(data))


def test_a_record_whose_table_of_keys_is_too_short_is_none_of_these() -> None:
    assert user_records(aggregated(("a", b"1"), ("b", b"2"), keys=["a"])) is None
