"""Topics of a real broker that Spark reads: what comes is as if the embedded form had read it, once, whatever happens."""

import gzip
import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.sql import SparkSession
from tests.events import KEY, dataset, run_event
from tests.inputs.streamed import Streamed, without_arrival
from tests.inputs.support import places, until
from tests.servers.broker import ADMIN, ISSUER, Kafka, password_of
from tests.servers.web import nginx
from tests.servers.web.openid import PROGRAM_USER, OpenIdProvider, made_key
from tests.servers.web.tls import CLIENT

from lineage_bridge.config import DataFolder
from lineage_bridge.errors import StoreError, UnavailableError
from lineage_bridge.eventlog.archive.writer import PARTS
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, read_origin
from lineage_bridge.inputs.streaming import StreamPositions
from lineage_bridge.pipeline.replay import Chunk, replay
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = [pytest.mark.spark]
NUMBERS = count()


@pytest.fixture
def streamed(tmp_path: Path, spark: SparkSession) -> Iterator[Streamed]:
    made = Streamed(tmp_path, spark)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"stream-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=2)
    return name


def event(number: int, **more: Any) -> bytes:
    return run_event(job=f"job-{number}", number=number, **more)


def write(kafka: Kafka, topic: str, partition: int, *values: bytes | None, **more: Any) -> None:
    producer = Producer({**kafka.client_config(), **more.pop("config", {})})
    for value in values:
        producer.produce(topic, value, partition=partition, **more)
    assert producer.flush(30) == 0


def origins(streamed: Streamed) -> list[RecordOrigin]:
    found = (read_origin(stored.record.note) for stored in streamed.all_records())
    return [origin for origin in found if origin]


def numbers(streamed: Streamed) -> list[int]:
    """The numbers of all events that were taken in, sorted."""
    return sorted(json.loads(stored.record.body)["number"] for stored in streamed.all_records())


def delete(kafka: Kafka, topic: str, before: int) -> None:
    admin = kafka.admin()
    admin.delete_records([TopicPartition(topic, 0, before)])[TopicPartition(topic, 0)].result(30)


def test_what_comes_is_what_the_embedded_form_brings(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    values = [
        event(0),
        gzip.compress(event(1)),
        b"[" + event(2) + b"," + event(3) + b"]",
        None,
        b"",
        b"no event",
        b"\0\0\0\0\x11" + event(4),
    ]
    write(kafka, topic, 0, *values, key=b"run:jobs/job-1", headers=[("content-type", b"application/json"), ("token", b"hunter2")])
    write(kafka, topic, 1, *map(event, range(5, 30)))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    streamed.stream(32, **settings)
    taken = {
        (origin.partition, origin.position): stored.record for stored in streamed.archived() if (origin := read_origin(stored.record.note))
    }
    embedded = streamed.bring_under("other", 32, **settings)
    assert taken.keys() == embedded.keys()
    renamed = {place: record.note.replace(b'"input":"other"', b'"input":"events"') for place, record in embedded.items()}
    assert {place: record.note for place, record in taken.items()} == renamed
    same = [without_arrival(taken[place])[:3] + without_arrival(taken[place])[5:] for place in taken]
    assert same == [without_arrival(embedded[place])[:3] + without_arrival(embedded[place])[5:] for place in taken]
    assert {record.principal for record in taken.values()} == {"input:events"}
    assert "hunter2" not in str(taken)


def test_the_store_is_the_fold_of_what_was_taken_in_and_a_replay_gives_it_again(
    kafka: Kafka, streamed: Streamed, topic: str, spark: SparkSession
) -> None:
    write(kafka, topic, 0, *map(event, range(40)), b"bad")
    write(kafka, topic, 1, b"[" + event(40) + b"," + event(41) + b"]")
    with streamed.feeding() as feed, streamed.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[topic]) as reader:
        until(lambda: reader.meter.status.lag_records == 0 and reader.meter.status.read == 42)
        assert (reader.meter.status.partitions, reader.meter.status.state) == (2, "reading")
        progress = feed.progress("events")
        assert (progress.accepted, progress.rejected) == (42, {"not_json": 1})
    streamed.check()
    again = GraphWriter(streamed.folder / "again.db", Names(KEY), feed=False)
    replay(spark, DataFolder(streamed.folder), again, KEY, Chunk(), lambda _: None)
    again.close()
    from tests.store.tables import tables_in

    before, after = streamed.tables(), tables_in(streamed.folder / "again.db")
    assert {name for name in before if name not in ("position", "change", "change_epoch") and before[name] != after[name]} == set()
    assert {row[:2] for row in before["position"]} >= {row[:2] for row in after["position"]}


