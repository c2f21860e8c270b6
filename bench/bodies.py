"""bodies: the processor time that a byte of a body costs, of ordinary events and of bodies made to cost much, in one run."""

import gc
import gzip
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Final

import httpx

from bench.body_shapes import SHAPES
from bench.generator import Corpus, generate
from bench.load import CALL, is_json
from bench.meter import Result, calibrate, tree
from bench.progress import report
from bench.server import Running, started
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.ingest.masking import prepare_masking
from lineage_bridge.ingest.payload import Payload

SIZE: Final = 2 << 20
QUICK_SIZE: Final = 1 << 18
SMALL_SIZES: Final = (1 << 14, 1 << 18)
"""Bytes of bodies that are measured besides the larger ones."""
NOW_US: Final = 1_795_000_000_000_000
_SENDER: Final = Sender("http")
_PATIENCE_S: Final = 120.0
_RECORDED: Final = Path(__file__).parents[1] / "tests" / "samples"
"""Events of real producers, one in a line."""
_ID: Final = re.compile(rb"[0-9a-f]{8}(?P<rest>(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_LEAST_BYTES: Final = 500
"""What an ordinary event has at least, on average."""
_LEAST_ORDINARY: Final = 1 << 17
"""How many bytes of ordinary events are measured before and after a shape at least, in payloads of its size."""
_WARM: Final = 2
"""How often that is sent before anything is measured."""

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

    `in_process_by_bytes` and `over_http_by_bytes` have the same of smaller bodies, by their size.
    """
    smaller = [small for small in SMALL_SIZES if small < size]
    prepare_masking()  # as the API does when it starts
    out: Result = {"calibration": calibrate(), "bytes": size, "in_process": _figures("in the process", size, _ingested)}
    out["in_process_by_bytes"] = {str(small): _figures(f"in the process, {small} bytes", small, _ingested) for small in smaller}
    with started("api", work / "data") as api:
        api.wait("/api/v1/health")
        with httpx.Client(base_url=api.url, timeout=_PATIENCE_S, trust_env=False) as client:
            out["over_http"] = _figures("over HTTP", size, lambda payload: _sent(api, client, payload))
            out["over_http_by_bytes"] = {
                str(small): _figures(f"over HTTP, {small} bytes", small, lambda payload: _sent(api, client, payload)) for small in smaller
            }
    return out


def _figures(where: str, size: int, cost: Cost) -> Result:
    """One entry for each kind of body, each measured between payloads of ordinary events of its size that were not sent before."""
    events = _ordinary(size)
    base = [_mean(cost, _arrays(events, size)) for _ in range(_WARM)][-1:]
    shapes: Result = {}
    for name, make in SHAPES.items():
        report(f"bodies: {where}: {name}")
        payload = make(size)
        bytes_ = _bytes(payload)
        is_smaller = bytes_ < size // 2  # it cannot be larger, and requests cost something whatever is in them
        before = _mean(cost, _arrays(events, bytes_)) if is_smaller else base[-1]
        spent = cost(payload) / bytes_
        base.append(_mean(cost, _arrays(events, size)))
        near = (before + (_mean(cost, _arrays(events, bytes_)) if is_smaller else base[-1])) / 2
        shapes[name] = {"ns_per_byte": round(spent, 1), "times_ordinary": round(spent / near, 2)}
    times = [shape["times_ordinary"] for shape in shapes.values()]
    return {
        "ordinary_ns_per_byte": {"least": round(min(base), 1), "mean": round(sum(base) / len(base), 1), "greatest": round(max(base), 1)},
        "most_times_ordinary": max(times),
        "above_3_times": sum(map((3.0).__lt__, times)),
        "shapes": shapes,
    }


def _ordinary(size: int) -> Iterator[bytes]:
    """Enough ordinary events for bodies of this size: of a company, and recorded ones with other ids, in turns."""
    made = (sent.body for sent in generate(Corpus(4 * len(SHAPES) * max(size, _LEAST_ORDINARY) // _LEAST_BYTES)) if is_json(sent.body))
    return chain.from_iterable(zip(made, _recorded(), strict=False))


def _arrays(events: Iterator[bytes], size: int) -> Iterator[Payload]:
    """Arrays of about so many bytes of the next events; several if they are small."""
    for _ in range(max(1, _LEAST_ORDINARY // size)):
        array: list[bytes] = []
        left = size
        while left > 0 and (event := next(events, b"")):
            array.append(event)
            left -= len(event)
        yield Payload(b"[" + b",".join(array) + b"]")


def _recorded() -> Iterator[bytes]:
    """Recorded events, again and again, each time with other ids of runs."""
    lines = [line for path in sorted(_RECORDED.rglob("*.ndjson")) for line in path.read_bytes().splitlines() if line.strip()]
    for again in count():
        yield from (_ID.sub(rb"%08x\g<rest>" % again, line) for line in lines)


def _mean(cost: Cost, payloads: Iterator[Payload]) -> float:
    """Nanoseconds per byte of several payloads."""
    sent = list(payloads)
    return sum(map(cost, sent)) / sum(len(payload.data) for payload in sent)


def _bytes(payload: Payload) -> int:
    """How many bytes a payload has, packed or unpacked, whichever is more."""
    return max(len(payload.data), len(gzip.decompress(payload.data)) if payload.compressed else 0)


def _ingested(payload: Payload) -> float:
    gc.collect()  # what was done before is not charged to this payload
    began = time.process_time_ns()
    ingest(payload, _SENDER, NoLog(), NOW_US)
    return time.process_time_ns() - began


def _sent(api: Running, client: httpx.Client, payload: Payload) -> float:
    """What the processes of the API spend on a request, its answer included."""
    headers = {"Content-Type": "application/x-ndjson" if payload.ndjson else "application/json"}
    if payload.compressed:
        headers["Content-Encoding"] = "gzip"
    began = _spent_ns(api)
    client.post(CALL, content=payload.data, headers=headers)
    return _spent_ns(api) - began


def _spent_ns(api: Running) -> int:
    """Processor time of all threads of the API. Linux has it in nanoseconds; the ticks of `psutil` are longer than most requests."""
    spent = 0
    for process in tree(api.process):
        for thread in Path(f"/proc/{process.pid}/task").iterdir():
            with suppress(OSError):
                spent += int((thread / "schedstat").read_text().split()[0])
    return spent
