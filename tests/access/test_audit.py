"""The audit trail: a chain in which nothing can be changed, removed or inserted unnoticed, over a real state database."""

import hashlib
import random
import secrets
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from lineage_bridge.access.audit import MOST_CHARACTERS, HashChain, as_json, faults, format_head, parse_head
from lineage_bridge.errors import RequestError
from lineage_bridge.model.audit import NO_ENTRIES, AuditHead, Change
from lineage_bridge.store.state.audit import AuditRepository
from lineage_bridge.store.state.database import StateDatabase

CHANGES = [
    Change("ada", "10.0.0.7", "POST /api/v1/sources", "orders", '{"kind":"kafka"}'),
    Change("", "command of root", "key create", "etl"),
    Change("grace", "10.0.0.8", "DELETE /api/v1/sources/{name}", "orders"),
    Change("ada", "10.0.0.7", "POST /api/v1/operations/erase", "run é\n1", "{}"),
    Change("ada", "10.0.0.7", "POST /api/v1/operations/erase", "run 2"),
]


@pytest.fixture
def repository(tmp_path: Path) -> AuditRepository:
    return AuditRepository(StateDatabase(tmp_path / "state.db"))


@pytest.fixture
def heads() -> list[AuditHead]:
    return []


@pytest.fixture
def trail(repository: AuditRepository, heads: list[AuditHead]) -> HashChain:
    times = iter(range(1_700_000_000_000_000, 1_800_000_000_000_000, 1_000_001))
    found = HashChain(repository, lambda: next(times), secrets.token_bytes, heads.append)
    for change in CHANGES:
        found.record(change)
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., None]:
    """Changes the table as somebody with an editor of databases does."""

    def run(sql: str, *values: object) -> None:
        with closing(sqlite3.connect(tmp_path / "state.db")) as connection, connection:
            connection.execute(sql, values)

    return run


def test_what_was_recorded_is_listed_and_whole(trail: HashChain, heads: list[AuditHead]) -> None:
    assert [entry.change for entry in trail.newest(10)] == CHANGES[::-1]
    assert [entry.sequence for entry in trail.newest(2, below=4)] == [3, 2]
    assert [entry.sequence for entry in trail.newest(10, principal="ada", action="POST /api/v1/operations/erase")] == [5, 4]
    assert [entry.sequence for entry in trail.newest(10, principal="")] == [2]
    assert [head.sequence for head in heads] == [1, 2, 3, 4, 5]
    assert list(trail.faults(heads)) == []


def test_the_hashes_are_those_that_the_documentation_describes(repository: AuditRepository, trail: HashChain) -> None:
    def hashed(*parts: bytes) -> bytes:
        return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()

    before = bytes(32)
    for item in map(as_json, repository.all()):
        texts = [str(item[name]).encode() for name in ("principal", "origin", "action", "target", "details")]
        commitment = hashed(bytes.fromhex(str(item["salt"])), *texts)
        assert commitment.hex() == item["commitment"]
        at = datetime.fromisoformat(str(item["at"]).replace("Z", "+00:00"))
        at_us = round(at.timestamp()) * 1_000_000 + at.microsecond
        before = hashed(before, str(item["sequence"]).encode(), str(at_us).encode(), str(item["action"]).encode(), commitment)
        assert before.hex() == item["digest"]
    assert list(trail.faults()) == []


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("UPDATE audit SET target = 'others' WHERE sequence = 3", "the change of entry 3 was altered"),
        ("UPDATE audit SET principal = 'grace' WHERE sequence = 2", "the change of entry 2 was altered"),
        ("UPDATE audit SET action = 'nothing' WHERE sequence = 3", "entry 3 or an entry before it is not as it was written"),
        ("UPDATE audit SET at_us = at_us - 1 WHERE sequence = 1", "entry 1 or an entry before it is not as it was written"),
        ("UPDATE audit SET digest = zeroblob(32) WHERE sequence = 5", "entry 5 or an entry before it is not as it was written"),
        (
            "UPDATE audit SET commitment = zeroblob(32), salt = NULL WHERE sequence = 4",
            "entry 4 or an entry before it is not as it was written",
        ),
        ("DELETE FROM audit WHERE sequence = 1", "entries 1 to 1 are missing"),
        ("DELETE FROM audit WHERE sequence IN (2, 3)", "entries 2 to 3 are missing"),
        ("UPDATE audit SET sequence = 6 WHERE sequence = 5", "entries 5 to 5 are missing"),
    ],
)
def test_no_change_of_the_trail_stays_unnoticed(trail: HashChain, write: Callable[..., None], sql: str, fault: str) -> None:
    write(sql)
    assert any(fault in found for found in trail.faults())


def test_a_shortened_or_rewritten_trail_differs_from_a_head_that_was_kept(
    trail: HashChain, repository: AuditRepository, heads: list[AuditHead], write: Callable[..., None]
) -> None:
    write("DELETE FROM audit WHERE sequence > 3")
    assert list(trail.faults()) == []
    assert list(trail.faults(heads[-1:])) == ["the chain ends at entry 3, but it had 5 entries before"]
    for change in CHANGES[:2]:
        trail.record(change)
    assert list(trail.faults()) == []
    assert list(faults(repository.all(), [*heads[:3], parse_head(format_head(heads[2]))])) == []
    kept = [parse_head("4:" + "ab" * 32), NO_ENTRIES]
    assert list(faults(repository.all(), kept)) == ["entry 4 differs from the head that was kept"]
    now = repository.head()
    for both in ((now, kept[0]), (kept[0], now), (AuditHead(4, kept[0].digest), *trail_heads(repository))):
        assert "entry 4 differs from the head that was kept" in list(faults(repository.all(), both))


