"""Statements are written once, in portable SQL: all that the store runs is rendered for PostgreSQL too, and parsed as its SQL."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from tests.events import RUNS, T0, columns, dataset, erase, records_of, run_event, schema, stored_record
from tests.quirks.small_world import small_world
from tests.store.postgres import Postgres
from tests.store.reading import reader_of
from tests.store.writing import NAMES, apply, empty_store, settle

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.runs.ledger import LedgerWindow
from lineage_bridge.model.analysis import GraphTable
from lineage_bridge.model.differences import Between
from lineage_bridge.model.events import EventFilter
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import AliasFilter
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.model.runs import RunFilter
from lineage_bridge.model.search import SearchFilter
from lineage_bridge.model.statistics import StatisticsFilter
from lineage_bridge.store.dialect import SQLITE, Dialect, FullText
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

SOURCES = Path(__file__).parents[2] / "src" / "lineage_bridge" / "store"
ONLY_SQLITE = re.compile(r"\bINSERT OR\b|\bREPLACE INTO\b|\bPRAGMA\b|\browid\b|\bCROSS JOIN\b|\bMATCH\b|\bsqlite_master\b|\?\d|\btemp\.")
SPEAKS_SQLITE = {
    "damage.py",
    "dialect.py",
    "migration.py",
    "schema/sqlite.py",
    "schema/tables.py",
    "state/database.py",
    "state/keys.py",
    "tables_hash.py",
}
"""Files about SQLite itself: the dialect, files and connections, damage, migrations and what they made."""
FUNCTIONS = {"STRPOS", "GLOB_PATTERN", "FULL_TEXT_MATCHES", "FULL_TEXT_RANK"}
"""What PostgreSQL has, or its schema would, and the parser does not know."""
NOW, DAY = T0 + DAY_US, LedgerWindow(T0, T0 + DAY_US)
LIMITS = WalkLimits()


class Recording:
    """SQLite's dialect, which remembers the statements that it rendered."""

    full_text: FullText = SQLITE.full_text

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def render(self, sql: str) -> str:
        self.seen.add(sql)
        return SQLITE.render(sql)


def ask(reader: StoreReader, kind: NodeKind, node: Node) -> None:
    """Every question about a node."""
    for at_us in (None, T0):
        reader.lineage.walk(node, "both", 3, LIMITS, now_us=NOW, at_us=at_us, columns=True)
        reader.lineage.impact(node, "downstream", 3, LIMITS, at_us)
        reader.history.facet(node, "ownership", at_us)
        if kind is NodeKind.DATASET:
            reader.lineage.trace(node, TraceOptions("id", "upstream", 3), LIMITS, at_us)
            reader.history.schemas(node, at_us)
        else:
            reader.lineage.job_ports(node, now_us=NOW, at_us=at_us)
    reader.nodes.near(kind, node.namespace, node.name)
    reader.nodes.by_spelling(kind, node.namespace, node.name)
    reader.nodes.facets(node)
    reader.inventory.described([node])
    reader.history.diff(node, "both", 2, LIMITS, Between(T0, NOW), now_us=NOW)
    reader.history.lifecycle(node, 10, 0)
    reader.events.page(EventFilter(job=node.name))
    reader.runs.page(RunFilter(job=node.id))
    reader.runs.latest(node, with_datasets=True)


def ask_all(reader: StoreReader) -> None:
    """Every question to the store."""
    reader.progress.position()
    reader.progress.settling()
    for kind in (NodeKind.DATASET, NodeKind.JOB):
        reader.nodes.count(kind)
        for node in reader.nodes.matching(kind, "*", "*", None, 0):
            ask(reader, kind, node)
    reader.nodes.aliases(AliasFilter())
    for text in ("a", "orders and more", "id"):
        reader.search.by_name(text, None, 10, 0)
        reader.search.page(SearchFilter(text, owner="team"))
    for run in RUNS:
        key = bytes.fromhex(run.replace("-", ""))
        for record in reader.runs.find(run):
            reader.runs.tree(key, 10)
            reader.runs.dependencies(key, record.job, 10)
            reader.runs.lineage(key, "upstream", 3, 10)
            reader.runs.page(RunFilter(parent=key))
        reader.events.of_run(run)
    reader.runs.statistics(StatisticsFilter(T0, NOW))
    reader.events.page(EventFilter())
    reader.events.quarantine(None, 10, 0)
    reader.events.quarantine_counts()
    reader.history.changes(None, (), 100)
    reader.history.diff_jobs("*", Between(T0, NOW), 10, 0, now_us=NOW)
    reader.history.drift(None, None, 10, 0, now_us=NOW)
    for portion, heads in reader.inventory.heads((NodeKind.DATASET, NodeKind.JOB)):
        portion.inventory.ports(heads, now_us=NOW)
        for entry in portion.inventory.entries(heads):
            portion.inventory.by_node_id(entry.node_id.id)
    list(reader.inventory.quiet())
    list(reader.inventory.direct(now_us=NOW))
    reader.inventory.unnamed_ports(now_us=NOW)
    list(reader.whole.lines(frozenset(), now_us=NOW))
    list(reader.whole.differences(NAMES))
    for table in GraphTable:
        list(reader.whole.tables().rows(table))
    with reader.whole.refolded(NAMES, T0, frozenset()):
        pass


