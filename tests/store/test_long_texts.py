"""Texts far longer than an entry of PostgreSQL's indexes, in every place of an event: both databases hold and find the same."""

import string
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.events import T0, columns, dataset, facet, records_of, run_event, schema
from tests.store.reading import exported, reader_of
from tests.store.server.postgresql import GraphDatabase
from tests.store.tables import tables_of
from tests.store.writing import NAMES, apply, settle

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.history import AliasFilter
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.store.postgresql.long_texts import indexed, with_conflict_keys
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.write.apply import GraphWriter


def long(seed: int, size: int = 4_000) -> str:
    """A text that does not compress, which an index would do otherwise."""
    return "".join(Random(seed).choices(string.ascii_letters + string.digits + "äöü€", k=size))


SPACE, SOURCE, TARGET, FIELD, JOB, RUN = (long(seed) for seed in range(6))
TWIN = f"{SOURCE[:-1]}!"
"""A name that differs from another one in its last character."""


def records() -> list[StoredRecord]:
    taken = columns(**{FIELD: [(SPACE, SOURCE, FIELD), (SPACE, TWIN, FIELD)]})
    links = facet(identifiers=[{"namespace": SPACE, "name": long(7), "type": long(8)}])
    sources = [dataset(name, SPACE, schema=schema(FIELD), symlinks=links) for name in (SOURCE, TWIN)]
    facets: dict[str, Any] = {"columnLineage": taken, long(9, 3_000): facet(text="a")}
    made = dataset(TARGET, SPACE, **facets)
    events = [run_event(run=run, job=JOB, inputs=sources, outputs=[made]) for run in (RUN, f"{RUN[:-1]}!")]
    return records_of([*events, run_event(job="short", inputs=[dataset(TARGET, SPACE)], outputs=[dataset("short")])])


@pytest.mark.servers
def test_both_databases_hold_and_find_long_texts(graph_database: GraphDatabase, tmp_path: Path) -> None:
    held, limits = [], WalkLimits()
    for place in (tmp_path / "graph.db", graph_database.emptied()):
        with closing(GraphWriter(place, NAMES)) as writer:
            for _ in range(2):
                apply(writer, records())
            settle(writer)
            reader = reader_of(writer)
            nodes = [reader.nodes.find(NodeKind.DATASET, SPACE, name) for name in (SOURCE, TWIN, TARGET)]
            assert all(nodes)
            assert [node.name for node in nodes if node] == [SOURCE, TWIN, TARGET]
            assert nodes[2] is not None
            found = (
                reader.lineage.walk(nodes[2], "both", 3, limits, now_us=T0, at_us=None, columns=True),
                reader.lineage.trace(nodes[2], TraceOptions(FIELD, "upstream", 3), limits, None),
                reader.nodes.namespaces(),
                reader.nodes.has_namespace(NodeKind.DATASET, SPACE),
                reader.runs.find(RUN),
                reader.nodes.aliases(AliasFilter()),
                reader.search.by_name(TARGET[5:40], None, 10, 0),
                exported(writer),
            )
            assert SPACE in found[2]
            assert found[3]
            assert found[4]
            assert [node.name for node in found[6]] == [TARGET]
            assert [difference for difference in reader.whole.differences(NAMES) if difference.surplus or difference.missing] == []
            held.append((found, tables_of(writer)))
    assert held[0] == held[1]


@pytest.mark.servers
def test_a_text_is_never_taken_for_the_key_of_a_longer_one(graph_database: GraphDatabase) -> None:
    with closing(graph_database.emptied()) as connection:
        (key,) = connection.execute("SELECT key_text(CAST(? AS TEXT))", (SOURCE,)).fetchone()
        for text in (key, key[:200], key.rstrip()):
            assert connection.execute("SELECT key_text(CAST(? AS TEXT)) <> ?", (text, key)).fetchone() == (True,)
        short = "ä" * 100
        assert connection.execute("SELECT key_text(CAST(? AS TEXT))", (short,)).fetchone() == (short,)


def test_a_key_with_texts_is_named_as_its_index_has_it() -> None:
    assert with_conflict_keys('INSERT INTO "facet_set" ("key") VALUES (?) ON CONFLICT ("facet_set", "key") DO NOTHING') == (
        'INSERT INTO "facet_set" ("key") VALUES (?) ON CONFLICT ("facet_set", key_text("key")) DO NOTHING'
    )
    plain = "INSERT INTO flow VALUES (?) ON CONFLICT (source, target) DO NOTHING"
    assert with_conflict_keys(plain) == plain
    assert indexed('a, "b", c', {"b", "c"}) == 'a, key_text("b"), key_text(c)'


@pytest.mark.servers
def test_nodes_are_looked_up_by_an_index(graph_database: GraphDatabase) -> None:
    with closing(graph_database.emptied()) as connection:
        connection.execute("BEGIN")
        connection.execute("SET LOCAL enable_seqscan = off")
        sql = "EXPLAIN SELECT id FROM node WHERE namespace = ? AND name = ? AND kind = ?"
        plan = "\n".join(row[0] for row in connection.execute(sql, ("a", "b", 1)))
        connection.execute("ROLLBACK")
    assert "node_by_name" in plan
    assert "Index Cond: (((CASE" in plan


@pytest.mark.servers
def test_lists_of_nodes_are_read_in_the_order_of_an_index(graph_database: GraphDatabase) -> None:
    random = Random(7)
    starts = ["", "a", "a\x01", "a\x01\x01", "a\x02", "a" * 249, "a" * 250, "a" * 251, "\U0010ffff" * 250, "ä" * 260, "b" * 300]
    texts = [start + end for start in starts for end in ("", "\x01", "\x02", "\x03", "a", "\U0010ffff")]
    pairs = [(space, random.choice(texts)) for space in texts for _ in range(9)]
    with closing(graph_database.emptied()) as connection:
        connection.executemany(
            "INSERT INTO node (id, kind, namespace, name, first) VALUES (?, 1, ?, ?, 0)",
            [(number, *pair) for number, pair in enumerate(sorted(set(pairs), key=lambda pair: pair[::-1]))],
        )
        nodes = Nodes(connection).matching(NodeKind.DATASET, None, None, None, 0)
        assert [(node.namespace, node.name) for node in nodes] == sorted(set(pairs))
        connection.execute("BEGIN")
        connection.execute("SET LOCAL enable_seqscan = off")
        sql = "EXPLAIN SELECT id FROM node WHERE kind = ? ORDER BY namespace, name LIMIT 10"
        plan = "\n".join(row[0] for row in connection.execute(sql, (1,)))
        connection.execute("ROLLBACK")
    assert "Index Scan using node_in_order" in plan
