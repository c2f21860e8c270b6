"""Damages files of a data folder at random, starts the server's parts on it, asks, and verifies.

`python -m tests.crash.damage [ROUNDS [SEED]]` runs a longer campaign and prints what each round did. The API is the real one, wired as the
product wires it; the pipeline's part is played by its store and the plain fold, because Spark takes half a minute to start.
"""

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.testclient import TestClient
from tests.events import T0, columns, dataset, run_event

from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError, StoreDamagedError, StoreError
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.compressed.compressor import compress_closed, decompress_segment
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import list_segments
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import OffsetRange, StoredRecord
from lineage_bridge.model.analysis import Analysis, NodeMeasure
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.whole.analysis import write_findings
from lineage_bridge.wiring.api import api
from lineage_bridge.wiring.backup import restore_state
from lineage_bridge.wiring.graph import differences
from lineage_bridge.wiring.pipeline import check_key, open_store
from lineage_bridge.wiring.shared import state_database

EVENTS = 180
SEGMENT_BYTES = 20_000
URL = "http://127.0.0.1"
QUESTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/lineage/events", {"limit": "200"}),
    ("/lineage/datasets", {}),
    ("/lineage/jobs", {}),
    ("/search", {"q": "d1"}),
    ("/quarantine", {}),
    ("/aliases", {}),
    ("/changes", {}),
    ("/graph/neighbourhood", {"namespace": "ns", "name": "d5", "depth": "5"}),
    ("/analysis", {}),
    ("/analysis", {"part": "orphan"}),
    ("/keys", {}),
    ("/audit", {}),
    ("/sources", {}),
)
"""Of the graph, of the log, and of what is not computed from it."""


@dataclass
class Round:
    """What was damaged, and what came of it. `faults` is empty if everything was as promised."""

    damage: str
    reports: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.damage}: {', '.join(self.reports) or 'nothing to tell'}{'; FAULT: ' + '; '.join(self.faults) if self.faults else ''}"


def settings_of(folder: Path) -> Settings:
    return Settings(data_dir=folder, segment_bytes=SEGMENT_BYTES)


def event(number: int) -> bytes:
    """One of a few jobs copies one of a few datasets into the next."""
    source, target = f"d{number % 12}", f"d{number % 12 + 1}"
    outputs = [dataset(target, columnLineage=columns(x=[("ns", source, "y")]))]
    run = f"00000000-0000-0000-0000-{number:012d}"
    return run_event(run=run, job=f"j{number % 12}", time_us=1_770_000_000_000_000 + number, inputs=[dataset(source)], outputs=outputs)


@contextmanager
def client_of(settings: Settings) -> Iterator[TestClient]:
    with (
        api(settings) as app,
        closing(TestClient(app, base_url=URL, client=("127.0.0.1", 50_000), raise_server_exceptions=False)) as client,
    ):
        yield client


def fold(settings: Settings) -> None:
    """What the pipeline does when it is started: open the store, and fold the log to its end."""
    key = state_database(settings).key()
    check_key(settings, key)
    names, log = Names(key), LogReader(settings.paths.log)
    with open_store(settings.paths.graph, names) as store:
        start, end = store.position(LOG_SOURCE).get(0, 0), log.durable_end()
        if start < end:
            records = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in log.read(start, end)]
            store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(start, end)}, dict(flat(fold_records(records, names)))), Budget(10**9))
        while store.settle(Budget(10**9)):
            pass


def loaded(folder: Path) -> list[str]:
    """Fill a data folder as a server does; the ids of the events that it acknowledged."""
    settings = settings_of(folder)
    with client_of(settings) as client:
        ids = [client.post("/api/v1/lineage", content=event(number)).json()["event_id"] for number in range(EVENTS)]
        assert client.post("/api/v1/lineage", content=b"no event").status_code == 400
        fold(settings)
        assert client.post("/api/v1/keys", json={"name": "etl", "scopes": ["ingest"]}).status_code == 201
        _analyse(settings)
        for path, query in QUESTIONS:
            assert client.get(f"/api/v1{path}", params=query).status_code == 200, path
    settings.paths.pipeline_status.write_text('{"state": "running", "pid": 1, "beat_us": 5}')
    settings.paths.serve_status.write_text('{"host": "127.0.0.1", "port": 8000, "pid": 1}')
    _compress_some(settings.paths.log)
    return ids


def _compress_some(log: Path) -> None:
    """Compress every second segment, as a server does that was stopped meanwhile."""
    numbers = list_segments(log)
    assert len(numbers) > 4
    assert compress_closed(log, LocalDisk(), least=0) == len(numbers) - 1
    for number in numbers[::2]:
        decompress_segment(log, number, LocalDisk())


def _analyse(settings: Settings) -> None:
    """Write the findings of an analysis, as the one on Spark does."""
    nodes = [Node(number, NodeKind.DATASET, "ns", f"d{number}") for number in range(60)]
    found = Analysis(tuple(NodeMeasure(node, node.id, 0, 1) for node in nodes), (), tuple(nodes), (), 9, exact=True)
    write_findings(settings.paths.analysis, found, {(LOG_SOURCE, 0): 12}, T0, 30)


