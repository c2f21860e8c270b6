"""Events come in by every way while something breaks, round after round; after each, every event is in the graph once.

`python -m tests.crash.torture --rounds 200 --seed 7` prints what was done in each round, and what came of it.
"""

import argparse
import json
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from bench.generator import Corpus, generate
from bench.load import is_json
from tests.crash.faults import FAULTS
from tests.crash.support import SOON_S, SPARK_S, Asking, Process, is_running, nothing_left, settings_in, until
from tests.crash.ways import WAYS, Way
from tests.events import dataset, run_event
from tests.inputs.exports import Servers, compared
from tests.servers import broker
from tests.servers.broker import Kafka
from tests.servers.kinesis import Kinesis, local_started
from tests.store.tables import tables_in

from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.log_record import RecordKind, StoredRecord
from lineage_bridge.graph.record_origin import read_origin
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.pipeline.session import start_session
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.shared import state_database

CLUSTER = "dG9ydHVyZS1jbHVzdGVyMQ"
EVENTS = 30
"""How many events come by each way in a round; one more is damaged."""


class World:
    """An installation of real processes and a broker; `sent` are the numbers of the good events that were accepted."""

    parts = ("api", "pipeline", "inputs")

    def __init__(self, folder: Path, kafka: Kafka, kinesis: Kinesis, brokers: ExitStack) -> None:
        self.settings, self.kafka, self.kinesis, self._brokers = (
            settings_in(folder, input_folders=str(folder.parent)),
            kafka,
            kinesis,
            brokers,
        )
        self.running = {"api": Process("api", self.settings)}
        self.asking = Asking(self.settings)
        until(self.asking.answers, SOON_S, "the API")
        self.ways: dict[str, Way] = {name: make(name, self) for name, make in WAYS.items()}
        for way in self.ways.values():
            way.open()
        self.running |= {part: Process(part, self.settings) for part in self.parts if part != "api"}
        self.sent: set[int] = set()
        self.number = 0

    def close(self) -> None:
        for way in self.ways.values():
            way.close()
        self.asking.close()
        for process in self.running.values():
            process.process.kill()
            process.wait()

    def kill(self, part: str, delay_s: float, *, start: bool = True) -> str:
        """Kill a process at some moment."""
        time.sleep(delay_s)
        victim = self.running[part]
        victim.process.kill()
        victim.wait()
        if start:
            self.start(part)
        return f"killed {part} (pid {victim.pid})"

    def start(self, part: str) -> None:
        """Start a process that has ended, or is about to."""
        self.running[part].wait()
        self.running[part] = Process(part, self.settings)

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

    def round(self, fault: str, chance: random.Random) -> str:
        """Send by every way while something breaks; what was done, and how many events there are."""
        senders = [threading.Thread(target=self._send, args=(way, self._events())) for way in self.ways.values()]
        self._failures: list[BaseException] = []
        for sender in senders:
            sender.start()
        done = FAULTS[fault](self, chance)
        for sender in senders:
            sender.join(2 * SPARK_S)
            assert not sender.is_alive(), "a sender never ended"
        if self._failures:
            raise self._failures[0]
        self.settle()
        return f"{done}; {self.audit()}"

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
            for at in range(0, len(events), 5):
                way.send(events[at : at + 5])
                time.sleep(0.1)
        except BaseException as error:  # noqa: BLE001 - told to the round
            self._failures.append(error)

    def settle(self) -> None:
        """Until the graph has all that was sent."""
        for part in self.parts:
            if not self.running[part].alive():
                self.start(part)
        until(self.asking.answers, SOON_S, "the API")
        pipeline = self.running["pipeline"]
        until(lambda: is_running(self.settings, pipeline.pid) or self._revived("pipeline"), SPARK_S, "the pipeline")
        until(self._has_all, SPARK_S, "all events in the graph")

    def _revived(self, part: str) -> bool:
        """Start a process again that ended by itself, as the supervisor does. Always false."""
        if not self.running[part].alive():
            self.start(part)
        return False

    def _has_all(self) -> bool:
        for part in self.parts:
            self._revived(part)
        if not self.settings.paths.graph.exists() or not self.asking.answers() or not self.asking.caught_up():
            return False
        records = self.records()
        if not self.sent <= numbers_of(records):
            return False
        with closing(sqlite3.connect(f"file:{self.settings.paths.graph}?mode=ro", uri=True)) as graph:
            known = graph.execute("SELECT (SELECT count(*) FROM event_record) + (SELECT count(*) FROM quarantine)").fetchone()[0]
            waiting = graph.execute("SELECT count(*) FROM derive_queue").fetchone()[0]
        events = [stored for stored in records if stored.record.kind in (RecordKind.EVENT, RecordKind.REJECTED)]
        return bool(known == len(events) and not waiting)

    def records(self) -> list[StoredRecord]:
        """All records of the log and of the archive."""
        reader, archive = LogReader(self.settings.paths.log), ArchiveReader(self.settings.paths.archive)
        records = [StoredRecord(LOG_SOURCE, 0, at, record) for at, record in reader.read(0, reader.durable_end())]
        for of in archive.partitions():
            records += archive.read(of.source, of.partition, 0, archive.end(of.source, of.partition))
        return records

    def audit(self) -> str:
        """Every event is in the graph once, every record of a topic was taken in once, and the tables are the fold of all records."""
        records = self.records()
        origins = Counter((origin.where, origin.place) for stored in records if (origin := read_origin(stored.record.note)))
        assert [place for place, times in origins.items() if times > 1] == [], "records that were taken in twice"
        assert numbers_of(records) == self.sent
        names = Names(state_database(self.settings).key())
        path = self.settings.data_dir / "plain.db"
        path.unlink(missing_ok=True)
        plain = GraphWriter(path, names, stitch=False)
        plain.apply(Batch({}, dict(flat(fold_records(records, names)))), Budget(10**9))
        plain.close()
        found, expected = tables_in(self.settings.paths.graph), tables_in(path)
        unlike = [name for name in BY_NAME if found[name] != expected[name]]
        assert unlike == [], f"tables unlike the fold: {unlike}"
        events = [row[1] for row in found["event"]]
        assert len(events) == len(set(events)) == len(self.sent)
        return f"{len(self.sent)} events once, {len(records)} records, {len(found['quarantine'])} of them in quarantine"


