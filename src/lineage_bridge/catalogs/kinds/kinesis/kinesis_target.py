"""Writes records to a stream by PutRecords. Requires botocore, an optional dependency."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from lineage_bridge.catalogs.events import digest, in_form, record_key
from lineage_bridge.catalogs.kinds.kinesis.settings import KEY_BYTES, KinesisTargetSettings
from lineage_bridge.catalogs.settings import MIB
from lineage_bridge.catalogs.target import DONE, Expressed, Json, Operation, Outcome, Target
from lineage_bridge.errors import BusyError, SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.sources.common.aws.client import AmazonClient
from lineage_bridge.sources.common.aws.session import error_code
from lineage_bridge.sources.common.aws.settings import stream_parameters

LONGEST_KEY: Final = 256
"""The maximum length of a partition key, in units of UTF-16."""
_KEPT: Final = 100
"""How many characters are kept of a key that is too long."""
MOST_RECORDS, MOST_BYTES = 500, 5 * MIB
"""The most records and bytes of one request. Some regions and servers accept 10 MiB, all accept 5; a larger record is sent alone."""
PAUSE_S: Final = 1.0
"""Seconds until records that Kinesis did not accept are sent again: a shard's limits are per second."""
_REFUSED: Final = frozenset(("InvalidArgumentException", "ValidationException"))


class KinesisTarget(Target[KinesisTargetSettings]):
    """Publishes to a stream: one record for each event. Keys are those of OpenLineage's own clients, so events of one job are in one
    shard. Those of one publication have no order, but there is at most one for each job.
    """

    batch = MOST_RECORDS
    paces_itself = True

    def __init__(self, name: str, settings: KinesisTargetSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = AmazonClient(settings, "kinesis", connections=settings.at_once, tries=1)

    def express(self, event: Json) -> Expressed:
        """Convert an event to the form in records: unchanged or, depending on the settings, as a completed run."""
        return in_form(event, self.settings.events)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write records, in as few requests as their sizes allow."""
        outcomes = dict[int, Outcome]()
        try:
            for portion in _portions(operations):
                self._put(portion, outcomes)
        except BusyError as error:
            if not outcomes:
                raise
            # What was written is not to be sent again, so the rest is left to the next publication.
            later = Outcome(False, str(error), later=True)
            return [outcomes.get(at, later) for at in range(len(operations))]
        return [outcomes[at] for at in range(len(operations))]

    def _put(self, portion: Sequence[tuple[int, Operation]], outcomes: dict[int, Outcome]) -> None:
        """Write a portion, and repeat those of its records that Kinesis did not accept, until it accepts none of them."""
        left = list(portion)
        while left:
            try:
                left = self.repeated(lambda asked=left: self._accepted(asked, outcomes))  # type: ignore[misc]  # mypy cannot infer it
            except SourceError as error:
                if error_code(error.__cause__) not in _REFUSED:
                    raise
                if len(left) == 1:
                    outcomes[left[0][0]] = Outcome(False, str(error))
                    return
                for single in left:  # one of them is the cause
                    self._put([single], outcomes)
                return
            if left:
                self.wait(PAUSE_S)

    def _accepted(self, asked: Sequence[tuple[int, Operation]], outcomes: dict[int, Outcome]) -> list[tuple[int, Operation]]:
        """Make one request, and note the records that were written. Returns those that were not. Raises BusyError if none was."""
        records = [{"Data": operation.body, "PartitionKey": partition_key(operation)} for _, operation in asked]
        answer = self._called("put_records", "PutRecords", Records=records)
        found = answer.get("Records")
        if not isinstance(found, list) or len(found) != len(asked):
            raise SourceError("PutRecords did not answer for each record", "check that endpoint_url is that of kinesis")
        left, problem = [], ""
        for (at, operation), record in zip(asked, found, strict=True):
            code, text = record.get("ErrorCode"), f"{record.get('ErrorCode')}: {record.get('ErrorMessage', '')}"[:300]
            if not code:
                outcomes[at] = DONE
            elif code in _REFUSED:
                outcomes[at] = Outcome(False, text)
            else:
                left.append((at, operation))
                problem = text
        if len(left) == len(asked):
            raise BusyError(f"PutRecords wrote no record: {problem}", "add shards to the stream, or limit the requests with calls_per_s")
        return left

    def _called(self, method: str, operation: str, **more: Any) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        rights = f"grant kinesis:{operation} on the stream"
        return self._client.call(method, operation, rights, {**stream_parameters(self.settings.stream), **more})

    def test(self) -> list[SourceCheck]:
        """Check whether the stream can be written now. Whether its rights allow it only shows when a record is sent."""
        found = self._called("describe_stream_summary", "DescribeStreamSummary")["StreamDescriptionSummary"]
        state, count = str(found["StreamStatus"]), int(found["OpenShardCount"])
        text = f"{self.settings.stream} is {state.lower()}, with {count} open shard{'s' * (count != 1)}"
        return [SourceCheck("stream", state in ("ACTIVE", "UPDATING"), text)]

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def partition_key(operation: Operation) -> str:
    """The key of a record; a digest replaces the end of one that is too long for Kinesis."""
    key = record_key(operation)
    is_long = len(key.encode("utf-16-le")) > 2 * LONGEST_KEY
    return f"{key[:_KEPT]}#{digest_of(key)}" if is_long else key


def _portions(operations: Sequence[Operation]) -> Iterator[list[tuple[int, Operation]]]:
    """Operations with their positions, in the portions of requests."""
    portion, size = list[tuple[int, Operation]](), 0
    for at, operation in enumerate(operations):
        needed = len(operation.body) + KEY_BYTES
        if portion and (size + needed > MOST_BYTES or len(portion) == MOST_RECORDS):
            yield portion
            portion, size = [], 0
        portion.append((at, operation))
        size += needed
    if portion:
        yield portion
