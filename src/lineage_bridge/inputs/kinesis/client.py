"""Makes the calls to Kinesis' API that are needed to read a stream."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.kinesis.aggregation import UserRecord, user_records
from lineage_bridge.inputs.kinesis.settings import KinesisInputSettings
from lineage_bridge.sources.common.aws.session import error_code, open_client, service_errors
from lineage_bridge.sources.common.aws.settings import stream_parameters

MOST_RECORDS: Final = 10_000
"""How many records Kinesis returns in one answer at most."""
_SHARD_PAGE: Final = 1000
_RIGHTS: Final = "grant kinesis:{} on the stream"


class Stream(NamedTuple):
    """A stream of Kinesis. `life` distinguishes it from other streams of the same name: the time of its creation, in UTC milliseconds.
    `now_ms` is the present time by the service's clock.
    """

    life: str
    status: str
    retention_ms: int
    now_ms: int


class Shard(NamedTuple):
    """A shard of a stream, and the shards from which it was made. It is open until it is split or merged."""

    id: str
    parents: tuple[str, ...]
    is_open: bool


class ShardStart(NamedTuple):
    """Where to begin in a shard: at a sequence number, a time in UTC milliseconds, the first record, or after the last record."""

    kind: str
    sequence: int = 0
    at_ms: int = 0


AT_FIRST: Final = ShardStart("TRIM_HORIZON")


class ShardRecords(NamedTuple):
    """The answer to a read of a shard: records, the next iterator (None: the shard is closed and was read to its end), and how many
    milliseconds the read is behind.
    """

    records: Sequence[Any]
    iterator: str | None
    behind_ms: int | None


class KinesisClient:
    """Calls the API for one stream. Thread-safe. Methods raise SourceError and ConfigError.

    A read of a shard is not retried: the caller decides when to call again.
    """

    def __init__(self, settings: KinesisInputSettings) -> None:
        self._settings = settings
        self._looking = open_client(settings, "kinesis")
        self._reading = open_client(settings, "kinesis", connections=settings.at_once, tries=1)
        self._stream = stream_parameters(settings.stream)

    @property
    def address(self) -> str:
        """The address that the client calls."""
        return str(self._looking.meta.endpoint_url)

    @property
    def credentials(self) -> str:
        """How the AWS SDK found the credentials, such as `env`. Raises ForbiddenError."""
        with service_errors("credentials"):
            found = self._looking._request_signer._credentials  # noqa: SLF001  # botocore shows them nowhere else
            return "" if found is None else str(found.method)

    def stream(self) -> Stream:
        """The current description of the stream."""
        with self._errors("DescribeStreamSummary"):
            answer = self._looking.describe_stream_summary(**self._stream)
            found = answer["StreamDescriptionSummary"]
            life = str(round(found["StreamCreationTimestamp"].timestamp() * 1000))
            return Stream(life, str(found["StreamStatus"]), int(found["RetentionPeriodHours"]) * 3_600_000, _time_of(answer))

    def shards(self) -> Sequence[Shard]:
        """All shards that Kinesis lists: those that have records, or had records until recently."""
        with self._errors("ListShards"):
            return [_shard(found) for page in self._pages() for found in page]

    def _pages(self) -> Iterator[Sequence[Any]]:
        asked: dict[str, Any] = dict(self._stream)
        while True:
            answer = self._looking.list_shards(**asked, MaxResults=_SHARD_PAGE)
            yield answer["Shards"]
            if not answer.get("NextToken"):
                return
            asked = {"NextToken": answer["NextToken"]}

    def iterator(self, shard: str, start: ShardStart) -> str:
        """Request an iterator of a shard. It expires after five minutes."""
        more: dict[str, Any] = {}
        if start.kind == "AT_SEQUENCE_NUMBER":
            more["StartingSequenceNumber"] = str(start.sequence)
        elif start.kind == "AT_TIMESTAMP":
            more["Timestamp"] = datetime.fromtimestamp(start.at_ms / 1000, timezone.utc)
        with self._errors("GetShardIterator"):
            return str(
                self._reading.get_shard_iterator(**self._stream, ShardId=shard, ShardIteratorType=start.kind, **more)["ShardIterator"]
            )

    def records(self, iterator: str, most: int) -> ShardRecords:
        """Read the next records of a shard."""
        arn = {"StreamARN": self._settings.stream} if "StreamARN" in self._stream else {}
        with self._errors("GetRecords"):
            answer = self._reading.get_records(ShardIterator=iterator, Limit=max(1, min(most, MOST_RECORDS)), **arn)
            behind = answer.get("MillisBehindLatest")
            return ShardRecords(answer["Records"], answer.get("NextShardIterator"), None if behind is None else int(behind))

    def close(self) -> None:
        """Close the connections."""
        self._looking.close()
        self._reading.close()

    @staticmethod
    def _errors(operation: str) -> Any:  # noqa: ANN401  # a context
        return service_errors(operation, _RIGHTS.format(operation))


def is_expired(error: SourceError) -> bool:
    """Whether an error means that an iterator was not used for too long."""
    return error_code(error.__cause__) == "ExpiredIteratorException"


def is_unknown_sequence(error: SourceError) -> bool:
    """Whether an error means that Kinesis no longer has a sequence number, or an iterator."""
    return error_code(error.__cause__) in ("InvalidArgumentException", "ResourceNotFoundException")


def incoming(where: StreamPartition, sequence: int, record: Any) -> Iterator[IncomingRecord]:  # noqa: ANN401  # JSON
    """The records in a Kinesis record: the record itself, or the records that a producer aggregated in it. Every record is numbered as a
    part, even if there is only one, so that its position in the log contains the sequence number of the Kinesis record.
    """
    data, at_ms = bytes(record["Data"]), int(record["ApproximateArrivalTimestamp"].timestamp() * 1000)
    parts = user_records(data)
    if parts is None:
        parts = [UserRecord(str(record["PartitionKey"]), data)]
    if not parts:
        yield IncomingRecord(where, sequence, None, at_ms, is_whole=False)
    for number, (key, value) in enumerate(parts):
        yield IncomingRecord(where, sequence, value, at_ms, key.encode(), part=number, is_whole=False)


def _shard(found: Any) -> Shard:  # noqa: ANN401  # JSON
    parents = tuple(found[key] for key in ("ParentShardId", "AdjacentParentShardId") if found.get(key))
    return Shard(str(found["ShardId"]), parents, "EndingSequenceNumber" not in found["SequenceNumberRange"])


def _time_of(answer: Any) -> int:  # noqa: ANN401  # JSON
    """The service's clock in UTC milliseconds, to the second; this machine's clock if the answer does not state it."""
    date = answer["ResponseMetadata"].get("HTTPHeaders", {}).get("date", "")
    try:
        return int(parsedate_to_datetime(date).timestamp() * 1000)
    except ValueError:
        return int(datetime.now(timezone.utc).timestamp() * 1000)
