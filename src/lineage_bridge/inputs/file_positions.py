"""The positions of an input in its files. They are stored in the state database; only a few are in memory."""

from collections.abc import Sequence
from typing import Final

from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.ports.inputs import FilePosition, InputRepository

MOST_KNOWN: Final = 10_000
"""How many changed files are held in memory before they are saved."""
_FIRST: Final = EventPosition(0, 0)


class FilePositions:
    """The positions of the input `name` in files: one position for each key, which belongs to the latest file with this key. Not
    thread-safe.
    """

    def __init__(self, name: str, repository: InputRepository) -> None:
        self._name, self._repository = name, repository
        self._known: dict[str, FilePosition | None] = {}
        self._changed: dict[str, FilePosition] = {}
        self._replaces = False

    @property
    def is_large(self) -> bool:
        """Whether so many changes are in memory that they should be saved."""
        return len(self._known) >= MOST_KNOWN

    def find(self, keys: Sequence[str]) -> list[FilePosition]:
        """The positions of files with these keys."""
        if self.is_large:
            self._known = dict(self._changed)
        unknown = [key for key in keys if key not in self._known]
        if unknown:
            self._known |= dict.fromkeys(unknown)
            if not self._replaces:
                self._known |= {found.where.file_key: found for found in self._repository.file_positions(self._name, unknown)}
        return [position for key in keys if (position := self._known[key]) is not None]

    def next_position(self, where: StreamPartition) -> EventPosition:
        """The first position in a file that the log does not have."""
        found = self._of(where.file_key)
        return found.at if found and found.where.life == where.life else _FIRST

    def advance(self, where: StreamPartition, position: EventPosition, mark: str = "") -> None:
        """Record that the log has everything in a file before a position. With `mark`, also record that the file was read completely."""
        key = where.file_key
        found = self._of(key)
        if found and found.where.life == where.life:
            mark = mark or (found.mark if position <= found.at else "")
            position = max(position, found.at)
            where = found.where
        self._known[key] = self._changed[key] = FilePosition(where, position, mark)

    def forget(self) -> None:
        """Forget all positions, because they belong to another log."""
        self._known, self._changed, self._replaces = {}, {}, True

    def save(self, ledger: bytes | None = None) -> None:
        """Save changes, in one transaction with the ledger of the input if it is given."""
        files = list(self._changed.values())
        if ledger is None:
            self._repository.save_files(self._name, files, replaces=self._replaces)
        else:
            self._repository.save_ledger(self._name, ledger, files, replaces=self._replaces)
        self._changed, self._replaces = {}, False
        if self.is_large:
            self._known = {}

    def _of(self, key: str) -> FilePosition | None:
        if key not in self._known:
            self.find([key])
        return self._known[key]
