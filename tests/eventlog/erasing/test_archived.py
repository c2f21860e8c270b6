"""Erasing in the archive: a file is undamaged before, while and after it is rewritten, wherever the process ends."""

from pathlib import Path

import msgspec
import pytest
from tests.eventlog.archive.test_archive import OF, put, record
from tests.eventlog.erasing.test_rewriting import ADA, CrashError, CrashingDisk

from lineage_bridge.eventlog.archive.check import check_archive
from lineage_bridge.eventlog.archive.files import files_in
from lineage_bridge.eventlog.archive.manifest import read_listing
from lineage_bridge.eventlog.archive.writer import ArchiveWriter
from lineage_bridge.eventlog.disk import Disk, LocalDisk
from lineage_bridge.eventlog.erasing.rewriting import erase_in_archive
from lineage_bridge.eventlog.erasing.selection import choose_records
from lineage_bridge.model.erasing.erasure import PERSON, ErasureRequest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An archive of three files, in two of which a record names Ada."""
    root = tmp_path / "archive"
    writer = ArchiveWriter(root)
    for first in range(0, 9, 3):
        sent = [record(number) for number in range(first, first + 3)]
        if first != 3:
            sent[0] = msgspec.structs.replace(sent[0], body=b'{"owner": "%s", "at": %d}' % (ADA.encode(), first))
        put(writer, first, first + 3, *sent)
    return root


def erase(root: Path, disk: Disk) -> None:
    erase_in_archive(root, choose_records(ErasureRequest("1", PERSON, ADA)), disk, lambda _: True)


@pytest.mark.parametrize("at", range(8))
def test_wherever_it_ends_no_file_is_damaged_and_the_rest_is_erased(root: Path, at: int) -> None:
    before = [file.path.read_bytes() for file in files_in(OF.folder(root))]
    assert sum(ADA.encode() in content for content in before) == 2
    with pytest.raises(CrashError):
        erase(root, CrashingDisk(at))
    assert check_archive(root) == (3, 9, [])
    erase(root, LocalDisk())
    files = files_in(OF.folder(root))
    assert all(ADA.encode() not in file.path.read_bytes() for file in files)
    assert check_archive(root) == (3, 9, [])
    assert all(listed.replaced is None for found in read_listing(root).values() for listed in found)
    files[0].path.write_bytes(before[0])
    assert [(item.kind, item.file) for item in check_archive(root)[2]] == [("changed", str(files[0].path.relative_to(root)))]


def test_bytes_that_are_neither_are_damage(root: Path) -> None:
    with pytest.raises(CrashError):
        erase(root, CrashingDisk(0))
    first = files_in(OF.folder(root))[0].path
    first.write_bytes(files_in(OF.folder(root))[2].path.read_bytes())
    assert [item.kind for item in check_archive(root)[2]] == ["changed"]
    erase(root, LocalDisk())
    assert ADA.encode() not in first.read_bytes()
    assert [(item.kind, item.file) for item in check_archive(root)[2]] == [("changed", str(first.relative_to(root)))]
