"""questions: impact, paths and column traces in a store with 1.8 million column flows, and the same ones in a small store."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from bench.meter import Result, alone, calibrate, quantiles
from bench.progress import report
from bench.synthetic import NAMESPACE, Folder, complete
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.store.reader import ReaderPool, StoreReader

COLUMNS = 30
LAYERS = 13
_AREAS = 1_250
_SMALL = 25


def run(work: Path, *, quick: bool = False) -> Result:
    """Processor milliseconds of each question by size of the graph, and how much it found; the answer is the same in every graph."""
    sizes = (_SMALL, _AREAS // 25) if quick else (_SMALL, _AREAS)
    return {f"areas_{areas}": alone(_questions, work / f"{areas}.db", areas, 10 if quick else 40) for areas in sizes}


def _questions(path: Path, areas: int, samples: int) -> Result:
    report(f"questions: building {areas} areas")
    folder = Folder(path)
    folder.fold(_events(areas))
    execute = folder.store.connection.execute
    columns = execute("SELECT count(*) FROM job_lineage_set j JOIN column_statement s ON s.lineage_set = j.lineage_set").fetchone()[0]
    flows = execute("SELECT count(*) FROM flow").fetchone()[0]
    folder.close()
    pool, random = ReaderPool(path), Random(3)
    question: dict[str, Callable[[StoreReader, int], int]] = {
        "trace_column_up": lambda reader, area: _trace(reader, _name(area, LAYERS - 1, 0), "c7", "upstream"),
        "trace_column_down": lambda reader, area: _trace(reader, _name(area, 0, 0), "c7", "downstream"),
        "trace_every_column_up": lambda reader, area: _trace(reader, _name(area, LAYERS - 1, 0), "", "upstream"),
        "impact": lambda reader, area: len(
            reader.lineage.impact([_node(reader, _name(area, 0, 0))], "downstream", 50, WalkLimits()).affected
        ),
        "paths": _paths,
    }
    out: Result = {"column_flows": columns, "flows": flows, "calibration": calibrate()}
    for name, ask in question.items():
        out[name] = _figure(pool, [random.randrange(areas) for _ in range(samples)], ask)
    pool.close()
    return out


def _name(area: int, layer: int, number: int) -> str:
    return f"area{area}.layer{layer}.t{number}"


def _events(areas: int) -> Iterator[bytes]:
    """In each area two datasets a layer; one job a dataset makes each of its columns from that column of both datasets before it."""
    run = 0
    for area in range(areas):
        for layer in range(1, LAYERS):
            for number in range(2):
                run += 1
                sources = [_name(area, layer - 1, before) for before in range(2)]
                yield complete(f"job{run}", run, sources, [_name(area, layer, number)], columns=_columns(sources))


def _columns(sources: list[str]) -> str:
    fields = ",".join(
        f'"c{column}":{{"inputFields":['
        + ",".join(f'{{"namespace":"{NAMESPACE}","name":"{source}","field":"c{column}"}}' for source in sources)
        + "]}"
        for column in range(COLUMNS)
    )
    return f'"columnLineage":{{"fields":{{{fields}}}}}'


def _node(reader: StoreReader, name: str) -> Node:
    return reader.nodes.find(NodeKind.DATASET, NAMESPACE, name) or Node(0, NodeKind.DATASET, NAMESPACE, name)


def _trace(reader: StoreReader, name: str, field: str, direction: str) -> int:
    return len(reader.lineage.trace(_node(reader, name), TraceOptions(field, direction), WalkLimits()).flows)


def _paths(reader: StoreReader, area: int) -> int:
    ends = _node(reader, _name(area, 0, 0)), _node(reader, _name(area, LAYERS - 1, 0))
    return len(reader.lineage.paths(*ends, 20, 20, WalkLimits()).paths)


def _figure(pool: ReaderPool, areas: list[int], ask: Callable[[StoreReader, int], int]) -> Result:
    cpu, found = [], []
    for area in areas:
        with pool.reader() as reader:
            began = time.process_time()
            found.append(ask(reader, area))
            cpu.append(time.process_time() - began)
    return {"cpu": quantiles(cpu), "found_p50": sorted(found)[len(found) // 2], "asked": len(areas)}