def test_events_of_jobs_that_are_left_out_are_counted_and_not_archived(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, event(0), b"[" + event(1) + b"," + event(2) + b"]", event(3))
    write(kafka, topic, 1, event(4))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    with streamed.feeding() as feed, streamed.streaming(feed, jobs={"include": ["JOBS-job-[25]"]}, **settings) as reader:
        until(lambda: reader.meter.status.lag_records == 0 and reader.meter.status.read == 4)
        assert (reader.meter.status.filtered, feed.progress("events").accepted, numbers(streamed)) == (4, 1, [2])
    write(kafka, topic, 0, event(5))
    with streamed.feeding() as feed, streamed.streaming(feed, **settings):
        until(lambda: 5 in numbers(streamed))
    assert numbers(streamed) == [2, 5]
    streamed.check()


def test_an_input_that_changes_its_form_and_back_is_read_once(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    for turn in range(4):
        write(kafka, topic, turn % 2, *map(event, range(turn * 5, turn * 5 + 5)))
        if turn % 2:
            streamed.stream(5 * (turn + 1) // 2, **settings)
        else:
            streamed.bring(5 * (turn // 2 + 1), **settings)
    assert numbers(streamed) == list(range(20))
    assert len(places(origins(streamed))) == len(set(places(origins(streamed)))) == 20


class _FailsOnce:
    """A store that fails before its next commit that has rows."""

    def __init__(self, store: GraphStore) -> None:
        self.store, self.fails = store, True

    def position(self, source: str) -> dict[int, int]:
        return self.store.position(source)

    def apply(self, batch: Batch, budget: Budget) -> None:
        if batch.rows and self.fails:
            self.fails = False
            raise StoreError("as if the process had been killed")
        self.store.apply(batch, budget)

    def settle(self, budget: Budget) -> int:
        return self.store.settle(budget)

    def check(self) -> None:
        self.store.check()


def test_what_was_archived_and_not_committed_is_folded_from_the_archive(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(10)))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    with streamed.feeding(_FailsOnce) as feed, streamed.streaming(feed, **settings):
        until(lambda: feed.failure is not None)
    assert (len(streamed.archived()), len(streamed.tables()["event"])) == (10, 0)
    # The topic is gone, the archive is not.
    admin = kafka.admin()
    admin.delete_topics([topic])[topic].result(30)
    with streamed.feeding() as feed:
        feed.catch_up(streamed.no_stop)
        assert feed.progress("events").accepted == 10
    streamed.check()
    assert len(streamed.tables()["event"]) == 10


class _FullOnce(_FailsOnce):
    """A store whose file cannot grow in its first commit that has rows: SQLite says that the disk is full."""

    def apply(self, batch: Batch, budget: Budget) -> None:
        if not batch.rows or not self.fails:
            return self.store.apply(batch, budget)
        self.fails = False
        assert isinstance(self.store, GraphWriter)
        raw = self.store.connection.raw
        (most,) = raw.execute("PRAGMA max_page_count").fetchone()
        raw.execute("PRAGMA max_page_count = 1")  # as many as it has
        try:
            self.store.apply(batch, budget)
        finally:
            raw.execute(f"PRAGMA max_page_count = {most}")
        return None


def test_what_was_archived_while_the_disk_was_full_is_not_replaced_before_it_is_folded(
    kafka: Kafka, streamed: Streamed, topic: str
) -> None:
    write(kafka, topic, 0, *(event(number, outputs=[dataset(f"table-{number}-{at}") for at in range(100)]) for number in range(10)))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    with streamed.feeding(_FullOnce) as feed, streamed.streaming(feed, **settings) as reader:
        until(lambda: feed.failure is not None)
        assert "the disk is not full" in getattr(feed.failure, "hint", "")
        # The next session begins in the process that is about to end.
        until(lambda: "has to restart" in reader.meter.status.error)
        (of,) = (found for found in streamed.archive.partitions() if found.where.partition == "0")
        ahead = {of.where: EventPosition(10, 0)}
        for call in (
            lambda: feed.positions("events"),
            lambda: feed.advance("events", ahead),
            lambda: StreamPositions("events", feed, streamed.ledger),
        ):
            with pytest.raises(UnavailableError, match="has to restart"):
                call()
    assert (len(streamed.archived()), len(streamed.tables()["event"])) == (10, 0)
    # Whatever happened before: what the archive has is never replaced.
    with streamed.feeding() as feed, pytest.raises(UnavailableError, match="the archive cannot be written"):
        feed.advance("events", ahead)
    assert feed.failure is not None
    with streamed.feeding() as feed:
        feed.catch_up(streamed.no_stop)
        with streamed.streaming(feed, **settings):
            write(kafka, topic, 0, event(10))
            until(lambda: len(streamed.archived()) == 11)
    streamed.check()
    assert numbers(streamed) == list(range(11))


def test_a_lost_graph_is_folded_again_from_the_archive(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(10)))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    streamed.stream(10, **settings)
    for file in streamed.folder.glob("graph.db*"):
        file.unlink()
    write(kafka, topic, 0, *map(event, range(10, 15)))
    with streamed.feeding() as feed:
        feed.catch_up(streamed.no_stop)
        with streamed.streaming(feed, **settings):
            until(lambda: len(streamed.archived()) == 15)
    streamed.check()
    assert numbers(streamed) == list(range(15))


def test_a_topic_that_was_created_again_is_read_from_its_beginning(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(6)))
    with streamed.feeding() as feed, streamed.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[topic], refresh_s=3):
        until(lambda: len(streamed.archived()) == 6)
        admin = kafka.admin()
        admin.delete_topics([topic])[topic].result(30)
        until(lambda: topic not in admin.list_topics(timeout=30).topics)
        kafka.create_topics(topic, partitions=2)
        # More than the topic had before: the next offset exists in both.
        write(kafka, topic, 0, *map(event, range(6, 16)))
        until(lambda: len(streamed.archived()) == 16)
    assert numbers(streamed) == list(range(16))
    assert len({origin.life for origin in origins(streamed)}) == 2


