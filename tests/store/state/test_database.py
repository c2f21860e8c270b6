"""The state database: one key for good, whoever opens it first; files of earlier versions keep their content."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from lineage_bridge.errors import StoreDamagedError, StoreVersionError
from lineage_bridge.store.migration import version
from lineage_bridge.store.state.database import EARLIER_NAME, RESTORE, STATE, StateDatabase, copy_of
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.tasks import TaskRepository

EARLIER = Path(__file__).with_name("earlier.sql").read_text()
ENDS_OF_EARLIER = [EARLIER.index(f"CREATE TABLE {table}") for table in ("source (", "source_parcel", "task")]
"""Where the text ends of files that have fewer tables."""


def write_earlier(folder: Path, sql: str = EARLIER, journal: str = "DELETE") -> Path:
    """A file of an earlier version. In the journal mode WAL, all of its content lies beside it."""
    path = folder / EARLIER_NAME
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.executescript(sql)
        if journal == "WAL":
            leave_beside(connection, path)
    return path


def leave_beside(connection: sqlite3.Connection, path: Path) -> None:
    """Keep the write-ahead log as a process that was killed leaves it, although closing the connection removes it."""
    beside = path.with_name(f"{path.name}-wal")
    content, kept = path.read_bytes(), beside.read_bytes()
    connection.close()
    path.write_bytes(content)
    beside.write_bytes(kept)


def assert_carried_over(state: StateDatabase) -> None:
    assert (state.key(), state.editions()) == (b"k" * 32, ["2026-11-18"])
    sources = SourceRepository(state)
    assert sources.added() == {"lab": ("kafka", {"bootstrap_servers": "localhost:9092"})}
    assert (sources.states()["lab"].polls, sources.snapshot("lab")) == (2, b'{"topics": ["orders"]}')
    assert [(message.number, message.body) for message in sources.pending_messages(10)] == [(2, b'{"second": 2}'), (3, b'{"third": 3}')]
    assert TaskRepository(state).newest_message("lab") == 3
    task = TaskRepository(state).record("a-task")
    assert task is not None
    assert task.source == "lab"


def test_a_lost_file_is_not_made_anew_while_there_is_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = StateDatabase(path, lambda size: b"a" * size)
    assert state.copy_to(copy_of(path))
    path.unlink()
    with pytest.raises(StoreDamagedError, match="is missing, but its last copy") as error:
        StateDatabase(path)
    assert RESTORE in error.value.hint
    assert not path.exists()
    copy_of(path).rename(path)
    assert StateDatabase(path).key() == b"a" * 32


def test_the_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.db"
    first = StateDatabase(path, lambda size: b"a" * size).key()
    assert first == b"a" * 32
    assert StateDatabase(path, lambda size: b"b" * size).key() == first


def test_many_that_open_it_at_once_get_one_key(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: StateDatabase(path).key(), range(64)))
    assert len(keys) == 1
    assert len(keys.pop()) == 32


def test_editions_are_kept_until_they_are_dropped(tmp_path: Path) -> None:
    state = StateDatabase(tmp_path / "state.db")
    for edition in ("b", "a", "b", "c"):
        state.add_edition(edition)
    state.drop_editions(["c", "nobody"])
    assert StateDatabase(tmp_path / "state.db").editions() == ["a", "b"]


def test_a_file_of_a_later_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    key = StateDatabase(path).key()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreVersionError, match="9999"):
        StateDatabase(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT key FROM installation").fetchone()[0] == key


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_file_of_an_earlier_version_gets_its_new_name_and_keeps_its_content(tmp_path: Path, journal: str) -> None:
    write_earlier(tmp_path, journal=journal)
    assert_carried_over(StateDatabase(tmp_path / "state.db"))
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]
    assert_carried_over(StateDatabase(tmp_path / "state.db"))


def test_many_that_carry_a_file_over_at_once_all_see_its_content(tmp_path: Path) -> None:
    write_earlier(tmp_path, journal="WAL")
    with ThreadPoolExecutor(8) as threads:
        for state in threads.map(lambda _: StateDatabase(tmp_path / "state.db"), range(16)):
            assert_carried_over(state)


def test_a_file_that_was_renamed_but_not_yet_migrated_is_migrated(tmp_path: Path) -> None:
    write_earlier(tmp_path).rename(tmp_path / "state.db")
    assert version(tmp_path / "state.db") is None
    assert_carried_over(StateDatabase(tmp_path / "state.db"))


def test_an_earlier_file_beside_a_new_one_is_left_alone(tmp_path: Path) -> None:
    key = StateDatabase(tmp_path / "state.db").key()
    content = write_earlier(tmp_path).read_bytes()
    assert StateDatabase(tmp_path / "state.db").key() == key
    assert (tmp_path / EARLIER_NAME).read_bytes() == content


@pytest.mark.parametrize("end", ENDS_OF_EARLIER)
def test_a_file_with_fewer_tables_gets_the_others_and_keeps_its_key(tmp_path: Path, end: int) -> None:
    write_earlier(tmp_path, EARLIER[:end] + "COMMIT;")
    state = StateDatabase(tmp_path / "state.db")
    state.add_edition("later")
    assert state.key() == b"k" * 32
    assert state.editions()[-1] == "later"
    assert tables_of(tmp_path / "state.db") == tables_of(new(tmp_path / "fresh"))


def new(path: Path) -> Path:
    return StateDatabase(path / "state.db").path


def tables_of(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Table to its columns and their types."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == STATE.version
        look = inspect(connection)
        found = {name: sorted((c["name"], str(c["type"])) for c in look.get_columns(name)) for name in look.get_table_names()}
    engine.dispose()
    return found
