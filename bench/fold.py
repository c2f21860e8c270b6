"""fold: from the log to a committed store, by the product's Spark query, by one plain process, and by DuckDB, for several sizes."""

import shutil
from pathlib import Path

from bench.compare import compare
from bench.corpus import Written, write_corpus
from bench.duck import fold_in_duckdb
from bench.engines import fold_on_spark, fold_plainly
from bench.generator import Corpus, Scale
from bench.meter import Result, alone
from bench.progress import report

WARM_EVENTS = 5_000


def run(work: Path, sizes: list[int], *, scale: Scale = "linear", engines: tuple[str, ...] = ("spark", "plain", "duckdb")) -> Result:
    """One entry for each size and engine, how the tables compare, and how flat the cost is over the sizes."""
    warm = write_corpus(Corpus(WARM_EVENTS, seed=1, prefix="w"), work / "warm.tsv")
    found = {str(size): _size(work / f"fold-{size}", warm, Corpus(size, scale=scale), engines) for size in sizes}
    return {"sizes": found, "flatness": {engine: _flatness(found, engine) for engine in engines}}


def _size(folder: Path, warm: Written, described: Corpus, engines: tuple[str, ...]) -> Result:
    folder.mkdir(parents=True)
    report(f"fold: generating {described.events} events")
    corpus = write_corpus(described, folder / "corpus.tsv")
    out: Result = {"bytes_per_event": round(corpus.bytes / corpus.events), "jobs": described.jobs, "datasets": described.datasets}
    for engine in engines:
        report(f"fold: {engine}, {described.events} events")
        (folder / engine).mkdir()
        out[engine] = _engine(engine, folder / engine, warm, corpus)
        shutil.rmtree(folder / engine / "log", ignore_errors=True)
    if "duckdb" in engines:
        for engine in [engine for engine in engines if engine != "duckdb"]:
            report(f"fold: comparing {engine} and duckdb")
            compared = alone(compare, folder / engine / "graph.db", folder / "duckdb" / "graph.duckdb")
            out[engine]["compared_with_duckdb"] = {key: compared[key] for key in ("equal", "not_equal")}
            out[engine]["cpu_ratio_to_duckdb"] = round(out["duckdb"]["rounds_per_event"] / out[engine]["rounds_per_event"], 3)
            out[engine]["rate_ratio_to_duckdb"] = round(out[engine]["events_per_s"] / out["duckdb"]["events_per_s"], 3)
    shutil.rmtree(folder)
    return out


def _engine(engine: str, folder: Path, warm: Written, corpus: Written) -> Result:
    if engine == "duckdb":
        return alone(fold_in_duckdb, folder / "graph.duckdb", warm.path, corpus.path, warm.events + corpus.events)
    fold = fold_on_spark if engine == "spark" else fold_plainly
    return alone(fold, folder, warm.path, corpus.path, warm.events, corpus.events)


def _flatness(found: dict[str, Result], engine: str) -> Result:
    """The cost of an event at each size, relative to the smallest, in processor seconds and in rounds of the calibration loop."""
    first = next(iter(found.values()))[engine]
    return {
        measure: {size: round(entry[engine][measure] / first[measure], 3) for size, entry in found.items()}
        for measure in ("cpu_us_per_event", "rounds_per_event")
    }