def is_broker(process: psutil.Process, settings: str) -> bool:
    """Whether a process is the Java of a broker with these settings."""
    line = process.info["cmdline"] or []
    return settings in line and "kafka.Kafka" in line and "java" in Path(line[0]).name


def numbers_of(records: Sequence[StoredRecord]) -> set[int]:
    """The numbers of the good events."""
    return {json.loads(stored.record.body)["number"] for stored in records if stored.record.kind == RecordKind.EVENT}


@contextmanager
def installed(folder: Path) -> Iterator[World]:
    """An installation, with servers of its own: the broker is killed."""
    for name in ("kafka", "kinesis", "data"):
        (folder / name).mkdir()
    with ExitStack() as servers, nothing_left(folder / "data"):
        keys = servers.enter_context(pytest.MonkeyPatch.context())
        keys.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
        keys.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        kafka = servers.enter_context(broker.started(folder / "kafka", CLUSTER))
        made = World(folder / "data", kafka, servers.enter_context(local_started(folder / "kinesis")), servers)
        try:
            yield made
        finally:
            made.close()


def torture(folder: Path, rounds: int, seed: int, report: Callable[[str], None]) -> None:
    """So many rounds; each fault comes once before any comes again."""
    chance = random.Random(seed)
    report(f"seed {seed}, {rounds} rounds")
    with installed(folder) as made:
        made.settle()
        left: list[str] = []
        for number in range(rounds):
            left = left or chance.sample(sorted(FAULTS), len(FAULTS))
            fault, began = left.pop(), time.monotonic()
            outcome = made.round(fault, chance)
            report(f"round {number + 1} of {rounds} (seed {seed}): {fault}: {outcome}; {time.monotonic() - began:.0f} s")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--exports", type=int, default=100_000, help="events that come by each way, to compare exports; 0: none")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-torture-") as folder:
        (Path(folder) / "rounds").mkdir()
        torture(Path(folder) / "rounds", options.rounds, options.seed, print_line)
        if options.exports:
            compare_exports(Path(folder), options.exports)
    return 0


def print_line(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 - the point of it


def compare_exports(folder: Path, events: int) -> None:
    """Bring the same events in by every way, and compare the exports byte for byte."""
    bodies = [body for sent in islice(generate(Corpus(events)), events) if is_json(body := sent.body)]
    for name in ("broker", "kinesis", "exports"):
        (folder / name).mkdir()
    jars = fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    spark = start_session(folder / "spark", master="local[2]", memory="1g", jars=jars)
    try:
        with broker.started(folder / "broker", CLUSTER) as kafka, local_started(folder / "kinesis") as kinesis:
            compared(folder / "exports", bodies, Servers(kafka, kinesis, spark), print_line)
    finally:
        spark.stop()
    print_line("the exports are equal")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
