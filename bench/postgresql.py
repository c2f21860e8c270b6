"""postgresql: the cost of batches and of questions with the graph in PostgreSQL and in a file of SQLite, with all processes of both."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

from tests.servers import postgres

from bench.corpus import write_corpus
from bench.engines import KEY, fold_into, store_size
from bench.generator import BASE_US, Corpus
from bench.meter import Clock, Result, alone
from bench.progress import report
from bench.synthetic import NAMESPACE, Folder
from bench.walks import FLOWS_PER_JOB, dataset_events, dataset_name
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.search import SearchFilter
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_writer
from lineage_bridge.store.reader import ReaderPool, StoreReader
from lineage_bridge.store.write.apply import GraphWriter

ENGINES = ("sqlite", "postgresql")
WARM_EVENTS = 5_000
ENOUGH_S = 1.0
"""How many processor seconds a question is asked for: those of processes are counted in hundredths."""
SETTINGS = {"fsync": "on", "shared_buffers": "512MB", "wal_level": "replica", "max_wal_size": "4GB"}
"""Settings of the server that PostgreSQL's own defaults are not, or those of the tests' servers."""


def run(work: Path, *, quick: bool = False) -> Result:
    """For both databases: the cost of folding a corpus in one process, and of questions. `ratio` is PostgreSQL's to SQLite's, in rounds of
    the calibration loop.
    """
    events, flows, samples = (5_000, 20_000, 20) if quick else (100_000, 200_000, 200)
    warm = write_corpus(Corpus(WARM_EVENTS, seed=1, prefix="w"), work / "warm.tsv")
    corpus = write_corpus(Corpus(events), work / "corpus.tsv")
    folds, asked = dict[str, Result](), dict[str, Result]()
    for engine in ENGINES:
        for part in ("fold", "questions"):
            (work / engine / part).mkdir(parents=True)
        report(f"postgresql: folding {events} events, {engine}")
        folds[engine] = alone(_fold, work / engine / "fold", engine, warm.path, corpus.path, warm.events, corpus.events)
        report(f"postgresql: asking about {flows} flows, {engine}")
        asked[engine] = alone(_questions, work / engine / "questions", engine, flows, samples)
    ratios = {name: _ratio(asked, name, "rounds_per_question") for name in asked["sqlite"]["questions"]}
    ratio = round(folds["postgresql"]["rounds_per_event"] / folds["sqlite"]["rounds_per_event"], 2)
    return {"fold": {**folds, "ratio": ratio}, "questions": {**asked, "ratio": ratios}}


def _ratio(asked: dict[str, Result], name: str, measure: str) -> float:
    sqlite, postgresql = (asked[engine]["questions"][name][measure] for engine in ENGINES)
    return round(float(postgresql) / float(sqlite), 2)


@contextmanager
def _database(engine: str, folder: Path) -> Iterator[Path | PostgresqlDatabase]:
    """Where an empty graph is. The server is below this process, so its processor time counts."""
    if engine == "sqlite":
        yield folder / "graph.db"
        return
    with postgres.started(folder, SETTINGS) as server:
        yield PostgresqlDatabase(f"postgresql://{server.user}@{server.host}:{server.port}/{server.database}", "lineage_bridge")


def _opened(place: Path | PostgresqlDatabase) -> Path | StoreConnection:
    return place if isinstance(place, Path) else connect_writer(place.url, place.schema)


def _fold(folder: Path, engine: str, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    with _database(engine, folder) as place, closing(GraphWriter(_opened(place), Names(KEY))) as store:
        figure = fold_into(store, folder, warm, corpus, warm_events, events)
        return {**figure, "store_bytes": store_size(place) if isinstance(place, Path) else place.size_bytes()}


def _questions(folder: Path, engine: str, flows: int, samples: int) -> Result:
    random, jobs = Random(5), flows // FLOWS_PER_JOB
    with _database(engine, folder) as place:
        opened = Folder(_opened(place))
        opened.fold(dataset_events(random, jobs))
        if engine == "postgresql":
            # Autovacuum does so within a minute.
            opened.store.connection.execute("ANALYZE")
        opened.close()
        names = [dataset_name(random, jobs) for _ in range(samples)]
        with closing(ReaderPool(place)) as pool:
            return {"questions": {name: _cost(pool, ask, names) for name, ask in QUESTIONS.items()}}


def _walk(depth: int) -> Callable[[StoreReader, str], int]:
    def walk(reader: StoreReader, name: str) -> int:
        node = reader.nodes.find(NodeKind.DATASET, NAMESPACE, name)
        return len(reader.lineage.walk(node, "both", depth, WalkLimits(), now_us=BASE_US).nodes) if node else 0

    return walk


def _found(reader: StoreReader, text: str) -> int:
    return len(reader.search.page(SearchFilter(text, kind=NodeKind.DATASET, limit=50)).matches)


QUESTIONS: dict[str, Callable[[StoreReader, str], int]] = {
    "walk_1": _walk(1),
    "walk_5": _walk(5),
    "walk_20": _walk(20),
    "search_name": _found,
    "search_part": lambda reader, name: _found(reader, name[-8:]),
    "first_names": lambda reader, _: len(reader.nodes.matching(NodeKind.DATASET, None, None, 100, 0)),
}


def _cost(pool: ReaderPool, ask: Callable[[StoreReader, str], int], names: list[str]) -> Result:
    """Processor and wall milliseconds of a question: the mean over the names, after one outside the clock."""
    with pool.reader() as reader:
        ask(reader, names[0])
    clock, found, asked = Clock().start(), 0, 0
    clock.calibrate()
    while (spent := clock.read())[0] < ENOUGH_S:
        for name in names:
            with pool.reader() as reader:
                found += ask(reader, name)
        asked += len(names)
    clock.calibrate()
    cpu, wall = spent
    return {
        "cpu_ms": round(1000 * cpu / asked, 3),
        "wall_ms": round(1000 * wall / asked, 3),
        "rounds_per_question": round(cpu / asked * clock.calibration, 4),
        "found": round(found / asked, 1),
    }
