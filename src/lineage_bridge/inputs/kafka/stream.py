"""Plans what Spark reads from topics: librdkafka finds the offset ranges of partitions, and Spark's Kafka source reads them."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from lineage_bridge.errors import LineageBridgeError, SourceError
from lineage_bridge.inputs.input import Positions, ReadingState, StreamInput
from lineage_bridge.inputs.kafka.assignment import Assignment
from lineage_bridge.inputs.kafka.errors import error_text
from lineage_bridge.inputs.kafka.java_client import java_options
from lineage_bridge.inputs.kafka.settings import EARLIEST, KafkaInputSettings, client_config, group_of
from lineage_bridge.inputs.kafka.topics import FoundTopic, TopicFinder
from lineage_bridge.ports.streams import SparkRead, StreamRange

SET_BACK_S: Final = 10.0
"""How long, in seconds, a partition that cannot be read is skipped."""
COMMIT_S: Final = 1.0
SMALL: Final = 500
"""Up to this many records, one Spark task reads a partition."""
COLUMNS: Final = (
    "topic AS stream",
    "CAST(partition AS STRING) AS partition",
    "offset",
    "value",
    "IF(timestampType >= 0 AND unix_millis(timestamp) BETWEEN -62135596800000 AND 253402300799999, unix_millis(timestamp), NULL) AS at_ms",
    "key",
    "headers",
)
_Pair = tuple[str, int]


class KafkaStream(StreamInput[KafkaInputSettings]):
    """An input whose topics Spark reads. It reads all partitions of all topics, and is not a member of a consumer group."""

    def __init__(self, name: str, settings: KafkaInputSettings, installation: str = "") -> None:
        super().__init__(name, settings, installation)
        self._lost = 0
        self._next: dict[_Pair, int] = {}

    def open(self, positions: Positions) -> None:
        """Connect to the cluster."""
        self._causes: list[KafkaError] = []
        try:
            self._admin = AdminClient(client_config(self.settings) | {"error_cb": self._note_cause})
        except (KafkaException, ValueError) as error:
            raise SourceError(f"librdkafka rejects the settings: {error_text(error)}", "check the setting `properties`") from error
        self._options = java_options(self.settings)
        self._finder = TopicFinder(self.settings, self._admin, self._causes)
        self._assignment = Assignment(self.settings, self._finder, positions)
        self._topics: dict[str, FoundTopic] = {}
        self._problems: tuple[str, ...] = ()
        self._of_partitions: dict[_Pair, tuple[float, str]] = {}
        self._next = {}
        self._ends: Mapping[_Pair, int] = {}
        self._commit_at = self._refresh_at = 0.0
        self._commit_problem = ""

    def plan(self, most: int) -> Sequence[StreamRange]:
        """Plan the next ranges: at most `most` records in total, shared among the partitions that have any."""
        now = time.monotonic()
        if now >= self._refresh_at:
            self._refresh()
        self._of_partitions = {pair: back for pair, back in self._of_partitions.items() if back[0] > now}
        pairs = [pair for pair in self._next if pair not in self._of_partitions]
        self._ends = self._ends_of(pairs)
        left = {pair: self._ends[pair] - self._next[pair] for pair in pairs if self._ends.get(pair, 0) > self._next[pair]}
        shares = _shared(left, most)
        ranges = []
        for (topic, number), share in sorted(shares.items()):
            where = self._assignment.where(topic, number)
            at = self._next[topic, number]
            ranges.append(StreamRange(where, at, at + share))
        return ranges

    def is_same(self, ranges: Sequence[StreamRange]) -> bool:
        """Whether the topics still have the ids for which the ranges were planned."""
        names = sorted({given.where.stream for given in ranges})
        now = self._finder.look_at(names).topics
        same = all(name in now and now[name].id == self._topics[name].id for name in names)
        if not same:
            self._refresh_at = 0.0
        return same

    def read(self, ranges: Sequence[StreamRange], parallelism: int) -> SparkRead:
        """Make the Spark read of ranges."""
        starts, ends = dict[str, dict[str, int]](), dict[str, dict[str, int]]()
        for (stream, _, partition), start, end in ranges:
            starts.setdefault(stream, {})[partition] = start
            ends.setdefault(stream, {})[partition] = end
        options = {
            **self._options,
            "assign": json.dumps({stream: sorted(map(int, found)) for stream, found in starts.items()}),
            "startingOffsets": json.dumps(starts),
            "endingOffsets": json.dumps(ends),
            "includeHeaders": "true",
            "failOnDataLoss": "true",
            "kafkaConsumer.pollTimeoutMs": str(max(int(self.settings.timeout_s * 1000), 1000)),
            "fetchOffset.numRetries": "1",
        }
        if sum(given.end - given.start for given in ranges) > SMALL:
            options["minPartitions"] = str(max(parallelism, len(ranges)))
        return SparkRead("kafka", options, COLUMNS)

    def taken(self, ranges: Sequence[StreamRange]) -> None:
        """Continue after these ranges. From time to time, offsets are also committed to the group, as a copy for tools that show lag."""
        for given in ranges:
            self._next[given.where.stream, int(given.where.partition)] = given.end
        if time.monotonic() >= self._commit_at:
            self._commit()

    def postpone(self, given: StreamRange, error: LineageBridgeError) -> None:
        """A partition cannot be read: leave it out for a while. The other partitions continue."""
        pair = given.where.stream, int(given.where.partition)
        text = f"topic {pair[0]}, partition {pair[1]}, from offset {given.start}: {error}"
        self._of_partitions[pair] = time.monotonic() + SET_BACK_S, text
        self._refresh_at = 0.0

    def reading_state(self) -> ReadingState:
        """The partitions that are read, and the number of records between the last taken ones and the last known ends of the partitions."""
        lag = sum(max(0, end - self._next.get(pair, end)) for pair, end in self._ends.items())
        known = bool(self._next) and all(pair in self._ends for pair in self._next)
        postponed = tuple(text for _, text in self._of_partitions.values())
        commit = (self._commit_problem,) if self._commit_problem else ()
        return ReadingState(
            len(self._next), lag if known else None, self._lost + self._assignment.lost, (*self._problems, *postponed, *commit)
        )

    def close(self) -> None:
        """Commit the last offsets to the group, as a copy, and disconnect."""
        if self._next:
            self._lost += self._assignment.lost
            self._commit()
            self._next = {}

    def _refresh(self) -> None:
        """Look for topics that are new or were created again, and for records that were deleted before they were read."""
        self._refresh_at = time.monotonic() + self.settings.refresh_s
        found = self._finder.find()
        kept = {name: topic for name, topic in self._topics.items() if name in found.unclear}
        self._topics, self._problems = {**kept, **found.topics}, found.problems
        self._assignment.update(self._topics)
        pairs = [(name, number) for name, topic in self._topics.items() for number in range(topic.partitions)]
        self._assign(pairs)
        lows, highs = self._finder.known_offsets(pairs, EARLIEST)[0], self._ends_of(pairs)
        behind = [pair for pair in pairs if not lows.get(pair, 0) <= self._next[pair] <= highs.get(pair, self._next[pair])]
        for pair in behind:
            try:
                self._assignment.recover([pair])
            except SourceError as error:  # noqa: PERF203 - each by itself
                self._of_partitions[pair] = time.monotonic() + self.settings.refresh_s, str(error)
        if behind:
            self._assign(pairs)

    def _assign(self, pairs: Sequence[_Pair]) -> None:
        self._next = {(found.topic, found.partition): found.offset for found in self._assignment.assigned(pairs)}

    def _ends_of(self, pairs: Sequence[_Pair]) -> Mapping[_Pair, int]:
        """The ends of committed records. Partitions without an answer are skipped for a while."""
        ends, failures = self._finder.known_offsets(pairs, None)
        for pair, text in failures.items():
            self._of_partitions[pair] = time.monotonic() + SET_BACK_S, f"topic {pair[0]}, partition {pair[1]}: {text}"
        return ends

    def _commit(self) -> None:
        """Commit positions to the group. If this fails, nothing is lost, because they are in the store."""
        self._commit_at = time.monotonic() + COMMIT_S
        group = group_of(self.name, self.settings, self.installation)
        offsets = [TopicPartition(topic, number, offset) for (topic, number), offset in sorted(self._next.items())]
        try:
            asked = [ConsumerGroupTopicPartitions(group, offsets)]
            answers = self._admin.alter_consumer_group_offsets(asked, request_timeout=self.settings.timeout_s)
            answers[group].result()
        except KafkaException as error:
            self._commit_problem = f"offsets cannot be committed to the group {group}: {error_text(error)}"
        else:
            self._commit_problem = ""

    def _note_cause(self, error: KafkaError) -> None:
        self._causes[:] = [*self._causes[-9:], error]


def _shared(left: Mapping[_Pair, int], most: int) -> dict[_Pair, int]:
    """Share `most` records among partitions in proportion to their waiting records; each gets at least one."""
    total = sum(left.values())
    if total <= most:
        return dict(left)
    return {pair: max(1, waiting * most // total) for pair, waiting in left.items()}
