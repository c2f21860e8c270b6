"""The command line of the benchmarks."""

import argparse
import json
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import psutil
import pyspark

from bench import (
    aliases,
    answers,
    bodies,
    bounds,
    confluent,
    fold,
    freshness,
    graph_sizes,
    http,
    hubs,
    inputs,
    page,
    postgresql,
    processes,
    publish,
    questions,
    search,
    sources,
    sql,
    walks,
)
from bench.meter import Result, calibrate
from bench.progress import report

NAMES = (
    "fold",
    "http",
    "bodies",
    "bounds",
    "freshness",
    "walks",
    "graph_sizes",
    "questions",
    "answers",
    "search",
    "hubs",
    "aliases",
    "sources",
    "inputs",
    "publish",
    "confluent",
    "sql",
    "processes",
    "page",
    "postgresql",
)
SIZES = "10000,100000,1000000"
QUICK_SIZES = "2000,10000"


def main(arguments: Sequence[str]) -> int:
    """Run the requested benchmarks; 1 if one of them failed. The others are printed all the same."""
    options = _parser().parse_args(arguments)
    sizes = [int(size) for size in (options.events or (QUICK_SIZES if options.quick else SIZES)).split(",")]
    names = options.only or NAMES
    work = Path(tempfile.mkdtemp(prefix="lineage-bridge-bench-", dir=options.work))
    figures: Result = {"machine": _machine(), "figures": {}}
    try:
        for name in names:
            report(name)
            (work / name).mkdir()
            figures["figures"][name] = _figure(_runs(sizes, options.quick)[name], work / name)
            shutil.rmtree(work / name, ignore_errors=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    text = json.dumps(figures, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    return int(any("failed" in figure for figure in figures["figures"].values()))


def _runs(sizes: list[int], quick: bool) -> dict[str, Callable[[Path], Result]]:
    return {
        "fold": lambda work: fold.run(work, sizes),
        "http": lambda work: http.run(work, quick=quick),
        "bodies": lambda work: bodies.run(work, bodies.QUICK_SIZE if quick else bodies.SIZE),
        "bounds": lambda work: bounds.run(work, quick=quick),
        "freshness": lambda work: freshness.run(work, quick=quick),
        "walks": lambda work: walks.run(work, quick=quick),
        "search": lambda work: search.run(work, quick=quick),
        "graph_sizes": lambda work: graph_sizes.run(work, quick=quick),
        "questions": lambda work: questions.run(work, quick=quick),
        "answers": lambda work: answers.run(work, quick=quick),
        "hubs": lambda work: hubs.run(work, quick=quick),
        "aliases": lambda work: aliases.run(work, quick=quick),
        "sources": lambda work: sources.run(work, quick=quick),
        "inputs": lambda work: inputs.run(work, quick=quick),
        "publish": lambda work: publish.run(work, quick=quick),
        "confluent": lambda work: confluent.run(work, quick=quick),
        "sql": lambda _: sql.run(quick=quick),
        "processes": processes.run,
        "page": lambda work: page.run(work, quick=quick),
        "postgresql": lambda work: postgresql.run(work, quick=quick),
    }


def _figure(run: Callable[[Path], Result], work: Path) -> Result:
    before = calibrate()
    try:
        figure = run(work)
    except Exception as error:  # noqa: BLE001 - a figure that fails is reported beside the others
        report(f"failed: {error}")
        return {"failed": f"{type(error).__name__}: {error}"}
    return {"calibration": {"before": before, "after": calibrate()}, **figure}


def _machine() -> Result:
    return {
        "processors": os.cpu_count(),
        "memory_mb": psutil.virtual_memory().total >> 20,
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "pyspark": pyspark.__version__,
        "duckdb": duckdb.__version__,
        "calibration": {"rounds_per_cpu_s": calibrate(1.0)},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=sys.modules["bench"].__doc__)
    parser.add_argument("--only", action="append", choices=NAMES, help="this figure alone; may be given again")
    parser.add_argument("--events", help=f"sizes for fold, separated by commas ({SIZES})")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--work", type=Path, help="folder for temporary files (the system's)")
    parser.add_argument("-o", "--output", type=Path, help="also write the document to this file")
    return parser