def trail_heads(repository: AuditRepository) -> list[AuditHead]:
    return [AuditHead(entry.sequence, entry.digest) for entry in repository.all()]


def test_erasing_a_person_leaves_the_chain_whole(trail: HashChain, repository: AuditRepository, heads: list[AuditHead]) -> None:
    assert trail.erase("ada", Change("", "command of root", "audit erase", "")) == 3
    assert list(trail.faults(heads)) == []
    left = list(repository.all())
    assert [entry.change is None for entry in left] == [True, False, False, True, True, False]
    assert "ada" not in str(left)
    assert "10.0.0.7" not in str(left)
    assert [as_json(entry)["erased"] for entry in left[:2]] == [True, False]
    assert trail.erase("ada", Change("", "", "audit erase", "")) == 0


@pytest.mark.parametrize(
    "change",
    [
        Change("grace", "10.0.0.8", "DELETE /sessions/{name}", "ada@example.com"),
        Change("grace", "10.0.0.8", "POST /keys", "etl", '{"name":"etl","note":"for ada@example.com, until May"}'),
        Change("grace", "10.0.0.8", "POST /x", "a ada@example.com b"),
        Change("", "command of ada@example.com", "key create", "etl"),
        Change("ada@example.com", "10.0.0.7", "POST /x", "etl"),
        Change("grace", "10.0.0.8", "POST /x", "etl", '{"who":["ada\\u0040example.com"]}'),
    ],
)
def test_a_name_that_was_erased_is_in_no_member_and_in_no_byte_of_the_files(tmp_path: Path, trail: HashChain, change: Change) -> None:
    for _ in range(3):
        trail.record(change)
        trail.record(Change("grace", "10.0.0.8", "POST /x", "nada@example.com"))
    with closing(sqlite3.connect(tmp_path / "state.db")) as reader:
        reader.execute("SELECT count(*) FROM audit").fetchone()
        assert trail.erase("ada@example.com", Change("", "command of ada@example.com", "audit erase", "")) == 3
    for path in tmp_path.glob("state.db*"):
        found = path.read_bytes()
        assert found.count(b"ada@example.com") == found.count(b"nada@example.com")
        assert b"u0040example" not in found
    left = list(AuditRepository(StateDatabase(tmp_path / "state.db")).all())
    exported = "\n".join(str(as_json(entry)) for entry in left)
    assert exported.count("ada@example.com") == exported.count("nada@example.com") == 3
    assert list(trail.faults()) == []


@pytest.mark.parametrize("name", ["keys", "POST", "name", "{name}", "scopes"])
def test_routes_and_names_of_members_are_no_mentions_of_a_person(trail: HashChain, name: str) -> None:
    trail.record(Change("grace", "10.0.0.8", "POST /keys/{name}", "etl", '{"name":"etl","scopes":["read"]}'))
    assert trail.erase(name, Change("", "command of root", "audit erase", "")) == 0


def test_a_name_is_found_as_a_member_and_in_details_that_were_cut(trail: HashChain) -> None:
    trail.record(Change("grace", "10.0.0.8", "POST /x", "etl", '{"ada@example.com":1}'))
    trail.record(Change("grace", "10.0.0.8", "POST /x", "etl", '{"note":"ada@example.com' + "x" * 9_000 + '"}'))
    trail.record(Change("grace", "10.0.0.8", "POST /x", "etl", '{"note":"for ada@example.com ' + "x" * 9_000 + '"}'))
    assert trail.erase("ada@example.com", Change("", "command of root", "audit erase", "")) == 2


def test_an_erasure_that_cannot_be_recorded_erases_nothing(trail: HashChain, repository: AuditRepository) -> None:
    def no_clock() -> int:
        raise OSError("no clock")

    before = list(repository.all())
    broken = HashChain(repository, no_clock, secrets.token_bytes)
    with pytest.raises(OSError, match="no clock"):
        broken.erase("ada", Change("", "command of root", "audit erase", ""))
    assert list(repository.all()) == before
    assert list(trail.faults()) == []


def test_many_writers_make_one_chain(tmp_path: Path) -> None:
    def write(name: str) -> None:
        trail = HashChain(AuditRepository(StateDatabase(tmp_path / "state.db")), lambda: 1, secrets.token_bytes)
        for number in range(25):
            trail.record(Change(name, "", "do", str(number)))

    threads = [threading.Thread(target=write, args=(f"writer {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    repository = AuditRepository(StateDatabase(tmp_path / "state.db"))
    assert list(faults(repository.all())) == []
    assert repository.head().sequence == 100


def test_what_is_no_unicode_is_replaced(repository: AuditRepository) -> None:
    trail = HashChain(repository, lambda: 1, secrets.token_bytes)
    trail.record(Change("", "", "do", "a\ud800b"))
    assert [entry.change and entry.change.target for entry in trail.newest(1)] == ["a?b"]
    assert list(trail.faults()) == []


def test_long_texts_are_cut_and_random_ones_kept(repository: AuditRepository) -> None:
    trail = HashChain(repository, lambda: 1, secrets.token_bytes)
    alphabet, draw = "aé\0\n\t🜁\"'\\", random.Random(5)
    changes = [Change(*("".join(draw.choices(alphabet, k=draw.randrange(9))) for _ in range(5))) for _ in range(50)]
    for change in changes:
        trail.record(change)
    assert [entry.change for entry in repository.all()] == changes
    trail.record(Change("", "", "do", "x" * (MOST_CHARACTERS + 1)))
    assert list(trail.faults()) == []
    (newest,) = trail.newest(1)
    assert newest.change is not None
    assert len(newest.change.target) == MOST_CHARACTERS


@pytest.mark.parametrize("text", ["", "5", "x:00", "5:zz", "5:" + "0" * 62, "-1:" + "0" * 64])
def test_what_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="not the head"):
        parse_head(text)
