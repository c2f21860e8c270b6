"""walks: lineage questions to a store with a million flows, up and down, 1 to 20 hops deep."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from bench.generator import BASE_US
from bench.meter import Result, alone, calibrate, quantiles
from bench.progress import report
from bench.synthetic import NAMESPACE, Folder, complete
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.store.reader import ReaderPool

DEPTHS = (1, 2, 3, 5, 10, 20)
FLOWS_PER_JOB = 20
_LAYERS = 24
_WIDTH = 12
_ABROAD = 0.02


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor and wall milliseconds of a walk by depth and direction, and how many nodes and edges it found."""
    return alone(_walks, work, 50_000 if quick else 1_000_000, 20 if quick else 60)


def _walks(work: Path, flows: int, samples: int) -> Result:
    report(f"walks: building {flows} flows")
    folder, random = Folder(work / "graph.db"), Random(5)
    jobs = flows // FLOWS_PER_JOB
    folder.fold(dataset_events(random, jobs))
    count = int(folder.store.connection.execute("SELECT count(*) FROM flow").fetchone()[0])
    folder.close()
    out: Result = {"flows": count, "calibration": calibrate()}
    pool = ReaderPool(work / "graph.db")
    for direction in ("upstream", "downstream"):
        report(f"walks: {direction}")
        for depth in DEPTHS:
            names = [dataset_name(random, jobs) for _ in range(samples)]
            out[f"{direction}_{depth}"] = _figure(pool, names, direction, depth)
    pool.close()
    return out


def _dataset(area: int, layer: int, number: int) -> str:
    return f"area{area}.layer{layer}.t{number}"


def _areas(jobs: int) -> int:
    return max(1, jobs // (_LAYERS * _WIDTH // 4))


def dataset_name(random: Random, jobs: int) -> str:
    """The name of a dataset in the middle of what `dataset_events` makes for this number of jobs."""
    return _dataset(random.randrange(_areas(jobs)), _LAYERS // 2, random.randrange(_WIDTH))


def dataset_events(random: Random, jobs: int) -> Iterator[bytes]:
    """Jobs that each read 5 datasets of one layer and write 4 of the next, mostly within one area: 20 flows a job."""
    areas = _areas(jobs)
    for job in range(jobs):
        area, layer = random.randrange(areas), random.randrange(_LAYERS - 1)
        inputs = [_dataset(area, layer, number) for number in random.sample(range(_WIDTH), 5)]
        if random.random() < _ABROAD:
            inputs[0] = _dataset(random.randrange(areas), layer, random.randrange(_WIDTH))
        yield complete(f"job{job}", job, inputs, [_dataset(area, layer + 1, number) for number in random.sample(range(_WIDTH), 4)])


def _figure(pool: ReaderPool, names: list[str], direction: str, depth: int) -> Result:
    cpu, wall, nodes, edges, truncated = [], [], [], [], 0
    for name in names:
        with pool.reader() as reader:
            node = reader.nodes.find(NodeKind.DATASET, NAMESPACE, name) or Node(0, NodeKind.DATASET, NAMESPACE, name)
            began = time.process_time(), time.perf_counter()
            walk = reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=BASE_US)
            cpu.append(time.process_time() - began[0])
            wall.append(time.perf_counter() - began[1])
        nodes.append(len(walk.nodes))
        edges.append(len(walk.edges))
        truncated += bool(walk.truncated)
    middle = len(names) // 2
    found = {"nodes_p50": sorted(nodes)[middle], "edges_p50": sorted(edges)[middle], "truncated": truncated, "walks": len(names)}
    return {"cpu": quantiles(cpu), "wall": quantiles(wall), **found}
