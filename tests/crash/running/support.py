"""Processes to kill, producers that never give up, and the audit of what they leave."""

import json
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psutil
from tests.events import columns, dataset, job_event, run_event, schema
from tests.ports import free_port
from tests.servers.quick_spark import quick_java
from tests.store.reading import reader_of
from tests.store.tables import contents, execute
from typing_extensions import Self

from lineage_bridge.api.position_tokens import decode
from lineage_bridge.config import Settings
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import LogRecord, StoredRecord
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.schema.sqlite import connect_reader
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.graph import differences
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.processes import pipeline_status as read_status
from lineage_bridge.wiring.shared import state_database

ROOT = Path(__file__).parents[3]
LINEAGE = "/api/v1/lineage"
SPARK_S, SOON_S = 120.0, 30.0
STREAM = (LOG_SOURCE, 0)


def settings_in(folder: Path, **more: Any) -> Settings:
    """Small batches and small segments, on a free port."""
    return Settings(
        data_dir=folder, port=free_port(), spark_master="local[2]", trigger_ms=100, batch_frames=50, segment_bytes=40_000, **more
    )


def until(holds: Callable[[], object], within_s: float, what: str = "it") -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not hold within {within_s} s"
        time.sleep(0.05)


# processes


class Process:
    """A process of `processes.py`. Its log is in `output`."""

    def __init__(self, part: str, settings: Settings) -> None:
        self.part, self.output = part, settings.data_dir / f"output-{part}"
        self._reports: queue.Queue[dict[str, str]] = queue.Queue()
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.running.processes", part],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env={**os.environ, **settings.environment(), **(quick_java() if part == "pipeline" else {})},
                start_new_session=True,
            )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._reports.put(json.loads(line))

    def request(self, point: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(point.encode() + b"\n")
        self.process.stdin.flush()

    def wait_for_point(self, point: str) -> str:
        """Wait until it has stopped at the requested point; returns its description."""
        report = self._reports.get(timeout=SOON_S)
        assert report["point"] == point
        return report["detail"]

    def kill(self) -> None:
        self.process.kill()
        assert self.wait() == -signal.SIGKILL

    def stop(self) -> None:
        """End it in order."""
        self.process.terminate()
        assert self.wait() == 0, self.output.read_text()

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        code = self.process.wait(60)
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        return code


def processes_of(folder: Path) -> list[psutil.Process]:
    """All that run over a data folder, whoever their parent is now: their environment names it."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("LINEAGE_BRIDGE_DATA_DIR") == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    """Whatever runs over a data folder is ended afterwards."""
    try:
        yield
    finally:
        for process in processes_of(folder):
            with suppress(psutil.Error):
                process.kill()
        until(lambda: not processes_of(folder), SOON_S, "the end of all processes")


def pipeline_status(settings: Settings) -> dict[str, Any]:
    """The status of the pipeline, empty if it wrote none, or a fault has torn the file."""
    return read_status(settings.paths) or {}


def is_running(settings: Settings, pid: int, batches: int = 0) -> bool:
    """Whether the pipeline of this process id streams, and has applied so many batches."""
    status = pipeline_status(settings)
    return status.get("state") == "running" and status["pid"] == pid and status["batches"] >= batches


# what is asked of a server


class Asking:
    """Questions to the API of a data folder, that wait for it to be there."""

    def __init__(self, settings: Settings) -> None:
        self.http = httpx.Client(base_url=settings.address, timeout=SOON_S, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.http.close()

    def answers(self) -> bool:
        with suppress(httpx.TransportError):
            return self.http.get("/api/v1/health").is_success
        return False

    def ready(self) -> tuple[int, dict[str, Any]]:
        """Status and body of the readiness."""
        answer = self.http.get("/api/v1/ready")
        return answer.status_code, answer.json()

    def applied(self) -> int:
        """Up to where the store has the log."""
        return decode(self.ready()[1]["lag"]["applied"]).get(STREAM, 0)

    def caught_up(self) -> bool:
        return bool(self.ready()[1]["lag"]["caught_up"])

    def post(self, *bodies: bytes) -> int:
        """Send events; the place behind the last of them."""
        answer = self.http.post(LINEAGE, content=b"\n".join(bodies), headers={"Content-Type": "application/x-ndjson"})
        assert answer.status_code == 201, answer.text
        return decode(answer.json()["position"])[STREAM]


class Pair:
    """The API and the pipeline over one data folder. Leaving it ends them without order, if `stop` did not in order."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.running = {part: Process(part, settings) for part in ("api", "pipeline")}
        self.asking = Asking(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.asking.close()
        for process in self.running.values():
            process.process.kill()
            process.wait()

    def start(self, part: str) -> None:
        """Start one of them that has ended."""
        self.running[part].wait()
        self.running[part] = Process(part, self.settings)

    def wait_for(self, process: Process, batches: int = 0) -> None:
        """Until it works; until a pipeline has applied so many batches."""
        if process.part == "api":
            until(self.asking.answers, SOON_S, "the API")
        else:
            until(lambda: is_running(self.settings, process.pid, batches) or not process.alive(), SPARK_S, "the pipeline")
        assert process.alive(), process.output.read_text()

    def settle(self) -> None:
        """Until the store has all of the log."""
        self.wait_for(self.running["api"])
        self.wait_for(self.running["pipeline"])
        until(self.asking.caught_up, SPARK_S, "the store")

    def stop(self) -> None:
        """End both in order; nothing of them runs any more."""
        for process in self.running.values():
            process.stop()
        until(lambda: not processes_of(self.settings.data_dir), SOON_S, "the end of all processes")


# producers


def event_of(number: int, chance: random.Random) -> bytes:
    """One of the events of a small world, told apart by its number: a few are of design time, a few a day or more ahead of the clock."""
    ahead = 2_000_000_000_000_000 if chance.random() < 0.05 else 0
    time_us = 1_700_000_000_000_000 + number * 1_000_000 + ahead
    inputs = [dataset(f"in-{chance.randrange(20)}", schema=schema("id", f"c{chance.randrange(3)}")) for _ in range(chance.randrange(1, 3))]
    source = inputs[0]["name"]
    output = dataset(f"out-{chance.randrange(20)}", schema=schema("id", "total"), columnLineage=columns(id=[("ns", source, "id")]))
    job = f"job-{chance.randrange(30)}"
    if chance.random() < 0.1:
        return job_event(job, time_us, inputs=inputs, outputs=[output])
    kind = chance.choice(["START", "RUNNING", "COMPLETE", "FAIL", None])
    return run_event(
        kind, str(UUID(int=number // 3 + 1)), job, time_us, inputs, [output], namespace=f"team-{chance.randrange(3)}", number=number
    )


@dataclass
class Acknowledged:
    """What answers with 201 acknowledged: event ids; and for each answer the offset of its last event, with the event's id.

    `unanswered` counts posts without an answer.
    """

    events: list[str] = field(default_factory=list)
    offsets: list[tuple[int, str]] = field(default_factory=list)
    unanswered: int = 0


class Producer(threading.Thread):
    """Posts events of its own until told to stop. Every tenth post holds a damaged event beside good ones.

    A post without an answer is sent again, with the same bytes, until it has one; a producer that is not `stubborn` sends it once.
    """

    def __init__(self, url: str, first: int, pause_s: float, *, stubborn: bool) -> None:
        super().__init__(name=f"producer-{first}", daemon=True)
        self.url, self.number, self.pause_s, self.stubborn = url, first, pause_s, stubborn
        self.chance = random.Random(first)
        self.enough = threading.Event()
        self.acknowledged = Acknowledged()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with httpx.Client(base_url=self.url, timeout=SOON_S, trust_env=False) as http:
                while not self.enough.wait(self.pause_s):
                    self._post(http, *self._body())
        except BaseException as error:  # noqa: BLE001 - told to the test when it joins
            self.failure = error

    def finish(self) -> Acknowledged:
        """Stop after the post under way; all that was acknowledged."""
        self.enough.set()
        self.join(SPARK_S)
        assert not self.is_alive()
        if self.failure is not None:
            raise self.failure
        return self.acknowledged

    def _body(self) -> tuple[bytes, int]:
        """The next post, and how many good events it holds."""
        events = []
        for _ in range(self.chance.choice([1, 1, 1, 2, 5])):
            self.number += 1
            events.append(event_of(self.number, self.chance))
        good = len(events)
        if self.chance.random() < 0.1:
            events.insert(0, json.dumps({"eventTime": "2026-01-01T00:00:00Z", "number": self.number}).encode())
        if len(events) == 1:
            return events[0], good
        return b"[" + b",".join(events) + b"]", good

    def _post(self, http: httpx.Client, body: bytes, good: int) -> None:
        while True:
            try:
                answer = http.post(LINEAGE, content=body, headers={"Content-Type": "application/json"})
            except httpx.TransportError:
                self.acknowledged.unanswered += 1
                time.sleep(0.05)
            else:
                assert answer.status_code == 201, answer.text
                self._note(answer.json(), good)
                return
            if not self.stubborn:
                return

    def _note(self, answer: dict[str, Any], good: int) -> None:
        events = answer.get("events", [answer])
        accepted = [event["event_id"] for event in events if event["status"] == "accepted"]
        assert len(accepted) == good
        self.acknowledged.events += accepted
        self.acknowledged.offsets.append((decode(answer["position"])[STREAM] - 1, events[-1]["event_id"]))


@contextmanager
def producing(url: str, threads: int, pause_s: float, *, stubborn: bool = True) -> Iterator[list[Producer]]:
    """Producers at work, who are stopped afterwards in any case."""
    producers = [Producer(url, 1_000_000 * (number + 1), pause_s, stubborn=stubborn) for number in range(threads)]
    for producer in producers:
        producer.start()
    try:
        yield producers
    finally:
        for producer in producers:
            producer.enough.set()


def all_acknowledged(producers: Sequence[Producer]) -> Acknowledged:
    """Stop producers, and put together what they were told."""
    acknowledged = [producer.finish() for producer in producers]
    return Acknowledged(
        [event for share in acknowledged for event in share.events],
        [offset for share in acknowledged for offset in share.offsets],
        sum(share.unanswered for share in acknowledged),
    )


# the audit


def records_of(settings: Settings) -> dict[int, LogRecord]:
    reader = LogReader(settings.paths.log)
    return dict(reader.read(0, reader.durable_end()))


def audit_log(settings: Settings, acknowledged: Acknowledged) -> dict[int, LogRecord]:
    """The records of the log. Every acknowledged offset is that of one record, which holds its event."""
    records = records_of(settings)
    logged = {record.event_id.hex() for record in records.values()}
    expect_none([event for event in acknowledged.events if event not in logged], "acknowledged and not in the log")
    expect_none(
        [offset for offset, times in Counter(offset for offset, _ in acknowledged.offsets).items() if times > 1], "places given twice"
    )
    expect_none(
        [offset for offset, event in acknowledged.offsets if records[offset].event_id.hex() != event], "places that hold another event"
    )
    return records


def expect_none(found: Sequence[object], what: str) -> None:
    assert not found, f"{what}: {len(found)}, as {found[:3]}"


def audit(settings: Settings, acknowledged: Acknowledged) -> dict[int, LogRecord]:
    """What was acknowledged is in log and store, once; the store is the plain fold of the log. Returns its records. No process may run."""
    records = audit_log(settings, acknowledged)
    names = Names(state_database(settings).key())
    store = GraphWriter(settings.paths.graph, names)
    plain = GraphWriter(settings.data_dir / "plain.db", names)
    stored = (StoredRecord(LOG_SOURCE, 0, offset, f) for offset, f in records.items())
    plain.apply(Batch({}, dict(flat(fold_records(stored, names)))), Budget(10**9))
    try:
        assert store.position(LOG_SOURCE) == {0: LogReader(settings.paths.log).durable_end()}
        audit_events(settings.paths.graph, acknowledged)
        kept = 'SELECT source, partition, "offset" FROM event_record '
        kept += 'UNION ALL SELECT source, partition, "offset" FROM quarantine ORDER BY "offset"'
        assert execute(store, kept).fetchall() == [(LOG_SOURCE, 0, offset) for offset in sorted(records)]
        for name in sorted(BY_NAME):
            expect_none(sorted(map(repr, contents(store, name) ^ contents(plain, name))), f"rows of {name} unlike the plain fold")
        now = now_us()
        lines, expected = (list(reader_of(writer).whole.lines(frozenset(), now_us=now)) for writer in (store, plain))
        assert lines == expected, "the export is unlike the plain fold's"
    finally:
        store.close()
        plain.close()
    assert [found for found in differences(settings) if found.surplus or found.missing] == []
    return records


def audit_events(graph: Path, acknowledged: Acknowledged) -> None:
    """What was acknowledged is in the store once, and nothing is twice."""
    with closing(connect_reader(graph)) as connection:
        times = dict(connection.execute("SELECT lower(hex(event)), count(*) FROM event GROUP BY event").fetchall())
    expect_none([event for event in acknowledged.events if event not in times], "acknowledged and not in the store")
    expect_none([event for event, count in times.items() if count > 1], "more than once in the store")
