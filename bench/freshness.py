"""freshness: the time from sending an event to the first answer of `datasets/lineage` that shows it, through all processes."""

import threading
import time
from itertools import count, islice
from pathlib import Path
from uuid import UUID

import httpx

from bench.generator import Corpus, generate
from bench.meter import Clock, Result, quantiles
from bench.progress import report
from bench.server import Running, started

LIGHT_EVENTS_PER_S = 20
_NAMESPACE = "bench://fresh"


def run(work: Path, *, quick: bool = False) -> Result:
    """p50 and p95 with nothing else to do, and while 20 events a second come in."""
    samples = 10 if quick else 60
    with started("serve", work / "data") as server:
        server.wait("/api/v1/ready", 0.1)
        _measure(server, "warm", 5)
        report("freshness: idle")
        clock = Clock(server.process).start()
        idle = _measure(server, "idle", samples)
        cpu, wall = clock.read()
        report("freshness: light load")
        stop = threading.Event()
        sender = threading.Thread(target=_light_load, args=(server.url, stop))
        sender.start()
        time.sleep(2)
        light = _measure(server, "light", samples)
        stop.set()
        sender.join()
        time.sleep(5)
        resting = Clock(server.process).start()
        time.sleep(2 if quick else 10)
        rest = resting.read()
    return {
        "idle": quantiles(idle),
        "light_load": quantiles(light),
        "cpu_s_per_question_idle": round(cpu / samples, 3),
        "cores_while_idle": round(rest[0] / rest[1], 3),
        "wall_s": round(wall, 1),
    }


def _measure(server: Running, prefix: str, samples: int) -> list[float]:
    """Seconds for each sample: a new job with a new output each."""
    found = []
    with httpx.Client(base_url=server.url, timeout=70.0) as client:
        for number in range(samples):
            time.sleep(0.3 + 0.037 * (number % 10))
            began = time.monotonic()
            sent = client.post("/api/v1/lineage", content=_event(f"{prefix}_{number}", number))
            sent.raise_for_status()
            _see(client, f"{prefix}_{number}_out", sent.json()["position"])
            found.append(time.monotonic() - began)
    return found


def _see(client: httpx.Client, name: str, position: str) -> None:
    """Wait for the answer that holds the event. Raises RuntimeError when it lacks the edge in spite of the position."""
    question: dict[str, str | int] = {
        "namespace": _NAMESPACE,
        "name": name,
        "direction": "upstream",
        "depth": 1,
        "min-position": position,
        "wait": 60,
    }
    answer = client.get("/api/v1/lineage/datasets/lineage", params=question)
    answer.raise_for_status()
    if name.removesuffix("_out") + "_in" not in answer.text:
        raise RuntimeError(f"the answer on {name} lacks its input: {answer.text[:500]}")


def _event(name: str, number: int) -> bytes:
    run = UUID(int=(hash(name) & (1 << 64) - 1) << 32 | number, version=4)
    datasets = [f'[{{"namespace":"{_NAMESPACE}","name":"{name}_{side}"}}]' for side in ("in", "out")]
    return (
        f'{{"eventType":"COMPLETE","eventTime":"2026-01-01T00:00:00Z","run":{{"runId":"{run}"}},"job":{{"namespace":"bench","name":"{name}"}},'
        f'"inputs":{datasets[0]},"outputs":{datasets[1]},"producer":"bench","schemaURL":"bench"}}'
    ).encode()


def _light_load(url: str, stop: threading.Event) -> None:
    with httpx.Client(base_url=url, timeout=30.0) as client:
        events = generate(Corpus(100_000, seed=3, prefix="l"))
        for _ in count():
            second = b"[" + b",".join(sent.body for sent in islice(events, LIGHT_EVENTS_PER_S // 4) if sent.fate != "damaged") + b"]"
            client.post("/api/v1/lineage", content=second)
            if stop.wait(0.25):
                return
