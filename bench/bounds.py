"""bounds: what 64 clients that export and walk a large graph cost others: latency of events, memory, and what is left when they go."""

import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from random import Random
from threading import Event, Thread
from urllib.parse import urlencode

import httpx
from typing_extensions import Self

from bench.crowd import Answered, Crowd, ask_once
from bench.generator import Corpus, generate
from bench.load import paced, single
from bench.meter import Result, alone, calibrate, cpu_seconds, quantiles, resident
from bench.progress import report
from bench.server import Running, started
from bench.synthetic import NAMESPACE, Folder, complete

SIZES = 20_000, 100_000
QUICK_SIZES = 1_000, 5_000
CLIENTS = 64
PAUSE_S = 0.004
_LAYERS = 24
_WIDTH = 12
_AREA = (2 * _LAYERS - 1) * _WIDTH
_SAMPLE_S = 0.05


def run(work: Path, *, quick: bool = False) -> Result:
    """Single events beside an idle and a busy server, in turns; memory of one export of a small and of a large graph."""
    small, large = QUICK_SIZES if quick else SIZES
    out: Result = {}
    for nodes in (small, large):
        (work / str(nodes)).mkdir()
        out[f"build_{nodes}"] = alone(_build, work / str(nodes) / "graph.db", nodes)
        out[f"export_of_{nodes}_nodes"] = _export(work / str(nodes))
    return {**out, **_beside_questions(work / str(large), large, *((2, 1.0, 2.0) if quick else (4, 5.0, 8.0)))}


def _build(path: Path, nodes: int) -> Result:
    report(f"bounds: building {nodes} nodes")
    folder = Folder(path)
    folder.fold(_events(nodes))
    count = folder.store.connection.execute
    found = {table: int(count(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("node", "flow")}
    folder.close()
    return {**found, "bytes": path.stat().st_size}


def _dataset(area: int, layer: int, number: int) -> str:
    return f"area{area}.layer{layer}.t{number}"


def _events(nodes: int) -> Iterator[bytes]:
    """Areas of 24 layers; in each, a job makes each dataset of two of the layer before it: nearly as many jobs as datasets."""
    random, run = Random(7), 0
    for area in range(nodes // _AREA):
        for layer in range(1, _LAYERS):
            for number in range(_WIDTH):
                run += 1
                sources = [_dataset(area, layer - 1, before) for before in random.sample(range(_WIDTH), 2)]
                yield complete(f"job{run}", run, sources, [_dataset(area, layer, number)])


# one export


def _export(data: Path) -> Result:
    with started("api", data) as api:
        path = _export_path(api)
        with _Memory(api) as memory:
            before, cpu = memory.now(), cpu_seconds(api.process)
            status, size, wall = ask_once(api.port, path)
            spent = cpu_seconds(api.process) - cpu
        grown = {f"peak_rss_growth_{kind}_mb": round((memory.peak[kind] - before[kind]) / 2**20, 1) for kind in before}
        return {"status": status, "bytes": size, "cpu_s": round(spent, 2), "wall_s": round(wall, 2), **grown}


def _export_path(api: Running) -> str:
    """The path of the export, without a question that reads the graph before: a wrong id is answered with the right one."""
    api.wait("/api/v1/health")
    hint = httpx.get(f"{api.url}/api/v1/graphs/none/export", timeout=60.0).json()["error"]["hint"]
    return f"/api/v1/graphs/{hint.rpartition(' ')[2]}/export"


class _Memory(Thread):
    """The greatest memory of a server while it is entered."""

    def __init__(self, api: Running) -> None:
        super().__init__(daemon=True)
        self.api, self.left = api, Event()
        self.peak = self.now()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.left.set()
        self.join()

    def now(self) -> dict[str, int]:
        """Resident bytes of the API's own process, and of all its processes."""
        return {"api": self.api.process.memory_info().rss, "all": resident(self.api.process)["all"]}

    def run(self) -> None:
        """Sample until it is left."""
        while not self.left.wait(_SAMPLE_S):
            self.peak = {kind: max(size, self.peak[kind]) for kind, size in self.now().items()}


# events beside questions


def _beside_questions(data: Path, nodes: int, rounds: int, idle_s: float, busy_s: float) -> Result:
    bodies = [sent.body for sent in islice(generate(Corpus(4_000)), 4_000) if sent.fate != "damaged"]
    idle: list[float] = []
    busy: list[float] = []
    gone: list[float] = []
    free: list[float] = []
    answered: list[Answered] = []
    with started("api", data) as api, _Memory(api) as memory:
        export = _export_path(api)
        events = cycle(single(bodies, api.port))
        paced(events, api.port, PAUSE_S, 1.0)
        start = calibrate()
        for number in range(rounds):
            report(f"bounds: round {number + 1} of {rounds}")
            idle += paced(events, api.port, PAUSE_S, idle_s).seconds
            with Crowd(api.port, _paths(export, nodes)) as crowd:
                paced(events, api.port, PAUSE_S, 1.0)
                busy += paced(events, api.port, PAUSE_S, busy_s).seconds
                answered.append(crowd.leave())
            before, left = cpu_seconds(api.process), time.monotonic()
            while ask_once(api.port, "/api/v1/lineage/datasets?limit=1")[0] != "200":
                time.sleep(0.02)
            free.append(time.monotonic() - left)
            time.sleep(max(0.0, 2.0 - free[-1]))
            gone.append(cpu_seconds(api.process) - before)
        spent = cpu_seconds(api.process)
    at = {name: quantiles(seconds) for name, seconds in (("idle", idle), ("busy", busy))}
    return {
        "speed": {"before": start, "after": calibrate()},
        "events": {"idle": len(idle), "busy": len(busy)},
        **at,
        "ratio": {key: round(at["busy"][key] / at["idle"][key], 2) for key in ("p50_ms", "p95_ms", "p99_ms")},
        "questions": {
            "answers": {
                status: sum(each.statuses[status] for each in answered)
                for status in sorted({s for each in answered for s in each.statuses})
            },
            "finished": sum(each.finished for each in answered),
            "bytes": sum(each.bytes for each in answered),
        },
        "peak_rss_of_api_mb": {kind: size >> 20 for kind, size in memory.peak.items()},
        "cpu_s_in_2_s_after_clients_went": [round(seconds, 2) for seconds in gone],
        "lane_free_after_s": [round(seconds, 2) for seconds in free],
        "cpu_s": round(spent, 1),
    }


def _paths(export: str, nodes: int) -> list[str]:
    """For each client its question: half of them export, the others walk everything around a dataset, or ask what it affects."""
    random, areas = Random(11), nodes // _AREA
    paths = []
    for number in range(CLIENTS):
        name = _dataset(random.randrange(areas), _LAYERS // 2, random.randrange(_WIDTH))
        start = {"kind": "dataset", "namespace": NAMESPACE, "name": name}
        walk = f"/api/v1/graph/neighbourhood?{urlencode({**start, 'direction': 'both', 'depth': 50})}"
        impact = f"/api/v1/graph/impact?{urlencode({**start, 'depth': 100})}"
        paths.append((export, walk, export, impact)[number % 4])
    return paths
