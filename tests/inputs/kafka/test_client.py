"""What an input makes of answers of the client that a broker of a test does not give: odd records, and records that vanish meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition
from tests.events import run_event
from tests.inputs.support import Installation, installed, until

from lineage_bridge.inputs.kafka import kafka_input
from lineage_bridge.inputs.kafka.kafka_input import LINGER_S

TOPIC = "lineage"


class Answer:
    """A record of partition 0, or an error."""

    def __init__(
        self, offset: int, value: bytes = b"", *, at_ms: int = 1_795_000_000_000, code: int | None = None, named: bool = True
    ) -> None:
        self._offset, self._value, self._at_ms, self._named = offset, value, at_ms, named
        self._error = None if code is None else KafkaError(code)

    def __len__(self) -> int:
        return len(self._value)

    def error(self) -> KafkaError | None:
        return self._error

    def topic(self) -> str:
        return TOPIC

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes:
        return self._value

    def key(self) -> None:
        return None

    def timestamp(self) -> tuple[int, int]:
        return 1, self._at_ms

    def headers(self) -> list[tuple[str, bytes]]:
        if not self._named:
            raise SystemError("<method 'headers'> returned a result with an exception set")
        return [("a", b"1")]


class Client:
    """Consumer and admin client at once: gives `answers` that lie at or behind what is assigned. Before an error, what is before `kept` is
    deleted; behind it, nothing comes until partitions are assigned again.
    """

    def __init__(self, answers: Sequence[Answer], kept: int = 0) -> None:
        self.waits: list[float]
        self.answers, self.kept, self.low, self.at, self.waits, self.is_stuck = list(answers), kept, 0, 0, [], False

    def __call__(self, _: Mapping[str, Any]) -> "Client":
        return self

    def list_topics(self, *, timeout: float) -> SimpleNamespace:
        del timeout
        return SimpleNamespace(brokers={})

    def subscribe(self, _: Sequence[str], on_assign: Callable[..., None], **more: Any) -> None:
        del more
        on_assign(self, [TopicPartition(TOPIC, 0)])

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.at, self.is_stuck = partitions[0].offset, False

    def poll(self, timeout: float) -> Answer | None:
        self.waits.append(timeout)
        while self.answers and self.answers[0].offset() < self.at:
            self.answers.pop(0)
        found = self.answers.pop(0) if self.answers and not self.is_stuck else None
        if found is not None and found.error():
            self.low, self.is_stuck = self.kept, True
        return found

    def consume(self, most: int, timeout: float) -> list[Answer]:
        return [found for _ in range(most) if (found := self.poll(timeout)) is not None]

    def get_watermark_offsets(self, _: TopicPartition, cached: bool) -> tuple[int, int]:
        return self.low, 100 if cached else 0

    def commit(self, **more: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def describe_topics(self, *_: Any, **__: Any) -> Mapping[str, Any]:
        return {TOPIC: done(SimpleNamespace(topic_id="id", partitions=[0]))}

    def list_offsets(self, asked: Mapping[TopicPartition, Any], **_: Any) -> Mapping[TopicPartition, Any]:
        is_first = [type(point).__name__ == "_OffsetSpecEarliest" or point._value == -2 for point in asked.values()]
        return {where: done(SimpleNamespace(offset=self.low if first else 100)) for where, first in zip(asked, is_first, strict=True)}


def done(result: Any) -> "Future[Any]":
    future: Future[Any] = Future()
    future.set_result(result)
    return future


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    def read(client: Client, count: int) -> Installation:
        monkeypatch.setattr(kafka_input, "Consumer", client)
        monkeypatch.setattr(kafka_input, "AdminClient", client)
        with installed(tmp_path) as installation:
            with installation.reading(bootstrap_servers="127.0.0.1:9", topics=[TOPIC]) as reader:
                until(lambda: len(installation.records()) >= count, f"{count} records ({reader.meter.status})")
            return installation

    return read


def offsets(installation: Installation) -> list[int]:
    return [origin.offset for origin in installation.origins()]


def test_a_header_whose_name_is_no_text_stops_nothing(reads: Any) -> None:
    made = reads(Client([Answer(0, run_event(job="a"), named=False), Answer(1, run_event(job="b"))]), 2)
    assert [(origin.offset, origin.headers) for origin in made.origins()] == [(0, {}), (1, {"a": "1"})]


@pytest.mark.parametrize("at_ms", [2**62, 1_795_000_000_000_000, -(2**62)])
def test_a_time_that_no_calendar_has_is_left_out(reads: Any, at_ms: int) -> None:
    """A producer states it, for example in microseconds by mistake."""
    assert [origin.at_ms for origin in reads(Client([Answer(0, run_event(), at_ms=at_ms)]), 1).origins()] == [None]


def test_what_was_read_before_the_next_records_were_deleted_is_taken_in(reads: Any) -> None:
    """The client gives both at once: records that it has fetched, and that it cannot go on behind them."""
    lost = Answer(2, code=KafkaError._AUTO_OFFSET_RESET)  # that is its public name
    made = reads(Client([Answer(0, run_event(job="a")), Answer(1, run_event(job="b")), lost, Answer(9, run_event(job="c"))], kept=9), 3)
    assert offsets(made) == [0, 1, 9]


def test_large_values_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch, reads: Any) -> None:
    monkeypatch.setattr(kafka_input, "READ_BYTES", 1)
    client = Client([Answer(offset, run_event(job=f"job-{offset}")) for offset in range(4)])
    assert offsets(reads(client, 4)) == [0, 1, 2, 3]
    assert len([wait for wait in client.waits if wait > 0]) >= 4


def test_a_record_waits_for_no_others(reads: Any) -> None:
    """`poll_s` is how long to wait for a first record."""
    client = Client([Answer(0, run_event(job="a")), Answer(1, run_event(job="b"))])
    assert offsets(reads(client, 2)) == [0, 1]
    first, *others = client.waits[:3]
    assert first > LINGER_S >= max(others)
