"""Readers: each sees one moment of a store."""

import gc
import sqlite3
import weakref
from pathlib import Path

import pytest
from tests.events import KEY, RUNS, T0, dataset, run_event
from tests.store.reading import listening_reader_of
from tests.store.writing import add

from lineage_bridge.errors import NotFoundError, StoreError, StoreMissingError, StoreVersionError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.schema.sqlite import connect_reader
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def test_a_reader_asks_once_how_far_the_store_is(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset("a")]))
    reader, statements = listening_reader_of(writer)
    first = reader.progress.position(), reader.progress.settling()
    assert len(statements) == 2
    assert (reader.progress.position(), reader.progress.settling()) == first
    assert len(statements) == 2


def test_a_reader_sees_one_moment(tmp_path: Path) -> None:
    writer = GraphWriter(tmp_path / "graph.db", NAMES)
    add(writer, run_event(inputs=[dataset("a")]))
    pool = ReaderPool(tmp_path / "graph.db")
    with pool.reader() as before:
        assert before.nodes.count(NodeKind.DATASET) == 1
        add(writer, run_event(inputs=[dataset("b")]))
        assert before.nodes.count(NodeKind.DATASET) == 1
    with pool.reader() as after:
        assert after.nodes.count(NodeKind.DATASET) == 2
    pool.close()
    writer.close()


def test_a_missing_or_newer_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError), ReaderPool(tmp_path / "no.db").reader():
        pass
    connection = sqlite3.connect(tmp_path / "newer.db")
    connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
    connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    connection.commit()
    connection.close()
    with pytest.raises(StoreVersionError):
        connect_reader(tmp_path / "newer.db")
    with pytest.raises(StoreVersionError):
        GraphWriter(tmp_path / "newer.db", NAMES)


def test_a_reader_is_used_again_until_the_store_changes(tmp_path: Path) -> None:
    writer = GraphWriter(tmp_path / "graph.db", NAMES)
    add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    pool = ReaderPool(tmp_path / "graph.db")
    with pool.reader() as first:
        node = first.nodes.find(NodeKind.DATASET, "ns", "a")
        assert node
        assert len(first.lineage.walk(node, "both", 5, WalkLimits(), now_us=T0).edges) == 1
    with pool.reader() as again:
        assert again is first
    add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("c")], run=RUNS[1]))
    with pool.reader() as fresh:
        assert fresh is not first
        assert len(fresh.lineage.walk(node, "both", 5, WalkLimits(), now_us=T0).edges) == 2
    pool.close()
    writer.close()


@pytest.mark.parametrize(
    ("error", "is_kept"), [(NotFoundError("no such dataset"), True), (StoreError("broken"), False), (KeyError("x"), False)]
)
def test_a_connection_outlives_an_answer_that_is_an_error(tmp_path: Path, error: Exception, *, is_kept: bool) -> None:
    writer = GraphWriter(tmp_path / "graph.db", NAMES)
    add(writer, run_event(inputs=[dataset("a")]))
    pool = ReaderPool(tmp_path / "graph.db")
    asked = []

    def ask() -> None:
        with pool.reader() as reader:
            asked.append((reader, reader._connection))
            assert reader.nodes.find(NodeKind.DATASET, "ns", "a")
            raise error

    with pytest.raises(type(error)):
        ask()
    ((first, connection),) = asked
    add(writer, run_event(inputs=[dataset("b")], run=RUNS[1]))
    with pool.reader() as second:
        assert (second._connection is connection) == is_kept
        assert second is not first
        assert second.nodes.find(NodeKind.DATASET, "ns", "b"), "it does not see an earlier moment"
    pool.close()
    writer.close()


def test_a_reader_that_has_loaded_much_is_not_used_again(tmp_path: Path) -> None:
    writer = GraphWriter(tmp_path / "graph.db", NAMES)
    add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    pool = ReaderPool(tmp_path / "graph.db", remembered=1)
    with pool.reader() as first:
        nodes = first.nodes.matching(NodeKind.DATASET, None, None, None, 0)
        first.nodes.load(node.id for node in nodes)
        assert len(first.lineage.walk(nodes[0], "both", 5, WalkLimits(), now_us=T0).edges) == 1
        assert first.lineage.trace(nodes[0], TraceOptions("", "upstream"), WalkLimits()).nodes
        assert first.inventory.described(nodes)
    loaded, remembered = weakref.ref(first), weakref.ref(first.nodes)
    gc.disable()
    del first
    is_gone = loaded() is None and remembered() is None
    gc.enable()
    assert is_gone, "it is freed at once, without a search for cycles"
    pool.close()
    writer.close()


def test_a_question_that_outlasts_its_store_leaves_no_connection_to_it(tmp_path: Path) -> None:
    path, fresh = tmp_path / "graph.db", tmp_path / "fresh.db"
    for file, names in ((path, "a"), (fresh, "bc")):
        writer = GraphWriter(file, NAMES)
        for name in names:
            add(writer, run_event(inputs=[dataset(name)]))
        writer.close()
    pool = ReaderPool(path)
    with pool.reader() as old:
        fresh.replace(path)
        with pool.reader() as new:
            assert (old.nodes.count(NodeKind.DATASET), new.nodes.count(NodeKind.DATASET)) == (1, 2)
    for _ in range(2):
        with pool.reader() as later:
            assert later.nodes.count(NodeKind.DATASET) == 2
    pool.close()