@pytest.mark.parametrize(("expired", "lost", "expected"), [("earliest", 2, [0, 3, 4, 9]), ("latest", 4, [0, 9])])
def test_records_that_were_deleted_before_they_were_read_are_told(
    kafka: Kafka, streamed: Streamed, topic: str, expired: str, lost: int, expected: list[int]
) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "expired": expired}
    write(kafka, topic, 0, event(0))
    streamed.stream(1, **settings)
    write(kafka, topic, 0, *map(event, range(1, 5)))
    delete(kafka, topic, 3)
    with streamed.feeding() as feed, streamed.streaming(feed, **settings) as reader:
        until(lambda: reader.meter.status.lost == lost)
        write(kafka, topic, 0, event(9))
        until(lambda: len(streamed.archived()) == len(expected))
    assert numbers(streamed) == expected


def test_a_partition_that_may_not_go_on_does_not_stop_the_other(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "expired": "stop"}
    write(kafka, topic, 0, event(0))
    streamed.stream(1, **settings)
    write(kafka, topic, 0, event(1), event(2))
    delete(kafka, topic, 2)
    write(kafka, topic, 1, event(3))
    with streamed.feeding() as feed, streamed.streaming(feed, **settings) as reader:
        until(lambda: any("deleted before they were read" in problem for problem in reader.meter.status.problems))
        until(lambda: len(streamed.archived()) == 2)
    assert numbers(streamed) == [0, 3]


