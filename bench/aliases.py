"""aliases: joining two namespaces of 20,000 datasets by one alias, and separating them: the cost for a batch and for a question."""

import json
import time
from pathlib import Path

from bench.generator import BASE_US
from bench.meter import Result, alone, calibrate, quantiles
from bench.progress import report
from bench.synthetic import JOBS, NAMESPACE, Folder
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.ids import NodeKind, event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.reader import ReaderPool

DATASETS = 20_000
OTHER = "bench://other"
_A_RUN = 100


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor milliseconds of the batch that joins, of the batch that separates, and of a walk before, between and after."""
    return alone(_aliases, work, DATASETS // 20 if quick else DATASETS)


def _aliases(work: Path, datasets: int) -> Result:
    report(f"aliases: building two namespaces of {datasets} datasets")
    folder = Folder(work / "graph.db")
    folder.fold(_event(number, datasets) for number in range(0, datasets, _A_RUN))
    pool = ReaderPool(work / "graph.db")
    out: Result = {"datasets": datasets, "calibration": calibrate(), "walk_apart": _walks(pool, datasets)}
    for turn, operation in enumerate(("alias", "veto", "lift")):
        out[f"{operation}_batch_cpu_ms"] = round(1000 * _operate(folder, operation, turn), 2)
        out[f"walk_after_{operation}"] = _walks(pool, datasets)
    pool.close()
    folder.close()
    return out


def _event(first: int, datasets: int) -> bytes:
    """A run that reads datasets of one namespace and writes datasets of the other: a chain that only the alias closes."""
    numbers = range(first, min(first + _A_RUN, datasets))
    inputs = [{"namespace": NAMESPACE, "name": f"t{number}"} for number in numbers]
    outputs = [{"namespace": OTHER, "name": f"t{(number + _A_RUN) % datasets}"} for number in numbers[:1]]
    named = [{"namespace": OTHER, "name": f"t{number}"} for number in numbers]
    return json.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": "2026-01-01T00:00:00Z",
            "run": {"runId": f"00000000-0000-4000-8000-{first:012d}"},
            "job": {"namespace": JOBS, "name": f"job{first}"},
            "inputs": inputs + named[1:],
            "outputs": outputs,
            "producer": "b",
            "schemaURL": "b",
        }
    ).encode()


def _operate(folder: Folder, operation: str, turn: int) -> float:
    body = json.dumps({"operation": operation, "aliases": [{"a": {"namespace": NAMESPACE}, "b": {"namespace": OTHER}}]}).encode()
    record = StoredRecord(
        LOG_SOURCE, 0, folder.next_offset, LogRecord(RecordKind.OPERATOR, event_id(body), BASE_US + turn, "http", "", b"", body)
    )
    began = time.process_time()
    rows = dict(flat(fold_records([record], folder.names)))
    folder.store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(folder.next_offset, folder.next_offset + 1)}, rows), Budget(5_000))
    folder.next_offset += 1
    return time.process_time() - began


def _walks(pool: ReaderPool, datasets: int) -> Result:
    """Walks of five hops from datasets that lie apart."""
    cpu, nodes = [], []
    for number in range(0, datasets, datasets // 20):
        with pool.reader() as reader:
            node = reader.nodes.find(NodeKind.DATASET, NAMESPACE, f"t{number}") or Node(0, NodeKind.DATASET, NAMESPACE, "")
            began = time.process_time()
            walk = reader.lineage.walk(node, "downstream", 5, WalkLimits(), now_us=BASE_US)
            cpu.append(time.process_time() - began)
        nodes.append(len(walk.nodes))
    return {"cpu": quantiles(cpu), "nodes_p50": sorted(nodes)[len(nodes) // 2]}
