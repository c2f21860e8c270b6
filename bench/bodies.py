"""bodies: the processor time that a byte of a body costs, of ordinary events and of bodies made to cost much, in one run."""

import gzip
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

import httpx

from bench.body_shapes import SHAPES
from bench.generator import Corpus, generate
from bench.load import CALL, is_json
from bench.meter import Clock, Result, calibrate
from bench.progress import report
from bench.server import Running, started
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.ingest.payload import Payload

SIZE: Final = 2 << 20
QUICK_SIZE: Final = 1 << 18
SMALL_SIZES: Final = (1 << 14, 1 << 18)
"""Bytes of bodies that are measured in the process only, besides the larger ones."""
NOW_US: Final = 1_795_000_000_000_000
_SENDER: Final = Sender("http")
_PATIENCE_S: Final = 120.0
_LEAST_BYTES: Final = 500
"""What an ordinary event has at least, on average."""
_LEAST_ORDINARY: Final = 1 << 17
"""Bytes of the payloads of ordinary events that small bodies are compared with: of few events, the first of a kind costs more."""
_WARM: Final = 2
"""Payloads of ordinary events that are sent before anything is measured."""

Cost = Callable[[Payload], float]
"""The nanoseconds of processor time that a payload costs."""


class NoLog:
    """A log that keeps nothing."""

    def submit(self, _: Sequence[LogRecord]) -> "Future[list[int]]":
        """Accept records."""
        done: Future[list[int]] = Future()
        done.set_result([])
        return done

    def end(self) -> int:
        """The end of an empty log."""
        return 0


def run(work: Path, size: int = SIZE) -> Result:
    """Nanoseconds of processor time per byte, and how many times that of ordinary events it is: in the process, and over HTTP.

    `in_process_by_bytes` has the same of smaller bodies, by their size.
    """
    out: Result = {"calibration": calibrate(), "bytes": size, "in_process": _figures("in the process", size, _ingested)}
    smaller = [small for small in SMALL_SIZES if small < size]
    out["in_process_by_bytes"] = {str(small): _figures(f"in the process, {small} bytes", small, _ingested) for small in smaller}
    with started("api", work / "data") as api:
        api.wait("/api/v1/health")
        with httpx.Client(base_url=api.url, timeout=_PATIENCE_S, trust_env=False) as client:
            out["over_http"] = _figures("over HTTP", size, lambda payload: _sent(api, client, payload))
    return out


def _figures(where: str, size: int, cost: Cost) -> Result:
    """One entry for each kind of body, each measured between two payloads of ordinary events that were not sent before."""
    ordinary = _ordinary(max(size, _LEAST_ORDINARY))
    base = [_per_byte(cost, next(ordinary)) for _ in range(_WARM)][-1:]
    shapes: Result = {}
    for name, make in SHAPES.items():
        report(f"bodies: {where}: {name}")
        spent = _per_byte(cost, make(size))
        base.append(_per_byte(cost, next(ordinary)))
        near = (base[-1] + base[-2]) / 2
        shapes[name] = {"ns_per_byte": round(spent, 1), "times_ordinary": round(spent / near, 2)}
    return {
        "ordinary_ns_per_byte": {"least": round(min(base), 1), "mean": round(sum(base) / len(base), 1), "greatest": round(max(base), 1)},
        "most_times_ordinary": max(shape["times_ordinary"] for shape in shapes.values()),
        "shapes": shapes,
    }


def _ordinary(size: int) -> Iterator[Payload]:
    """Arrays of about so many bytes of the events of a company, one after another."""
    events: list[bytes] = []
    left = size
    for sent in generate(Corpus(2 * len(SHAPES) * size // _LEAST_BYTES)):
        if is_json(sent.body):
            events.append(sent.body)
            left -= len(sent.body)
        if left <= 0:
            yield Payload(b"[" + b",".join(events) + b"]")
            events, left = [], size


def _per_byte(cost: Cost, payload: Payload) -> float:
    """Nanoseconds per byte, unpacked."""
    return cost(payload) / max(len(payload.data), len(gzip.decompress(payload.data)) if payload.compressed else 0)


def _ingested(payload: Payload) -> float:
    began = time.process_time_ns()
    ingest(payload, _SENDER, NoLog(), NOW_US)
    return time.process_time_ns() - began


def _sent(api: Running, client: httpx.Client, payload: Payload) -> float:
    """What the processes of the API spend on a request, its answer included."""
    headers = {"Content-Type": "application/x-ndjson" if payload.ndjson else "application/json"}
    if payload.compressed:
        headers["Content-Encoding"] = "gzip"
    clock = Clock(api.process).start()
    client.post(CALL, content=payload.data, headers=headers)
    return clock.read()[0] * 1e9
