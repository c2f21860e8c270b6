"""inputs: a backlog by each way in until the log and the graph have it, and the time from an event to an answer beside that of HTTP."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from uuid import UUID

import httpx
import psutil

from bench.generator import Corpus, generate
from bench.input_ways import NAME, WAYS, Way, post, servers_started
from bench.load import is_json
from bench.meter import Clock, Result, calibrate, per_event, quantiles
from bench.progress import report
from bench.server import Running, started

HOUR = 36_000
"""Events of a backlog: what ten a second are in an hour."""
WARM = 500
SAMPLES, QUICK_SAMPLES = 60, 5
PATIENCE_S = 900.0
_NAMESPACE = "bench://fresh"


def run(work: Path, *, quick: bool = False) -> Result:
    """The same events by every way, each into a server of its own. The broker, Kinesis, and whatever sends are not counted."""
    count, samples = (HOUR // 10, QUICK_SAMPLES) if quick else (HOUR, SAMPLES)
    found = (sent.body for sent in generate(Corpus(count + WARM * 2)))
    events = [*islice((body for body in found if is_json(body)), count + WARM)]
    out: Result = {"bytes_per_event": round(sum(map(len, events)) / len(events))}
    with servers_started(work) as servers:
        for name, make in WAYS.items():
            report(f"inputs: {name}")
            folder = work / name
            folder.mkdir()
            way = make(folder, servers)
            with started("serve", folder / "data", None, **way.environment) as server:
                server.wait("/api/v1/ready", 0.1)
                with httpx.Client(base_url=server.url, timeout=75.0) as client:
                    out[name] = _measured(server, client, way, events, samples)
    out["kafka_in_the_stream_to_embedded"] = _ratio(out["kafka_in_the_stream"]["to_the_graph"], out["kafka"]["to_the_graph"])
    out["files_to_kafka"] = _ratio(out["files"]["to_the_log"], out["kafka"]["to_the_log"])
    return out


def _ratio(measured: Result, other: Result) -> float:
    """How many times as many events a second."""
    return round(float(measured["events_per_s"] / other["events_per_s"]), 2)


def _measured(server: Running, client: httpx.Client, way: Way, events: Sequence[bytes], samples: int) -> Result:
    """A backlog of events behind some that warm everything up; then freshness."""
    put: Callable[[Sequence[bytes]], None] = way.put if way.kind else lambda given: post(server, given)
    if way.kind:
        client.post("/api/v1/inputs", json={"name": NAME, "kind": way.kind, "settings": way.settings}).raise_for_status()
    put(events[:WARM])
    _until(server, lambda: _in_graph(server) >= WARM, "the first events")
    backlog = events[WARM:]
    if way.kind:
        client.post(f"/api/v1/inputs/{NAME}/pause").raise_for_status()
        _until(server, lambda: _input(client)["state"] == "paused", "the pause")
        put(backlog)
    out = _backlog(server, client, way, backlog)
    if way.kind:
        out["freshness"] = _freshness(server, client, way, samples)
    return out


def _backlog(server: Running, client: httpx.Client, way: Way, backlog: Sequence[bytes]) -> Result:
    """Processor time of the API and `inputs` until the log has all, and of all processes, Spark included, until the graph has it."""
    total = len(backlog) + WARM
    whole, intake = Clock(server.process), {name: Clock(found) for name in ("api", "inputs") if (found := _process(server, name))}
    for clock in (whole, *intake.values()):
        clock.start()
    if way.kind:
        client.post(f"/api/v1/inputs/{NAME}/resume").raise_for_status()
    else:
        post(server, backlog)
    out: Result = {}
    if way.is_in_log:
        if way.kind:
            _until(server, lambda: _taken(client) >= total, "the backlog in the log")
        spent = {name: clock.read() for name, clock in intake.items()}
        wall = max(wall for _, wall in spent.values())
        shares = {f"{name}_cpu_us_per_event": round(1e6 * cpu / len(backlog), 1) for name, (cpu, _) in spent.items()}
        out["to_the_log"] = {**per_event(len(backlog), sum(cpu for cpu, _ in spent.values()), wall, calibrate()), **shares}
    _until(server, lambda: _in_graph(server) >= total, "the backlog in the graph")
    cpu, wall = whole.read()
    out["to_the_graph"] = {**per_event(len(backlog), cpu, wall, calibrate()), "lag_recovery_s": round(wall, 2)}
    return out


def _process(server: Running, command: str) -> psutil.Process | None:
    return next((child for child in server.process.children() if command in child.cmdline()), None)


def _in_graph(server: Running) -> int:
    """How many records of events the graph has."""
    with closing(sqlite3.connect(f"file:{server.data_dir / 'graph.db'}?mode=ro", uri=True, timeout=30)) as graph:
        return int(graph.execute("SELECT (SELECT count(*) FROM event_record) + (SELECT count(*) FROM quarantine)").fetchone()[0])


def _input(client: httpx.Client) -> Result:
    found: Result = client.get(f"/api/v1/inputs/{NAME}").raise_for_status().json()
    return found


def _taken(client: httpx.Client) -> int:
    """How many events of the input the log has."""
    item = _input(client)
    taken: int = sum((item["accepted"], *item["rejected"].values()))
    return taken


def _until(server: Running, holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline or not server.process.is_running():
            output = (server.data_dir / "output.log").read_text(errors="replace")[-2000:]
            raise TimeoutError(f"{what} did not come within {PATIENCE_S:.0f} s; the graph has {_in_graph(server)}; {output}")
        time.sleep(0.1)


def _freshness(server: Running, client: httpx.Client, way: Way, samples: int) -> Result:
    """From sending an event to the first answer that shows it: over HTTP and by a way, in turns."""
    seconds: dict[str, list[float]] = {"http": [], "input": []}
    for number in range(samples):
        for by, found in seconds.items():
            name = f"{by}_{number}"
            time.sleep(0.3 + 0.037 * (number % 10))
            began = time.monotonic()
            if by == "http":
                post(server, [_event(name, number)])
            else:
                way.put([_event(name, number)])
            _see(client, name)
            found.append(time.monotonic() - began)
    out: Result = {by: {"samples": samples, **quantiles(found)} for by, found in seconds.items()}
    return {**out, "p95_to_http": round(out["input"]["p95_ms"] / out["http"]["p95_ms"], 2)}


def _see(client: httpx.Client, name: str) -> None:
    """Ask until an answer has the edge of an event. Raises TimeoutError."""
    question: dict[str, str | int] = {"namespace": _NAMESPACE, "name": f"{name}_out", "direction": "upstream", "depth": 1}
    deadline = time.monotonic() + 60
    while f"{name}_in" not in client.get("/api/v1/lineage/datasets/lineage", params=question).text:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} is in no answer")
        time.sleep(0.01)


def _event(name: str, number: int) -> bytes:
    run = UUID(int=(hash(name) & (1 << 64) - 1) << 32 | number, version=4)
    datasets = [f'[{{"namespace":"{_NAMESPACE}","name":"{name}_{side}"}}]' for side in ("in", "out")]
    return (
        f'{{"eventType":"COMPLETE","eventTime":"2026-01-01T00:00:00Z","run":{{"runId":"{run}"}},"job":{{"namespace":"bench","name":"{name}"}},'
        f'"inputs":{datasets[0]},"outputs":{datasets[1]},"producer":"bench","schemaURL":"bench"}}'
    ).encode()
