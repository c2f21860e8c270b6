"""A store computed again takes the place of the one in use in one transaction; a process killed on the way leaves the old one."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.events import T0, dataset, records_of, run_event
from tests.store.tables import execute, tables_in, tables_of
from tests.store.writing import NAMES, apply, empty_store

from lineage_bridge.errors import GoneError, StoreError
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.store.migration import migrate
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter

KILLED = """
import os, signal, sys
from pathlib import Path
from tests.store.writing import NAMES
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter

rebuild.PAGES, calls = 3, int(sys.argv[3])

def on_progress(left, total):
    global calls
    calls -= 1
    if calls == 0:
        os.kill(os.getpid(), signal.SIGKILL)

fresh = GraphWriter(Path(sys.argv[2]), NAMES, feed=False)
rebuild.put_in_place(fresh, Path(sys.argv[1]), on_progress)
print("in place")
"""


def store(path: Path, names: list[str]) -> GraphWriter:
    path.write_bytes(empty_store())
    writer = GraphWriter(path, NAMES)
    apply(writer, records_of([run_event(job=name, time_us=T0 + n, outputs=[dataset(name)]) for n, name in enumerate(names)]))
    return writer


def fresh_store(path: Path, names: list[str]) -> GraphWriter:
    fresh = rebuild.open_fresh(path, NAMES)
    apply(fresh, records_of([run_event(job=name, time_us=T0 + n, outputs=[dataset(name)]) for n, name in enumerate(names)]))
    return fresh


def test_readers_go_on_and_then_see_the_new_store_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    store(path, ["old", "both"]).close()
    pool = ReaderPool(path)
    with pool.reader() as reader:
        early = reader.history.changes("now", (), 1).following
    with pool.reader() as during, closing(fresh_store(tmp_path / "fresh.db", ["both", "new"])) as fresh:
        before_swap = [node.name for node in during.search.by_name("old", None, 9, 0)]
        rebuild.seal(fresh, path)
        rebuild.put_in_place(fresh, path, lambda *_: None)
        assert [node.name for node in during.search.by_name("old", None, 9, 0)] == before_swap != []
        with pool.reader() as later:
            assert later.search.by_name("old", None, 9, 0) == []
            assert later.search.by_name("new", None, 9, 0)
            with pytest.raises(GoneError):
                later.history.changes(early, (), 1)
            assert later.history.changes(later.history.changes("now", (), 1).following, (), 1).changes == ()
    pool.close()
    with closing(GraphWriter(path, NAMES)) as writer, closing(fresh_store(tmp_path / "again.db", ["both", "new"])) as again:
        assert tables_of(writer) == tables_of(again)
        assert execute(writer, "PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("calls", [1, 2, 5, 11])
def test_a_process_killed_while_it_puts_a_store_in_place_leaves_the_old_one(tmp_path: Path, calls: int) -> None:
    path, again = tmp_path / "graph.db", tmp_path / "fresh.db"
    with closing(store(path, ["old"])) as old:
        before = tables_of(old)
    with closing(fresh_store(again, [f"new{n}" for n in range(30)])) as fresh:
        after = tables_of(fresh)
    command = [sys.executable, "-c", KILLED, str(path), str(again)]
    done = subprocess.run(
        [*command, str(calls)], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3], env=os.environ
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert tables_in(path) == before
    done = subprocess.run([*command, "-1"], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3], env=os.environ)
    assert done.stdout == "in place\n", done.stderr
    assert tables_in(path) == after


def test_counts_are_compared_by_relation(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    with closing(store(path, ["a", "b"])), closing(fresh_store(tmp_path / "fresh.db", ["a"])) as fresh:
        counted = {row.relation: (row.before, row.after) for row in rebuild.compare(path, fresh)}
        assert counted.keys() == BY_NAME.keys()
        assert counted["event"] == (2, 1)


def test_a_log_that_holds_less_does_not_replace_the_store(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    with closing(store(path, ["a", "b"])) as used, closing(fresh_store(tmp_path / "fresh.db", ["a"])) as fresh:
        with pytest.raises(StoreError, match="part of the log is missing") as refused:
            rebuild.refuse_loss(path, fresh, rebuild.compare(path, fresh))
        assert "--anyway" in refused.value.hint
        apply(fresh, records_of([run_event(job="b", time_us=T0 + 1, outputs=[dataset("b")])]))
        rebuild.refuse_loss(path, fresh, rebuild.compare(path, fresh))
        execute(used, 'UPDATE position SET "offset" = 1000')
        with pytest.raises(StoreError, match="part of the log is missing"):
            rebuild.refuse_loss(path, fresh, rebuild.compare(path, fresh))
        rebuild.seal(fresh, path)
        assert fresh.position("log") == {0: 1000}


def test_a_store_of_an_older_schema_is_no_measure_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    migrate(path, GRAPH, "0001")
    with closing(fresh_store(tmp_path / "fresh.db", ["a"])) as fresh:
        counted = rebuild.compare(path, fresh)
        assert {row.before for row in counted} == {0}
        rebuild.refuse_loss(path, fresh, counted)
        rebuild.seal(fresh, path)
        rebuild.put_in_place(fresh, path, lambda *_: None)
    with closing(GraphWriter(path, NAMES)) as writer:
        assert execute(writer, "SELECT count(*) FROM event").fetchone() == (1,)


def test_what_an_earlier_attempt_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "fresh.db").write_bytes(b"half a store")
    (tmp_path / "fresh.db-wal").write_bytes(b"and its log")
    with closing(fresh_store(tmp_path / "fresh.db", ["a"])) as fresh:
        rebuild.seal(fresh)
        rebuild.publish(fresh, tmp_path / "fresh.db", tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir()] == ["copy.db"]
    pool = ReaderPool(tmp_path / "copy.db")
    with pool.reader() as reader:
        assert reader.search.by_name("a", None, 9, 0)
    pool.close()
