"""Statements are written once, in portable SQL: all that the store runs is run on SQLite and on PostgreSQL, and gives the same."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.events import RUNS, T0, columns, dataset, erase, records_of, run_event, schema, stored_record
from tests.ports import HOST, free_ports
from tests.quirks.small_world import small_world
from tests.store.reading import exported, reader_of
from tests.store.server.postgresql import GraphDatabase
from tests.store.tables import tables_of
from tests.store.writing import NAMES, apply, settle

from lineage_bridge.errors import StoreError, StoreVersionError
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.runs.path_ledger import LedgerWindow
from lineage_bridge.model.analysis import GraphTable
from lineage_bridge.model.differences import Between
from lineage_bridge.model.events import EventFilter
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import AliasFilter
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.model.runs import RunFilter
from lineage_bridge.model.search import SearchFilter
from lineage_bridge.model.statistics import StatisticsFilter
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import SQLITE
from lineage_bridge.store.postgresql.connection import connect_writer
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.schema.sqlite import GRAPH
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
NOW, DAY = T0 + DAY_US, LedgerWindow(T0, T0 + DAY_US)
LIMITS = WalkLimits()


def ask(reader: StoreReader, kind: NodeKind, node: Node) -> None:
    """Every question about a node."""
    for at_us in (None, T0):
        reader.lineage.walk(node, "both", 3, LIMITS, now_us=NOW, at_us=at_us, columns=True)
        reader.lineage.impact([node], "downstream", 3, LIMITS, at_us)
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
    reader.events.page(EventFilter(job=node.name, datasets=frozenset({node.id})))
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


def put_and_ask(writer: GraphWriter, seed: int) -> list[bytes]:
    """Write a corpus, ask every question about it, and erase some of it. Returns what was exported before."""
    traced = [("ns", "a", "id")]
    event = run_event(inputs=[dataset("a", schema=schema("id"))], outputs=[dataset("b", columnLineage=columns(id=traced))])
    apply(writer, records_of([event]))
    apply(writer, small_world(seed), budget=1 if seed % 3 else 10_000)
    settle(writer)
    ask_all(reader_of(writer))
    lines = exported(writer)
    apply(writer, [stored_record(erase(*RUNS[:2]), offset=9_999, kind=RecordKind.OPERATOR)])
    settle(writer)
    return lines


@pytest.mark.servers
@pytest.mark.parametrize("seed", range(4))
def test_both_databases_understand_all_statements_and_hold_the_same(graph_database: GraphDatabase, tmp_path: Path, seed: int) -> None:
    held = []
    for place in (tmp_path / "graph.db", graph_database.emptied()):
        with closing(GraphWriter(place, NAMES, stitch=seed % 2 == 0)) as writer:
            held.append((put_and_ask(writer, seed), tables_of(writer)))
    assert held[0] == held[1]
    assert held[0][0]


TEXTS = (
    *("", "a", "b", "abc", "aXc", "a.c", "a*c", "a?c", "[a]", "a]", "^", "-", "z", "a-", "\\", "a\nc", "é", "{2}", "(a|b)", "$", "+"),
    "A",
)
GLOBS = (
    *(
        "*",
        "?",
        "",
        "a*",
        "*c",
        "a?c",
        "a.c",
        "[abc]",
        "[a-c]",
        "[^a-c]",
        "[]]",
        "[^]]",
        "a[]]",
        "[z-a]",
        "[a-]",
        "[a-c-z]",
        "[a",
        "[[]a[]]",
    ),
    *("[*]", "a[?*.]c", "\\", "[\\]", "[^^]", "[-a]", "é", "[à-é]", "{2}", "(a|b)", "$", "+", "[[:alpha:]]", "^", "[^]", "[]", "a]"),
)


@pytest.mark.servers
def test_globs_match_the_same_in_both_databases(graph_database: GraphDatabase) -> None:
    texts = ", ".join("(CAST(? AS TEXT))" for _ in TEXTS)
    sql = f"SELECT text FROM (SELECT column1 AS text FROM (VALUES {texts}) v) t WHERE text GLOB ? ORDER BY text"
    with closing(StoreConnection(sqlite3.connect(":memory:"))) as sqlite, closing(graph_database.emptied()) as postgresql:
        found = [{glob: set(connection.execute(sql, (*TEXTS, glob))) for glob in GLOBS} for connection in (sqlite, postgresql)]
    assert found[0] == found[1]
    assert sum(map(len, found[0].values())) > len(GLOBS)


@pytest.mark.servers
def test_a_server_that_does_not_answer_is_named() -> None:
    (port,) = free_ports(1)
    with pytest.raises(StoreError, match="cannot be reached"):
        connect_writer(f"postgresql://postgres@{HOST}:{port}/shop")


@pytest.mark.servers
def test_tables_of_another_version_are_left_alone(graph_database: GraphDatabase) -> None:
    with closing(graph_database.emptied()) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        try:
            with pytest.raises(StoreVersionError, match="9999"):
                connect_writer(graph_database.url)
        finally:
            connection.execute("UPDATE alembic_version SET version_num = ?", (GRAPH.version,))


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


FROM_SUBQUERY = re.compile(r"\b(?:FROM|JOIN)\s*\((?=\s*SELECT\b)")
NO_NAME = re.compile(r"\s*(?:(?:WHERE|ORDER|LIMIT|GROUP|UNION|ON|JOIN|STRAIGHT_JOIN|LEFT|EXCEPT)\b|\)|\"|,|;|$)")


def unnamed(text: str) -> list[str]:
    """What follows each subquery that is read like a table and has no name."""
    found = []
    for start in FROM_SUBQUERY.finditer(text):
        end, depth = start.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if NO_NAME.match(text[end:]):
            found.append(text[end : end + 40])
    return found


def test_every_subquery_has_a_name_because_postgresql_15_needs_one() -> None:
    assert unnamed("SELECT a FROM (SELECT max(b) FROM (SELECT b FROM t) u) WHERE a > 1") == [" WHERE a > 1"]
    found = {path.name: names for path in SOURCES.rglob("*.py") if (names := unnamed(path.read_text()))}
    assert found == {}