def test_a_damaged_partition_does_not_stop_the_other(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, event(0))
    write(kafka, topic, 1, event(1))
    (segment,) = kafka.folder.rglob(f"{topic}-0/*.log")
    content = segment.read_bytes()
    at = content.index(b"job-0")
    with segment.open("r+b") as file:
        file.seek(at)
        file.write(b"JOB-0")
    with streamed.feeding() as feed, streamed.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[topic], timeout_s=2) as reader:
        until(lambda: len(streamed.archived()) == 1)
        until(lambda: any(f"topic {topic}, partition 0, from offset 0" in problem for problem in reader.meter.status.problems))
        write(kafka, topic, 1, event(2))
        until(lambda: len(streamed.archived()) == 2)
    assert numbers(streamed) == [1, 2]
    assert list((streamed.archive.root / PARTS).iterdir()) == [], "parts of batches that could not be read"


def test_only_what_was_committed_counts(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    producer = Producer({**kafka.client_config(), "transactional.id": topic, "log_level": 0})
    producer.init_transactions(30)
    for number, end in enumerate((producer.commit_transaction, producer.abort_transaction, producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, event(number), partition=0)
        producer.flush(30)
        end(30)
    producer.begin_transaction()
    producer.produce(topic, event(3), partition=0)
    producer.flush(30)
    with streamed.feeding() as feed, streamed.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[topic]) as reader:
        until(lambda: len(streamed.archived()) == 2 and reader.meter.status.lag_records == 0)
        producer.commit_transaction(30)
        until(lambda: len(streamed.archived()) == 3)
    assert [origin.offset for origin in origins(streamed)] == [0, 4, 6]


def test_where_it_begins_counts_once(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [f"{topic}*"], "start": "latest"}
    write(kafka, topic, 0, event(0))
    with streamed.feeding() as feed, streamed.streaming(feed, **settings) as reader:
        until(lambda: reader.meter.status.partitions == 2)
    write(kafka, topic, 0, event(1))
    kafka.create_topics(f"{topic}-more")
    write(kafka, f"{topic}-more", 0, event(2))
    streamed.stream(2, **settings)
    assert places(origins(streamed)) == [(topic, "0", 1), (f"{topic}-more", "0", 0)]


def test_the_rate_and_the_batch_are_capped(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(30)))
    began = time.monotonic()
    streamed.stream(30, bootstrap_servers=kafka.bootstrap, topics=[topic], max_records_per_s=10, max_offsets_per_trigger=4)
    assert time.monotonic() - began > 1.9, "30 records at 10 a second, 10 of them at once"
    files = [path.name for path in streamed.archive.root.rglob("*.0")]
    sizes = [(int(name[21:41]) - int(name[:20])) >> 14 for name in files]
    assert sum(sizes) == 30
    assert max(sizes) <= 4


def test_records_that_are_suddenly_large_are_taken_in_fewer_at_a_time(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    large = "".join(map(str, range(20_000)))
    write(kafka, topic, 0, *(event(number, text=large) for number in range(12)), event(12))
    with streamed.feeding(batch_bytes=200_000) as feed, streamed.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[topic]):
        until(lambda: len(streamed.archived()) == 13)
    files = [path for path in streamed.archive.root.rglob("*.0") if path.stat().st_size]
    assert numbers(streamed) == list(range(13))
    assert max(path.stat().st_size for path in files) < 400_000
    assert list((streamed.archive.root / PARTS).iterdir()) == [], "parts of batches that were too large"


def test_the_position_is_copied_to_the_group(kafka: Kafka, streamed: Streamed, topic: str) -> None:
    from tests.inputs.kafka.test_topics import committed, group_of

    write(kafka, topic, 0, *map(event, range(3)))
    streamed.stream(3, bootstrap_servers=kafka.bootstrap, topics=[topic])
    until(lambda: committed(kafka, topic, group_of())[0] == 3)


