"""The control store: one key for good, whoever opens it first, and the editions of the demo."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from lineage_bridge.errors import StoreVersionError
from lineage_bridge.store.state.database import MIGRATIONS, Control


def test_the_key_is_made_once(tmp_path):
    path = tmp_path / "new" / "control.db"
    first = Control(path, lambda size: b"a" * size).key()
    assert first == b"a" * 32
    assert Control(path, lambda size: b"b" * size).key() == first


def test_many_that_open_it_at_once_get_one_key(tmp_path):
    path = tmp_path / "control.db"
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: Control(path).key(), range(64)))
    assert len(keys) == 1
    assert len(keys.pop()) == 32


def test_editions_are_kept_until_they_are_dropped(tmp_path):
    control = Control(tmp_path / "control.db")
    for edition in ("b", "a", "b", "c"):
        control.add_edition(edition)
    control.drop_editions(["c", "nobody"])
    assert Control(tmp_path / "control.db").editions() == ["a", "b"]


def test_a_file_of_a_later_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "control.db"
    key = Control(path).key()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreVersionError, match="version"):
        Control(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT key FROM installation").fetchone()[0] == key
    connection.close()


def test_a_file_of_an_earlier_version_is_brought_up_and_keeps_its_key(tmp_path):
    path = tmp_path / "control.db"
    with sqlite3.connect(path) as connection:
        connection.execute(MIGRATIONS[0])
        connection.execute("INSERT INTO installation VALUES (1, ?)", (b"k" * 32,))
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    control = Control(path)
    control.add_edition("a")
    assert (control.key(), control.editions()) == (b"k" * 32, ["a"])
