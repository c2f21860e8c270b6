"""search: by names and by descriptions, in a store with a million names."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from bench.meter import Result, alone, calibrate, quantiles
from bench.progress import report
from bench.synthetic import Folder, complete
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.search import SearchFilter
from lineage_bridge.store.reader import ReaderPool

_NOUNS = ("order", "customer", "payment", "invoice", "session", "click", "stock", "price", "shipment", "refund", "account", "ledger")
_PER_JOB = 40
_PROGRESS_EVERY = 100_000


def _name(number: int) -> str:
    return f"{_NOUNS[number % len(_NOUNS)]}.{('daily', 'hourly')[number % 2]}.t{number}"


QUESTIONS: dict[str, Callable[[int], str]] = {
    "exact": _name,
    "rare_part": lambda number: f"ly.t{number}",
    "common_part": lambda number: _NOUNS[number % len(_NOUNS)],
    "two_common_parts": lambda _: "customer hourly",
    "rare_column": lambda number: f"col_{number // 10 * 10}_7",
    "common_column": lambda _: "amount",
    "nothing": lambda number: f"zzzzzzzz{number}",
}


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor and wall milliseconds of each kind of question, and how much it found."""
    return alone(_search, work, 20_000 if quick else 1_000_000, 5 if quick else 30)


def _search(work: Path, names: int, samples: int) -> Result:
    report(f"search: building {names} names")
    folder, random = Folder(work / "graph.db"), Random(5)
    began = time.process_time()
    folder.fold(_events(names))
    built = time.process_time() - began
    count = int(folder.store.connection.execute("SELECT count(*) FROM node").fetchone()[0])
    folder.close()
    out: Result = {"names": count, "build_cpu_s": round(built, 1), "calibration": calibrate()}
    pool = ReaderPool(work / "graph.db")
    for name, text in QUESTIONS.items():
        report(f"search: {name}")
        out[name] = _figure(pool, [text(random.randrange(names)) for _ in range(samples)])
    pool.close()
    return out


def _events(names: int) -> Iterator[bytes]:
    """Jobs that each write datasets of their own; one dataset in ten has a schema, with a column of its own."""
    for job, start in enumerate(range(0, names, _PER_JOB)):
        if start % _PROGRESS_EVERY == 0 and start:
            report(f"search: {start} names sent")
        event = json.loads(complete(f"job{job}", job, [], [_name(n) for n in range(start, min(start + _PER_JOB, names))]))
        for number, dataset in enumerate(event["outputs"], start):
            if number % 10 == 0:
                fields = [{"name": "id"}, {"name": "amount"}, {"name": f"col_{number}_7"}]
                dataset["facets"] = {"schema": {"_producer": "https://example.org", "_schemaURL": "https://example.org", "fields": fields}}
        yield json.dumps(event).encode()


def _figure(pool: ReaderPool, texts: list[str]) -> Result:
    cpu, wall, found = [], [], []
    for text in texts:
        with pool.reader() as reader:
            began = time.process_time(), time.perf_counter()
            page = reader.search.page(SearchFilter(text, kind=NodeKind.DATASET, limit=50))
            cpu.append(time.process_time() - began[0])
            wall.append(time.perf_counter() - began[1])
        found.append(len(page.matches))
    return {"cpu": quantiles(cpu), "wall": quantiles(wall), "found_p50": sorted(found)[len(found) // 2]}