@pytest.fixture(scope="module")
def statements(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """All statements that writing some corpora, and every question about them, take."""
    recording = Recording()
    for seed in range(8):
        path = tmp_path_factory.mktemp("dialect") / "graph.db"
        path.write_bytes(empty_store())
        with closing(GraphWriter(path, NAMES, stitch=seed % 2 == 0, dialect=recording)) as writer:
            traced = [("ns", "a", "id")]
            apply(
                writer,
                records_of(
                    [run_event(inputs=[dataset("a", schema=schema("id"))], outputs=[dataset("b", columnLineage=columns(id=traced))])]
                ),
            )
            apply(writer, small_world(seed), budget=1 if seed % 3 else 10_000)
            settle(writer)
            ask_all(reader_of(writer))
            apply(writer, [stored_record(erase(*RUNS[:2]), offset=9_999, kind=RecordKind.OPERATOR)])
            settle(writer)
    return sorted(recording.seen)


def problems(sql: str, dialect: Dialect) -> Iterator[str]:
    """What PostgreSQL would not understand."""
    rendered = dialect.render(sql)
    if found := ONLY_SQLITE.search(rendered):
        yield f"{found[0]} is SQLite's"
    for tree in sqlglot.parse(rendered, dialect="postgres", error_level=sqlglot.ErrorLevel.RAISE):
        assert tree is not None
        if isinstance(tree, exp.Command):
            yield "not parsed"
        for call in tree.find_all(exp.Min, exp.Max):
            if call.expressions:
                yield f"{call.sql()} has more than one argument"
        for unknown in tree.find_all(exp.Anonymous):
            if unknown.name.upper() not in FUNCTIONS:
                yield f"unknown function {unknown.name}"
        for insert in tree.find_all(exp.Insert):
            if insert.args.get("alternative"):
                yield "INSERT OR"


def test_all_statements_are_understood_by_another_database(statements: list[str]) -> None:
    postgres = Postgres()
    portable = [sql for sql in statements if "node_search" not in sql]
    assert len(portable) > 200
    assert {sql: found for sql in portable if (found := list(problems(sql, postgres)))} == {}


@pytest.mark.parametrize("index", ["node_search", "node_search_text"])
def test_statements_of_full_text_search_are_the_dialects_own(index: str) -> None:
    text = Postgres.full_text
    key, matches = text.matching(index, ":query")
    found = f"SELECT n.id FROM {index} JOIN node n ON n.id = {index}.{key} WHERE {matches} ORDER BY {text.rank(index)} LIMIT :limit"
    for sql in (found, text.add(index, ("namespace", "name")), text.remove(index, ("namespace", "name")), text.keys(index)):
        assert list(problems(sql, Postgres())) == []


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("INSERT OR IGNORE INTO t VALUES (?)", "INSERT OR is SQLite's"),
        ("SELECT max(a, b) FROM t", "MAX(a, b) has more than one argument"),
        ("SELECT a FROM t CROSS JOIN u ON u.a = t.a", "CROSS JOIN is SQLite's"),
        ("SELECT unixepoch()", "unknown function UNIXEPOCH"),
    ],
)
def test_functions_of_one_database_are_found(sql: str, problem: str) -> None:
    assert problem.lower() in [found.lower() for found in problems(sql, Postgres())]


def test_no_other_file_has_what_one_database_alone_knows() -> None:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        if "migrations" not in path.parts and name not in SPEAKS_SQLITE and (match := ONLY_SQLITE.search(path.read_text())):
            found[name] = match[0]
    assert found == {}


@pytest.mark.parametrize(
    ("portable", "sqlite"),
    [
        ("SET a = LEAST(t.a, excluded.a)", "SET a = min(t.a, excluded.a)"),
        ("SET a = GREATEST(t.a, excluded.a)", "SET a = max(t.a, excluded.a)"),
        ("FROM a STRAIGHT_JOIN b ON b.x = a.x", "FROM a CROSS JOIN b ON b.x = a.x"),
        ("SELECT min(a), 'LEASTWISE' FROM t", "SELECT min(a), 'LEASTWISE' FROM t"),
    ],
)
def test_portable_functions_are_sqlites(portable: str, sqlite: str) -> None:
    assert SQLITE.render(portable) == sqlite
