"""The manifest: the list of the archive's files with sizes and checksums. A listed file that is not in its folder is lost. The manifest has
one line for each added file, in the order of adding. A later file replaces an earlier one whose range it covers.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from lineage_bridge.eventlog.archive.files import ArchivedFile, sync_folders

NAME: Final = "files.list"
SPARE_LINES: Final = 1000
"""How many obsolete lines the manifest may have before it is written again."""
_PIECE: Final = 1 << 20
_MARK_CHARACTERS: Final = 9


class ListedFile(NamedTuple):
    """A file with the records in [start, end) of the partition in `folder`, as the manifest lists it.

    `checksum` is the CRC-32 of its bytes; None for a file that is older than the manifest. `replaced` is the CRC-32 of the bytes that it
    may still have, because it is being rewritten; else None.
    """

    folder: str
    start: int
    end: int
    level: int
    size: int
    checksum: int | None
    replaced: int | None = None


_LINES: Final = msgspec.json.Decoder(ListedFile)
Listing = Mapping[str, Sequence[ListedFile]]


def read_listing(root: Path) -> Listing:
    """The files that each folder should have, by folder. Damaged and incomplete lines are skipped."""
    return {folder: list(found.values()) for folder, found in _read(root)[0].items()}


def checksum_of(path: Path) -> int:
    """The CRC-32 of a file. Raises OSError."""
    found = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found = crc32(piece, found)
    return found


class Manifest:
    """Writes the manifest, for the one process that writes the archive in `root`."""

    def __init__(self, root: Path, spare_lines: int = SPARE_LINES) -> None:
        self._root, self._path, self._spare_lines = root, root / NAME, spare_lines
        self._listed, self._lines = _read(root)
        self._end_line = self._path.exists()

    def find(self, folder: Path, file: ArchivedFile) -> ListedFile | None:
        """The line of a file in a folder; None if the manifest does not list it yet."""
        return self._listed.get(self._name(folder), {}).get((file.start, file.end, file.level))

    def add(self, files: Iterable[tuple[Path, ArchivedFile]], *, checked: bool = True) -> None:
        """Add files, given by their folders, to the manifest, durably. With `checked`, their checksums are computed from their present
        bytes. Raises OSError.
        """
        added = []
        for folder, file in files:
            checksum = checksum_of(file.path) if checked else None
            added.append(ListedFile(self._name(folder), file.start, file.end, file.level, file.path.stat().st_size, checksum))
        self._append(added)

    def announce(self, folder: Path, file: ArchivedFile, checksum: int) -> None:
        """Note durably that a listed file is about to be rewritten, and the checksum that it will have. Then it counts as undamaged before
        and after. Once it is rewritten, it is to be added again. A damaged file is not announced, so it stays damaged. Raises OSError.
        """
        listed, present = self.find(folder, file), checksum_of(file.path)
        if listed is not None and present in (listed.checksum, listed.replaced):
            self._append([listed._replace(checksum=checksum, replaced=present)])

    def _append(self, added: Sequence[ListedFile]) -> None:
        for listed in added:
            _note(self._listed, listed)
        is_new = not self._path.exists()
        with self._path.open("ab") as appended:
            # A line that was not finished is ended first.
            appended.write((b"\n" if self._end_line else b"") + b"".join(map(_line, added)))
            appended.flush()
            os.fdatasync(appended.fileno())
        if is_new:
            sync_folders([self._root])
        self._end_line = False
        self._lines += len(added)
        live = sum(map(len, self._listed.values()))
        if self._lines > 4 * live + self._spare_lines:
            self._rewrite(live)

    def _rewrite(self, live: int) -> None:
        fresh = self._path.with_name(f"{NAME}.new")
        with fresh.open("wb") as file:
            file.write(b"".join(_line(listed) for found in self._listed.values() for listed in found.values()))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        sync_folders([self._root])
        self._lines = live

    def _name(self, folder: Path) -> str:
        return str(folder.relative_to(self._root))


_Key = tuple[int, int, int]


def _note(listed: dict[str, dict[_Key, ListedFile]], file: ListedFile) -> None:
    found = listed.setdefault(file.folder, {})
    if file.level:
        for key in [key for key in found if file.start <= key[0] and key[1] <= file.end and key[2] < file.level]:
            del found[key]
    found[file.start, file.end, file.level] = file


def _line(file: ListedFile) -> bytes:
    text = msgspec.json.encode(file)
    return b"%08x %s\n" % (crc32(text), text)


def _read(root: Path) -> tuple[dict[str, dict[_Key, ListedFile]], int]:
    listed: dict[str, dict[_Key, ListedFile]] = {}
    lines = 0
    try:
        content = (root / NAME).read_bytes()
    except FileNotFoundError:
        return listed, 0
    for line in content.splitlines():
        lines += 1
        mark, text = line[:_MARK_CHARACTERS], line[_MARK_CHARACTERS:]
        if mark == b"%08x " % crc32(text):
            _note(listed, _LINES.decode(text))
    return listed, lines
