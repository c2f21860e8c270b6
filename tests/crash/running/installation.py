"""An installation of real processes that events come into by every way, with what breaks in it and the audit of what it has."""

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.crash.faults import FAULTS
from tests.crash.running.support import (
    SOON_S,
    SPARK_S,
    Asking,
    Process,
    is_running,
    nothing_left,
    pipeline_status,
    processes_of,
    settings_in,
    until,
)
from tests.crash.running.surroundings import Clock, Disk
from tests.crash.running.ways import PARTITIONS, WAYS, Way
from tests.events import dataset, run_event
from tests.inputs.kinesis import faults as kinesis_faults
from tests.inputs.kinesis.faults import Faults
from tests.servers import broker
from tests.servers.broker import Kafka
from tests.servers.kinesis import Kinesis, local_started
from tests.store.tables import Rows, tables_in, tables_of

from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.log_record import RecordKind, StoredRecord
from lineage_bridge.graph.record_origin import read_origin
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.shared import state_database

CLUSTER = "dG9ydHVyZS1jbHVzdGVyMQ"
EVENTS = 8
"""How many events come by each way in a round; one more is damaged."""
_PAUSE_S = 0.4


class Installation:
    """An installation on a disk of its own. `sent` are the numbers of the good events that were accepted.

    `settled` are all records as the last round left them, and `ends` the offsets behind them in each topic's partitions.
    """

    parts = ("api", "pipeline", "inputs")

    def __init__(self, folder: Path, kafka: Kafka, stream: Faults, brokers: ExitStack, clock: Clock) -> None:
        data = folder / "data"
        self.disk, self.clock = Disk(data), clock
        for part in self.parts:  # what they log is kept when the disk is full
            (data / f"output-{part}").symlink_to(folder / f"output-{part}")
        self.settings = settings_in(data, input_folders=str(folder))
        self.kafka, self.stream, self._brokers = kafka, stream, brokers
        self.kinesis = Kinesis(stream.url)
        self.running: dict[str, Process] = {}
        self.start("api")
        self.asking = Asking(self.settings)
        until(self.asking.answers, SOON_S, "the API")
        self.ways: dict[str, Way] = {name: make(name, self) for name, make in WAYS.items()}
        for way in self.ways.values():
            way.open()
        self.start("pipeline")
        self.start("inputs")
        self.fold = Fold(folder / "plain.db", Names(state_database(self.settings).key()))
        self.sent: set[int] = set()
        self.number = 0
        self.settled: list[StoredRecord] = []
        self.ends: Mapping[tuple[str, int], int] = {}

    def close(self) -> None:
        for way in self.ways.values():
            way.close()
        self.asking.close()
        self.fold.store.close()
        for process in self.running.values():
            process.process.kill()
            process.wait()
        for left in processes_of(self.settings.data_dir):
            with suppress(psutil.Error):
                left.kill()
        self.disk.close()

    def kill(self, part: str, delay_s: float) -> str:
        """Kill a process at some moment, if it runs."""
        time.sleep(delay_s)
        victim = self.running[part]
        victim.process.kill()
        victim.wait()
        return f"killed {part} (pid {victim.pid})"

    def start(self, part: str) -> None:
        """Start a process that has ended, or is about to, or has never run."""
        if part in self.running:
            self.running[part].wait()
        self.running[part] = Process(part, self.settings)

    def spark(self) -> int:
        """The process of Spark's Java, or that of nobody."""
        with suppress(ValueError):  # torn
            return int(pipeline_status(self.settings).get("spark_pid") or 2**22)
        return 2**22

    def end_pipeline(self, delay_s: float) -> None:
        """Kill the pipeline at some moment, and its Spark: nobody writes the graph any more."""
        self.kill("pipeline", delay_s)
        with suppress(psutil.Error):
            psutil.Process(self.spark()).kill()

    def kill_broker(self) -> str:
        """Kill the broker, and start it over what it had."""
        settings = str(self.kafka.folder / "server.properties")
        (process,) = (found for found in psutil.process_iter(["cmdline"]) if is_broker(found, settings))
        process.kill()
        process.wait(SOON_S)
        self._brokers.enter_context(broker.started_again(self.kafka))
        return f"killed the broker (pid {process.pid})"

    def group_of(self, name: str) -> str:
        """The consumer group of an input."""
        return f"lineage-bridge-{name}-{graph_id(state_database(self.settings).key())[:8]}"

    def round(self, faults: Sequence[str], chance: random.Random) -> str:
        """Send by every way while something breaks; what was done, and how many events there are."""
        senders = [threading.Thread(target=self._send, args=(way, self._events())) for way in self.ways.values()]
        self._failures: list[BaseException] = []
        for sender in senders:
            sender.start()
        done = [FAULTS[fault](self, chance) for fault in faults]
        self.revive()
        while any(sender.is_alive() for sender in senders):
            self.revive()
            senders[0].join(0.1)
            time.sleep(0.1)
        if self._failures:
            raise self._failures[0]
        self.settle()
        return f"{', '.join(done)}; {self.audit()}"

    def _events(self) -> list[bytes]:
        events = []
        for number in range(self.number, self.number + EVENTS):
            job, run = f"job-{number % 20}", str(UUID(int=number // 3 + 1))
            inputs, outputs = [dataset(f"in-{number % 7}")], [dataset(f"out-{number % 11}")]
            events.append(run_event("COMPLETE", run, job, 1_700_000_000_000_000 + number, inputs, outputs, number=number))
        self.sent.update(range(self.number, self.number + EVENTS))
        self.number += EVENTS
        events.insert(EVENTS // 2, json.dumps({"damaged": self.number}).encode())
        return events

    def _send(self, way: Way, events: Sequence[bytes]) -> None:
        try:
            for at in range(0, len(events), 3):
                way.send(events[at : at + 3])
                time.sleep(_PAUSE_S)
        except BaseException as error:  # noqa: BLE001 - the round raises it
            self._failures.append(error)

    def revive(self) -> None:
        """Start what has ended, as the supervisor does."""
        for part in self.parts:
            if not self.running[part].alive():
                self.start(part)

    def settle(self) -> None:
        """Until the graph has all that was sent."""
        until(self.asking.answers, SPARK_S, "the API")
        until(self._streams, SPARK_S, "the pipeline")
        try:
            until(self._has_all, SPARK_S, "all events in the graph")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._state()}") from error
        self.ends = self._ends()

    def _streams(self) -> bool:
        self.revive()
        return is_running(self.settings, self.running["pipeline"].pid)

    def _has_all(self) -> bool:
        time.sleep(0.2)
        self.revive()
        if not self.settings.paths.graph.exists() or not self.asking.answers() or not self.asking.caught_up():
            return False
        with closing(sqlite3.connect(f"file:{self.settings.paths.graph}?mode=ro", uri=True)) as graph:
            known = graph.execute("SELECT (SELECT count(*) FROM event_record) + (SELECT count(*) FROM quarantine)").fetchone()[0]
            waiting = graph.execute("SELECT count(*) FROM derive_queue").fetchone()[0]
        if known < len(self.sent) or waiting:
            return False
        self.settled = self.records()
        events = [stored for stored in self.settled if stored.record.kind in (RecordKind.EVENT, RecordKind.REJECTED)]
        return self.sent <= numbers_of(self.settled) and known == len(events)

    def _state(self) -> str:
        """What everybody says and has, for whoever looks for the reason."""
        records = self.records()
        by_input = Counter(origin.input if (origin := read_origin(stored.record.note)) else "http" for stored in records)
        parts = [f"missing: {sorted(self.sent - numbers_of(records))}", f"records by input: {dict(by_input)}"]
        for path in ("/api/v1/ready", "/api/v1/inputs"):
            with suppress(Exception):
                parts.append(self.asking.http.get(path).text)
        parts += ["\n".join((self.settings.data_dir / f"output-{part}").read_text().splitlines()[-40:]) for part in self.parts]
        return "\n".join(parts)

    def _ends(self) -> dict[tuple[str, int], int]:
        consumer = Consumer({**self.kafka.client_config(), "group.id": "none", "log_level": 0})
        places = [(topic, number) for topic in ("kafka-embedded", "kafka-stream") for number in range(PARTITIONS)]
        try:
            return {place: consumer.get_watermark_offsets(TopicPartition(*place), SOON_S)[1] for place in places}
        finally:
            consumer.close()

    def records(self) -> list[StoredRecord]:
        """All records of the log and of the archive."""
        reader, archive = LogReader(self.settings.paths.log), ArchiveReader(self.settings.paths.archive)
        records = [StoredRecord(LOG_SOURCE, 0, at, record) for at, record in reader.read(0, reader.durable_end())]
        for of in archive.partitions():
            records += archive.read(of.source, of.partition, 0, archive.end(of.source, of.partition))
        return records

    def audit(self) -> str:
        """Every event is in the graph once, every record was taken in once, and the tables are the fold of all records."""
        records = self.settled
        origins = Counter((origin.where, origin.position) for stored in records if (origin := read_origin(stored.record.note)))
        assert [position for position, times in origins.items() if times > 1] == [], "records that were taken in twice"
        assert numbers_of(records) == self.sent
        found = tables_in(self.settings.paths.graph)
        assert (unlike := self.fold.unlike(records, found)) == [], f"tables unlike the fold: {unlike}"
        events = [row[1] for row in found["event"]]
        assert len(events) == len(set(events)) == len(self.sent)
        return f"{len(self.sent)} events once, {len(records)} records, {len(found['quarantine'])} of them in quarantine"


class Fold:
    """The fold of all records by plain Python. A record that it has folded is not folded again: merging twice changes nothing."""

    def __init__(self, path: Path, names: Names) -> None:
        self.store, self._names = GraphWriter(path, names, stitch=False), names
        self._folded: dict[tuple[str, int, int], bytes] = {}

    def unlike(self, records: Sequence[StoredRecord], found: Mapping[str, Rows]) -> list[str]:
        """The names of tables that are unlike the fold of these records, which hold all that was folded before."""
        seen = {(stored.source, stored.partition, stored.offset): stored.record.event_id for stored in records}
        assert self._folded.items() <= seen.items(), "records are gone, or others have their place"
        fresh = [stored for stored in records if (stored.source, stored.partition, stored.offset) not in self._folded]
        self.store.apply(Batch({}, dict(flat(fold_records(fresh, self._names)))), Budget(10**9))
        self._folded = seen
        expected = tables_of(self.store)
        return [name for name in BY_NAME if found[name] != expected[name]]


def is_broker(process: psutil.Process, settings: str) -> bool:
    """Whether a process is the Java of a broker with these settings."""
    line = process.info["cmdline"] or []
    return settings in line and "kafka.Kafka" in line and "java" in Path(line[0]).name


def numbers_of(records: Sequence[StoredRecord]) -> set[int]:
    """The numbers of the good events."""
    return {json.loads(stored.record.body)["number"] for stored in records if stored.record.kind == RecordKind.EVENT}


@contextmanager
def installed(folder: Path) -> Iterator[Installation]:
    """An installation, with servers of its own: the broker is killed."""
    for name in ("kafka", "kinesis", "data"):
        (folder / name).mkdir()
    with ExitStack() as servers, nothing_left(folder / "data"):
        keys = servers.enter_context(pytest.MonkeyPatch.context())
        keys.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
        keys.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        kafka = servers.enter_context(broker.started(folder / "kafka", CLUSTER))
        kinesis = servers.enter_context(local_started(folder / "kinesis"))
        clock = Clock(folder / "clock")
        for variable, value in clock.environment.items():
            keys.setenv(variable, value)
        made = Installation(folder, kafka, servers.enter_context(kinesis_faults.before(kinesis)), servers, clock)
        try:
            yield made
        finally:
            made.close()