def damage(folder: Path, chance: random.Random) -> str:
    """Damage one file of a data folder; what was done."""
    path = chance.choice(sorted(path for path in folder.rglob("*") if path.is_file() and "lock" not in path.name))
    content, name = path.read_bytes(), path.relative_to(folder)
    what = chance.choices(("flip", "truncate", "delete", "overwrite"), (12, 3, 2, 3))[0]
    at = chance.randrange(len(content)) if content else 0
    if what == "delete" or not content:
        path.unlink()
        return f"{name} deleted"
    if what == "truncate":
        path.write_bytes(content[:at])
        return f"{name} cut to {at} of {len(content)} bytes"
    if what == "overwrite":
        end = min(len(content), at + chance.randrange(1, 5000))
        path.write_bytes(content[:at] + chance.randbytes(end - at) + content[end:])
        return f"{name} overwritten from {at} to {end} of {len(content)}"
    changed = bytearray(content)
    changed[at] ^= chance.randrange(1, 256)
    path.write_bytes(changed)
    return f"{name} byte {at} of {len(content)} flipped"


def run_round(folder: Path, acknowledged: list[str], chance: random.Random) -> Round:
    """Damage a file, start, ask, fold, ask again, verify."""
    done, settings = Round(damage(folder, chance)), settings_of(folder)
    if not _start(done, settings):
        return done
    try:
        with client_of(settings) as client:
            sent = _send(done, client)
            _ask(done, client, "before the fold")
            _fold(done, settings)
            _ask(done, client, "after the fold")
            _tell_log(done, client)
        _account(done, settings, [*acknowledged, *sent])
    except Exception as error:  # noqa: BLE001 - the boundary of a round: whatever it is, nobody was told
        done.faults.append(f"{type(error).__name__}: {error}")
    return done


def _start(done: Round, settings: Settings) -> bool:
    """Start the API once, and follow the hint if it says how to go on."""
    refusal = _refusal(settings)
    if refusal and "restore --state" in refusal.hint:
        done.reports.append(f"start refused: {refusal}")
        restore_state(settings)
        refusal = _refusal(settings)
    if refusal:
        done.faults.append(f"the server does not start: {refusal}")
    return refusal is None


def _refusal(settings: Settings) -> LineageBridgeError | None:
    """Why the API does not start."""
    try:
        with client_of(settings):
            return None
    except LineageBridgeError as error:
        return error


def _send(done: Round, client: TestClient) -> list[str]:
    answer = client.post("/api/v1/lineage", content=event(EVENTS + 1))
    if answer.status_code != 201:
        done.faults.append(f"an event was refused: {answer.status_code} {answer.text}")
        return []
    return [answer.json()["event_id"]]


def _ask(done: Round, client: TestClient, when: str) -> None:
    """Whoever says that the store works answers every question."""
    store = client.get("/api/v1/ready").json()["parts"]["store"]
    answers = {
        path if not query else f"{path} {query}": client.get(f"/api/v1{path}", params={**query, "wait": "0"}) for path, query in QUESTIONS
    }
    failed = {path: answer.status_code for path, answer in answers.items() if answer.status_code not in (200, 404)}
    if 500 in failed.values():
        done.faults.append(f"{when} answered 500: {failed}")
    if failed and store["state"] == "ok" and client.get("/api/v1/ready").json()["parts"]["store"]["state"] == "ok":
        done.faults.append(f"{when} the store is ok, and yet {failed}")
    if store["state"] != "ok":
        done.reports.append(f"{when} the store is {store['state']}")


def _fold(done: Round, settings: Settings) -> None:
    """Fold as the pipeline does, which is started again when it fails."""
    for attempt in range(3):
        try:
            fold(settings)
        except StoreDamagedError:
            done.reports.append("the store is damaged")
        except StoreError as error:
            done.reports.append(f"the pipeline does not start: {error}")
            if "state" not in error.hint and "graph" not in error.hint:
                raise
            settings.paths.graph.unlink()
        else:
            return
        if attempt == 2:
            done.faults.append("the pipeline fails again and again")


def _tell_log(done: Round, client: TestClient) -> None:
    until = time.monotonic() + 20
    while (log := client.get("/api/v1/ready").json()["parts"]["log"])["detail"] == "the records of the log are being checked":
        assert time.monotonic() < until
        time.sleep(0.02)
    if log["state"] != "ok":
        done.reports.append(log["detail"])


def _account(done: Round, settings: Settings, acknowledged: list[str]) -> None:
    """Every acknowledged event is in the log and in the graph, or somebody says that it is not."""
    reader = LogReader(settings.paths.log)
    kept = {record.event_id.hex() for _, record in reader.read(0, reader.durable_end())}
    lost, found = set(acknowledged) - kept, check_log(settings.paths.log)
    if lost and not found.new:
        done.faults.append(f"{len(lost)} events are lost from the log, which no check tells")
    if found.new and not any("damaged" in line and "log check" in line for line in done.reports):
        done.faults.append("the log is damaged, and the server does not tell")
    try:
        wrong = [table for table in differences(settings) if table.surplus or table.missing]
    except StoreError as error:
        done.reports.append(f"verify: {error}")
        return
    done.reports += [f"verify: {table.table} has {table.surplus} too many and {table.missing} too few" for table in wrong]


def main(rounds: int, seed: int) -> int:
    """Run a campaign; the number of rounds with faults. `main(1, seed + number)` repeats one of its rounds."""
    failed = 0
    sys.stdout.write(f"{rounds} rounds from seed {seed}\n")
    with tempfile.TemporaryDirectory(prefix="damage-") as scratch:
        acknowledged = loaded(Path(scratch) / "sound")
        for number in range(rounds):
            folder = Path(scratch) / "round"
            shutil.copytree(Path(scratch) / "sound", folder)
            done = run_round(folder, acknowledged, random.Random(seed + number))
            failed += bool(done.faults)
            sys.stdout.write(f"seed {seed + number}: {done}\n")
            sys.stdout.flush()
            shutil.rmtree(folder)
    sys.stdout.write(f"{rounds} rounds, {failed} with faults\n")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
