"""Tests each step of reading a stream, without ingesting any event."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from lineage_bridge.errors import LineageBridgeError, RequestError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.kinesis.client import AT_FIRST, KinesisClient, Shard, Stream, incoming
from lineage_bridge.inputs.kinesis.settings import KinesisInputSettings
from lineage_bridge.model.sources import SourceCheck

CREDENTIALS, STREAM, SHARDS, ITERATOR, RECORDS, RECORD = "credentials", "stream", "shards", "iterator", "records", "record"
_SHARDS, _CALLS, _RECORDS = 4, 5, 10
"""How many shards are searched for a record, with how many calls each, and how many records per call."""
_METHODS: Final = {"explicit": "the keys of the settings", "assume-role": "the role of the settings"}


def checks(settings: KinesisInputSettings, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
    """Test the steps of reading a stream, and return a check for each. Stops at a failed step on which the following ones depend."""
    client = KinesisClient(settings)
    try:
        yield from _checks(settings, client, judge)
    finally:
        client.close()


def _checks(settings: KinesisInputSettings, client: KinesisClient, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
    step = CREDENTIALS
    try:
        method = client.credentials
        if not method:
            yield SourceCheck(step, False, "no AWS credentials were found", "set `profile` or `access_key_id`, or give this machine a role")
            return
        yield SourceCheck(step, True, _METHODS.get(method, f"found by the AWS SDK: {method}"))
        step = STREAM
        stream = client.stream()
        hours = stream.retention_ms // 3_600_000
        yield SourceCheck(
            step, True, f"{client.address} has {settings.stream}: {stream.status.lower()}, records are kept for {hours} hours"
        )
        step = SHARDS
        shards = client.shards()
        count = sum(shard.is_open for shard in shards)
        yield SourceCheck(step, True, f"{count} open and {len(shards) - count} closed")
    except LineageBridgeError as error:
        yield SourceCheck(step, False, str(error), error.hint)
        return
    yield from _record(settings, client, stream, shards, judge)


def _record(
    settings: KinesisInputSettings, client: KinesisClient, stream: Stream, shards: Sequence[Shard], judge: Callable[[IncomingRecord], str]
) -> Iterator[SourceCheck]:
    """Read the oldest record of a shard that has one, and validate it."""
    step, found = ITERATOR, None
    try:
        for shard in shards[:_SHARDS]:
            iterator: str | None = client.iterator(shard.id, AT_FIRST)
            where = StreamPartition(settings.stream_name, stream.life, shard.id)
            if step == ITERATOR:
                yield SourceCheck(step, True, f"{shard.id} can be read")
            step = RECORDS
            found = _first(client, iterator, where)
            if found is not None:
                break
        yield SourceCheck(step, True, "records can be read")
    except LineageBridgeError as error:
        yield SourceCheck(step, False, str(error), error.hint)
        return
    if found is None:
        yield SourceCheck(RECORD, True, "there are no records yet")
        return
    at = f"{found.where.partition}, sequence number {found.offset}"
    try:
        yield SourceCheck(RECORD, True, f"{at}: {judge(found)}")
    except RequestError as error:
        yield SourceCheck(RECORD, False, f"{at}: {error}", "such records are stored in quarantine, and the input continues after them")


def _first(client: KinesisClient, iterator: str | None, where: StreamPartition) -> IncomingRecord | None:
    """The first record of a shard; None if a few calls return none."""
    for _ in range(_CALLS):
        if iterator is None:
            return None
        records, iterator, behind_ms = client.records(iterator, _RECORDS)
        if records:
            return next(incoming(where, int(records[0]["SequenceNumber"]), records[0]))
        if behind_ms == 0:
            return None
    return None
