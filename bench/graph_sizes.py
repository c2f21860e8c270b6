"""graph_sizes: one question to graphs of different sizes, and the same question as of an earlier time.

A graph consists of components of 50 jobs (fan-in 2), each run on three days, with START and COMPLETE; the answer is always one component.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from uuid import UUID

from bench.meter import Result, alone, calibrate, quantiles
from bench.progress import report
from bench.synthetic import JOBS, NAMESPACE, Folder
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.reader import ReaderPool

COMPONENT = 50
DAYS = 3
_FIRST_US = 1_767_225_600_000_000
_HOUR_US = 3_600_000_000
_WALKS = 40


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor milliseconds of a walk of depth 20 both ways: now, as of the last midnight, and as of a moment when all jobs ran."""
    sizes = (100, 500) if quick else (100, 1_000, 10_000)
    return {f"jobs_{size}": alone(_graph, work / f"{size}.db", size) for size in sizes}


def _graph(path: Path, jobs: int) -> Result:
    report(f"graph_sizes: {jobs} jobs")
    folder = Folder(path)
    folder.fold(_events(jobs))
    folder.close()
    pool = ReaderPool(path)
    moments = {"now": None, "as_of_midnight": _FIRST_US + 2 * DAY_US, "as_of_running": _FIRST_US + DAY_US + _HOUR_US // 2}
    out: Result = {"calibration": calibrate(), **{name: _walks(pool, jobs, at_us) for name, at_us in moments.items()}}
    pool.close()
    now = out["now"]["cpu"]["p50_ms"]
    return {**out, **{f"{name}_ratio": round(out[name]["cpu"]["p50_ms"] / now, 2) for name in ("as_of_midnight", "as_of_running")}}


def _events(jobs: int) -> Iterator[bytes]:
    """Job k of a component reads tables k and k // 2 and writes table k + 1."""
    for day in range(DAYS):
        for job in range(jobs):
            component, k = divmod(job, COMPONENT)
            at = _FIRST_US + day * DAY_US
            yield _event("START", at, job, day, inputs=[f"c{component}.t{k}", f"c{component}.t{k // 2}"])
            yield _event("COMPLETE", at + _HOUR_US, job, day, outputs=[f"c{component}.t{k + 1}"])


def _event(type_: str, at_us: int, job: int, day: int, inputs: list[str] | None = None, outputs: list[str] | None = None) -> bytes:
    sides = (",".join(f'{{"namespace":"{NAMESPACE}","name":"{name}"}}' for name in names or ()) for names in (inputs, outputs))
    return (
        f'{{"eventType":"{type_}","eventTime":"{format_time(at_us)}","run":{{"runId":"{UUID(int=job * DAYS + day + 1)}"}},'
        f'"job":{{"namespace":"{JOBS}","name":"job{job}"}},"inputs":[{next(sides)}],"outputs":[{next(sides)}],"producer":"b","schemaURL":"b"}}'
    ).encode()


def _walks(pool: ReaderPool, jobs: int, at_us: int | None) -> Result:
    cpu, nodes, found = [], [], []
    for turn in range(_WALKS):
        with pool.reader() as reader:
            node = reader.nodes.find(NodeKind.DATASET, NAMESPACE, f"c{turn % (jobs // COMPONENT)}.t{COMPONENT // 2}")
            if node is None:
                raise AssertionError("a table is missing in the graph")
            began = time.process_time()
            walk = reader.lineage.walk(node, "both", 20, WalkLimits(), now_us=_FIRST_US + DAYS * DAY_US, at_us=at_us)
            cpu.append(time.process_time() - began)
        nodes.append(len(walk.nodes))
        found.append(len(walk.edges))
    return {"cpu": quantiles(cpu), "nodes": median(nodes), "edges": median(found)}
