"""Damage of the archive is found, named, acknowledged and repaired as that of the log; what the writer does is never taken for damage."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.eventlog.archive.test_archive import OF, bodies, put, record
from tests.inputs.support import until

from lineage_bridge.eventlog.archive.check import check_all, check_archive, check_files, repair_archive
from lineage_bridge.eventlog.archive.files import files_in
from lineage_bridge.eventlog.archive.manifest import NAME, Manifest, read_listing
from lineage_bridge.eventlog.archive.writer import MANY, ArchiveWriter
from lineage_bridge.eventlog.check import Damage, acknowledge
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.watch import LogWatch


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An archive of five files, with three records each."""
    root = tmp_path / "archive"
    writer = ArchiveWriter(root)
    for first in range(0, 15, 3):
        put(writer, first, first + 3, *map(record, range(first, first + 3)))
    return root


def file_at(root: Path, index: int) -> Path:
    return files_in(OF.folder(root))[index].path


def flip(path: Path, byte: int) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 0x10
    path.write_bytes(content)


def lose(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3])


def grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + encode_record(record(99)))


def replace(path: Path) -> None:
    """As many bytes of other records: nothing but the checksum of the file tells it."""
    size = path.stat().st_size
    others = b"".join(encode_record(record(number)) for number in range(3))
    assert len(others) == size
    path.write_bytes(others)


def test_a_sound_archive_is_sound(root: Path) -> None:
    assert check_archive(root) == (5, 15, [])


@pytest.mark.parametrize("index", [0, 2, 4], ids=["first", "middle", "last"])
@pytest.mark.parametrize(
    ("harm", "kind"),
    [(lose, "missing"), (cut, "shortened"), (grow, "changed"), (lambda path: flip(path, 100), "unreadable")],
    ids=["lost", "cut", "grown", "flipped"],
)
def test_what_happened_to_a_file_is_named(root: Path, harm: Callable[[Path], None], kind: str, index: int) -> None:
    path = file_at(root, index)
    harm(path)
    _, records, damage = check_archive(root)
    assert [(item.kind, item.file) for item in damage] == [(kind, str(path.relative_to(root)))]
    assert records == {"missing": 12, "shortened": 13, "changed": 16, "unreadable": 14}[kind]
    assert bool(check_files(root)) == (kind != "unreadable")


def test_records_that_were_replaced_by_others_are_noticed(root: Path) -> None:
    replace(file_at(root, 2))
    assert [item.kind for item in check_archive(root)[2]] == ["changed"]


def test_damage_is_acknowledged_beside_that_of_the_log(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    lose(file_at(root, 1))
    found = check_all(log, root)
    assert (found.files, len(found.damage), found.new) == (4, 1, found.damage)
    acknowledge(log, found.damage)
    assert check_all(log, root).new == ()
    lose(file_at(root, 2))
    assert len(check_all(log, root).new) == 1


def test_one_wrong_byte_is_put_right_and_more_are_set_aside(root: Path) -> None:
    before = bodies(root)
    flip(file_at(root, 1), 100)
    (done,) = repair_archive(root, LocalDisk())
    assert done.outcome == "corrected"
    assert (bodies(root), check_archive(root)[2]) == (before, [])
    for byte in (100, 101, 102):
        flip(file_at(root, 3), byte)
    (done,) = repair_archive(root, LocalDisk())
    assert (done.outcome, done.saved is not None) == ("set aside", True)
    assert check_archive(root)[2] == []
    assert bodies(root) == [body for body in before if body != b"9/0"]
    lose(file_at(root, 0))
    assert [done.outcome for done in repair_archive(root, LocalDisk())] == ["left"]


def test_files_that_become_one_are_never_damage(tmp_path: Path) -> None:
    root = tmp_path / "archive"
    writer = ArchiveWriter(root)
    for first in range(2 * MANY + 5):
        put(writer, first, first + 1, record(first))
        assert check_files(root) == []
    assert check_archive(root) == (7, 2 * MANY + 5, [])
    assert len(read_listing(root)[str(OF.folder(root).relative_to(root))]) == 7


def test_what_a_killed_writer_put_in_its_place_is_listed_by_the_next(root: Path) -> None:
    listing = root / NAME
    kept = listing.read_bytes().splitlines(keepends=True)
    listing.write_bytes(b"".join(kept[:-1]) + kept[-1][:20])
    assert check_archive(root) == (5, 15, [])
    writer = ArchiveWriter(root)
    put(writer, 15, 18, record(15))
    assert check_archive(root) == (6, 16, [])
    lose(file_at(root, 4))
    assert kinds(check_archive(root)[2]) == ["missing"]


def test_without_a_list_the_files_of_an_older_version_are_taken_as_they_are(root: Path) -> None:
    (root / NAME).unlink()
    lose(file_at(root, 2))
    assert kinds(check_archive(root)[2]) == ["missing"]
    ArchiveWriter(root)
    assert sum(map(len, read_listing(root).values())) == 4
    lose(file_at(root, 3))
    assert kinds(check_archive(root)[2]) == ["missing", "missing"]


def test_the_list_is_written_anew_before_it_grows_without_end(root: Path) -> None:
    manifest, folder = Manifest(root, spare_lines=10), OF.folder(root)
    for _ in range(40):
        manifest.add([(folder, files_in(folder)[0])])
        assert len((root / NAME).read_bytes().splitlines()) <= 4 * 5 + 10 + 1
    assert check_archive(root) == (5, 15, [])
    assert Manifest(root).find(folder, files_in(folder)[4])


def kinds(damage: Sequence[Damage]) -> list[str]:
    return [item.kind for item in damage]


def test_a_server_reports_what_it_finds_while_it_runs(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.mkdir()
    lose(file_at(root, 1))
    watch = LogWatch(log, root)
    try:
        until(lambda: watch.found() is not None, "the first check")
        found = watch.found()
        assert found is not None
        assert kinds(found.new) == ["missing"]
        acknowledge(log, found.damage)
        again = watch.found()
        assert again is not None
        assert again.new == ()
    finally:
        watch.close()