WAYS: dict[str, dict[str, str]] = {
    "ssl": {},
    "mtls": {},
    "plain": {"sasl_mechanism": "PLAIN"},
    "scram-512": {"sasl_mechanism": "SCRAM-SHA-512"},
    "scram-ssl": {"sasl_mechanism": "SCRAM-SHA-512"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in(kafka: Kafka, streamed: Streamed, topic: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(kafka, topic, 0, event(0))
    config = kafka.client_config(way)
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address(way), "security_protocol": config["security.protocol"], **WAYS[way]}
    if "sasl_mechanism" in settings:
        monkeypatch.setenv("INPUT_PASSWORD", password_of(ADMIN))
        settings |= {"username": ADMIN, "password": "${env:INPUT_PASSWORD}"}
    if "ssl.ca.location" in config:
        settings["ssl_ca_file"] = str(config["ssl.ca.location"])
    if way == "mtls":
        monkeypatch.setenv("INPUT_KEY", kafka.tls.client_key.read_text())
        kafka.allow(CLIENT, "topic", topic, "read", "describe")
        settings |= {"ssl_cert_pem": kafka.tls.client_certificate.read_text(), "ssl_key_pem": "${env:INPUT_KEY}"}
    streamed.stream(1, topics=[topic], **settings)
    (stored,) = streamed.archived()
    assert (stored.record.kind, stored.record.body) == (RecordKind.EVENT, event(0))


def test_it_logs_in_with_tokens_of_an_issuer(
    kafka: Kafka, openid: OpenIdProvider, streamed: Streamed, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both clients ask the issuer: librdkafka, which finds the records, and Kafka's own in Spark, which reads them."""
    openid.be(ISSUER, [kafka.token_key])
    write(kafka, topic, 0, event(0))
    kafka.allow(PROGRAM_USER, "topic", topic, "read", "describe")
    monkeypatch.setenv("INPUT_SECRET", openid.secret)
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address("plain"), "security_protocol": "SASL_PLAINTEXT", "topics": [topic]}
    settings |= {"sasl_mechanism": "OAUTHBEARER", "oauth_token_url": f"{openid.url}/token", "oauth_scope": "lineage"}
    settings |= {"oauth_client_id": PROGRAM_USER, "oauth_client_secret": "${env:INPUT_SECRET}"}
    streamed.stream(1, **settings)
    (stored,) = streamed.archived()
    assert (stored.record.kind, stored.record.body) == (RecordKind.EVENT, event(0))
    openid.be(ISSUER, [made_key("RS256", "tokens")])
    with streamed.feeding() as feed, streamed.streaming(feed, **settings, timeout_s=5) as reader:
        until(lambda: reader.meter.status.state == "failing", "a token that the broker does not believe")
    assert openid.secret not in str(reader.meter.status)


def test_the_issuer_may_have_a_certificate_of_its_own_authority(
    kafka: Kafka, openid: OpenIdProvider, streamed: Streamed, topic: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    openid.be(ISSUER, [kafka.token_key])
    write(kafka, topic, 0, event(0))
    kafka.allow(PROGRAM_USER, "topic", topic, "read", "describe")
    monkeypatch.setenv("INPUT_SECRET", openid.secret)
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address("plain"), "security_protocol": "SASL_PLAINTEXT", "topics": [topic]}
    settings |= {"sasl_mechanism": "OAUTHBEARER", "oauth_scope": "lineage", "oauth_client_id": PROGRAM_USER}
    settings |= {"oauth_client_secret": "${env:INPUT_SECRET}", "properties": {"https.ca.location": str(kafka.tls.authority)}}
    with nginx.encrypting(openid.url, kafka.tls, tmp_path) as url:
        streamed.stream(1, oauth_token_url=f"{url}/token", **settings)
    assert [stored.record.body for stored in streamed.archived()] == [event(0)]
