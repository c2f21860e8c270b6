"""Splits records that were aggregated by the Kinesis producer library. Pure.

The format is the one that the library publishes: four bytes, a message of Protocol Buffers, and the MD5 of that message
(amazon-kinesis-producer, aggregation-format.md).
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, overload

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

MAGIC: Final = b"\xf3\x89\x9a\xc2"
_DIGEST_BYTES: Final = 16
_TYPES: Final = descriptor_pb2.FieldDescriptorProto


class UserRecord(NamedTuple):
    """A record in an aggregated record, as its producer sent it."""

    partition_key: str
    data: bytes


def user_records(data: bytes) -> Sequence[UserRecord] | None:
    """The records in an aggregated record; None for a record that is not aggregated, or is damaged."""
    if not data.startswith(MAGIC) or len(data) < len(MAGIC) + _DIGEST_BYTES:
        return None
    body = data[len(MAGIC) : -_DIGEST_BYTES]
    if hashlib.md5(body, usedforsecurity=False).digest() != data[-_DIGEST_BYTES:]:
        return None
    try:
        found: Any = _AggregatedRecord.FromString(body)
    except DecodeError:
        return None
    keys = len(found.partition_key_table)
    return None if any(record.partition_key_index >= keys for record in found.records) else _UserRecords(found)


class _UserRecords(Sequence[UserRecord]):
    """The records of a message, each decoded on access, because there may be very many small ones."""

    def __init__(self, message: Any) -> None:  # noqa: ANN401  # of a class that is made at run time
        self._message = message

    def __len__(self) -> int:
        return len(self._message.records)

    @overload
    def __getitem__(self, at: int) -> UserRecord: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[UserRecord]: ...

    def __getitem__(self, at: int | slice) -> UserRecord | Sequence[UserRecord]:
        """The record at an index, or the records of a slice."""
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        record = self._message.records[at]
        return UserRecord(self._message.partition_key_table[record.partition_key_index], record.data)


def _message_class() -> Any:  # noqa: ANN401  # the class is made at run time
    """The class of the message, from its published definition."""
    file = descriptor_pb2.FileDescriptorProto(name="lineage_bridge/kinesis.proto", package="lineage_bridge.kinesis", syntax="proto2")
    tag = file.message_type.add(name="Tag")
    _field(tag, "key", 1, _TYPES.TYPE_STRING, _TYPES.LABEL_REQUIRED)
    _field(tag, "value", 2, _TYPES.TYPE_STRING)
    record = file.message_type.add(name="Record")
    _field(record, "partition_key_index", 1, _TYPES.TYPE_UINT64, _TYPES.LABEL_REQUIRED)
    _field(record, "explicit_hash_key_index", 2, _TYPES.TYPE_UINT64)
    _field(record, "data", 3, _TYPES.TYPE_BYTES, _TYPES.LABEL_REQUIRED)
    _field(record, "tags", 4, _TYPES.TYPE_MESSAGE, _TYPES.LABEL_REPEATED, ".lineage_bridge.kinesis.Tag")
    whole = file.message_type.add(name="AggregatedRecord")
    _field(whole, "partition_key_table", 1, _TYPES.TYPE_STRING, _TYPES.LABEL_REPEATED)
    _field(whole, "explicit_hash_key_table", 2, _TYPES.TYPE_STRING, _TYPES.LABEL_REPEATED)
    _field(whole, "records", 3, _TYPES.TYPE_MESSAGE, _TYPES.LABEL_REPEATED, ".lineage_bridge.kinesis.Record")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("lineage_bridge.kinesis.AggregatedRecord"))


def _field(message: Any, name: str, number: int, kind: int, label: int = _TYPES.LABEL_OPTIONAL, type_name: str = "") -> None:  # noqa: ANN401  # as above
    message.field.add(name=name, number=number, type=kind, label=label, type_name=type_name or None)


_AggregatedRecord: Final = _message_class()
