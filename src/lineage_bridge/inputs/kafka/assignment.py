"""Keeps the partitions that are read, and determines where each starts: at the log's position, at the beginning set in the settings, or at
the oldest remaining record.
"""

from collections.abc import Iterable, Mapping, Sequence

from confluent_kafka import TopicPartition

from lineage_bridge.errors import SourceError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import Positions
from lineage_bridge.inputs.kafka.settings import EARLIEST, LATEST, STOP, KafkaInputSettings
from lineage_bridge.inputs.kafka.topics import FoundTopic, TopicFinder
from lineage_bridge.openlineage.times import parse_time

_AGAIN = "+"
"""Separates the id of a topic from a number: how many times the topic's records were replaced, without the topic being created again."""


class Assignment:
    """The partitions that the consumer group assigned to this input. `lost` counts records that were deleted before they were read."""

    def __init__(self, settings: KafkaInputSettings, finder: TopicFinder, positions: Positions) -> None:
        self._settings, self._finder, self._positions = settings, finder, positions
        self._topics: Mapping[str, FoundTopic] = {}
        self._where: dict[tuple[str, int], StreamPartition] = {}
        self._next: dict[tuple[str, int], int] = {}
        self._done: dict[tuple[str, int], int] = {}
        self.lost = 0

    def update(self, topics: Mapping[str, FoundTopic]) -> None:
        """Record the existing topics. At the first start of the input, store where reading of each of their partitions begins."""
        self._topics = topics
        if self._positions.is_new and topics:
            every = [(name, number) for name, topic in topics.items() for number in range(topic.partitions)]
            self._positions.begin(self._by_where(self._starts(every)))

    def assigned(self, partitions: Sequence[tuple[str, int]]) -> list[TopicPartition]:
        """Start reading partitions, and return the offsets at which to read them. New ones begin at their first record. Raises
        SourceError.
        """
        known = [(topic, number) for topic, number in partitions if topic in self._topics]
        new = [pair for pair in known if self._positions.next_offset(self._current(*pair)) is None]
        if new:
            self._positions.begin(self._by_where(self._finder.offsets(new, EARLIEST)))
        self._where = {pair: self._current(*pair) for pair in known}
        self._next = {pair: self._positions.next_offset(where) or 0 for pair, where in self._where.items()}
        self._done = dict(self._next)
        return self.partitions()

    def where(self, topic: str, number: int) -> StreamPartition:
        """The name that positions use for a partition that is being read."""
        return self._where[topic, number]

    def clear(self) -> None:
        """Forget all partitions, because the consumer group no longer assigns them to this input."""
        self._where, self._next, self._done = {}, {}, {}

    def partitions(self) -> list[TopicPartition]:
        """The partitions that are read, with the next offset of each."""
        return [TopicPartition(topic, number, offset) for (topic, number), offset in sorted(self._next.items())]

    def take(self, topic: str, number: int, offset: int) -> StreamPartition | None:
        """Accept a record, and return its partition. None if the partition is not read, or if the record was read before."""
        pair = topic, number
        if offset < self._next.get(pair, offset + 1):
            return None
        self._next[pair] = offset + 1
        return self._where[pair]

    def advance(self, ends: Mapping[StreamPartition, int]) -> dict[StreamPartition, int]:
        """Record that the log has everything before these offsets. Returns the offsets of those partitions that are read now."""
        current = {where: offset for where, offset in ends.items() if self._where.get((where.stream, int(where.partition))) == where}
        self._done |= {(where.stream, int(where.partition)): offset for where, offset in current.items()}
        return current

    def done(self, topic: str, number: int) -> int:
        """The offset before which all records are in the log."""
        return self._done.get((topic, number), 0)

    def next_offset(self, topic: str, number: int) -> int | None:
        """The offset that is read next from a partition; None if the partition is not read."""
        return self._next.get((topic, number))

    def recover(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Store where to continue in partitions whose next offset no longer exists. Raises SourceError if the settings say to stop."""
        pairs = sorted({pair for pair in partitions if pair in self._where and self._current(*pair) == self._where[pair]})
        lows = self._finder.offsets(pairs, EARLIEST)
        highs = self._finder.offsets(pairs, LATEST)
        for pair in pairs:
            at, where = self._next[pair], self._where[pair]
            if at < lows[pair]:
                self._skip(where, at, lows[pair], highs[pair])
            elif at > highs[pair]:
                self._positions.begin({_next_life(where): lows[pair]})

    def _skip(self, where: StreamPartition, at: int, low: int, high: int) -> None:
        """Continue after records that were deleted."""
        if self._settings.expired == STOP:
            raise SourceError(
                f"{where.stream}, partition {where.partition}: the records from offset {at} to {low} were deleted before they were read",
                "set `expired` to `earliest` to continue with the oldest remaining record",
            )
        target = low if self._settings.expired == EARLIEST else high
        self.lost += target - at
        self._positions.skip({where: target})

    def _current(self, topic: str, number: int) -> StreamPartition:
        """The partition with its current life: the id of the topic, and the latest life that the log has of it."""
        id_, partition = self._topics[topic].id, str(number)
        lives = [life for life in self._positions.lives(topic, partition) if life.partition(_AGAIN)[0] == id_]
        return StreamPartition(topic, max(lives, key=_times, default=id_), partition)

    def _by_where(self, offsets: Mapping[tuple[str, int], int]) -> dict[StreamPartition, int]:
        return {self._current(*pair): offset for pair, offset in offsets.items()}

    def _starts(self, partitions: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
        """The offsets at which reading of partitions begins, according to the settings."""
        start = self._settings.start
        if start in (EARLIEST, LATEST):
            return self._finder.offsets(partitions, start)
        parsed = parse_time(start)
        found = self._finder.offsets(partitions, parsed.us // 1000 if parsed else 0)
        ends = self._finder.offsets([pair for pair, offset in found.items() if offset < 0], LATEST)
        return {**found, **ends}


def _times(life: str) -> int:
    return int(life.partition(_AGAIN)[2] or 0)


def _next_life(where: StreamPartition) -> StreamPartition:
    id_ = where.life.partition(_AGAIN)[0]
    return where._replace(life=f"{id_}{_AGAIN}{_times(where.life) + 1}")
