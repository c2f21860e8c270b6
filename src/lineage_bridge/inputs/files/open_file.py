"""Reads one file, from the position up to which the log has this file. If the position belongs to an earlier file with the same key, the
file is read from the beginning.
"""

from collections.abc import Iterator
from typing import Final

from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.files.content import Content, FileRecord, Records, content_of, damage_of
from lineage_bridge.inputs.files.listing import NOT_ENDED, Task
from lineage_bridge.inputs.files.store import FileStore
from lineage_bridge.inputs.files.text import DAMAGED, INCOMPLETE, FileText
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.ports.inputs import FilePosition

_AGAIN: Final = "+"
"""Separates the identity of a file from the number of times that it was replaced by a file with the same identity."""


class OpenFile:
    """Reads the records of a file. `task` describes the file. Raises OSError.

    At the end of the file, `where` identifies the file (None: it is still empty), and `rest_bytes` bytes from `rest_at` on are an
    incomplete record.
    """

    def __init__(self, store: FileStore, task: Task) -> None:
        self.task = task
        self.where: StreamPartition | None = None
        self.rest_at = self.rest_bytes = 0
        self.has_read, self.is_judged = False, False
        self._raw = store.open(task.file)
        try:
            self._text = FileText(self._raw)
            self._records = self._all()
        except OSError:
            self.close()
            raise
        self._ahead: IncomingRecord | None = None

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    @property
    def bytes_left(self) -> int:
        """The number of bytes that are not read yet; all bytes if the file is compressed."""
        return max(0, self.task.file.size - (0 if self._text.is_packed else self._text.offset))

    def next(self) -> IncomingRecord | None:
        """Read the next record; None at the end. The last record of the file has a mark that it is the last."""
        if self._ahead is None:
            self._ahead = next(self._records, None)
        current = self._ahead
        if current is None:
            return None
        self._ahead = next(self._records, None)
        self.has_read = True
        return current if self._ahead else current._replace(mark=f"{self.mark_version}|{current.mark.partition('|')[2]}")

    @property
    def mark_version(self) -> str:
        """The version of the file if it was read completely, else an empty string."""
        if self.rest_bytes or (self.task.is_recent and not self.is_judged):
            return ""
        return (NOT_ENDED if self.is_judged else "") + self.task.file.version

    def note(self) -> FilePosition | None:
        """The note to store about a file without new records, so that it is not read again; None if no note is needed."""
        position = self.task.position
        if self.has_read or position is None or self.where != position.where or not self.mark_version:
            return None
        return position._replace(mark=f"{self.mark_version}|{position.mark.partition('|')[2]}")

    def _all(self) -> Iterator[IncomingRecord]:
        content = content_of(self._text)
        if content is None:
            if self._text.ending != DAMAGED and not (self._text.ending == INCOMPLETE and self.task.is_settled):
                self.rest_bytes = 0 if self._text.ending != INCOMPLETE else self.task.file.size
                return
            content = Content("e" + self.task.file.version)
        if content.document is not None:
            yield from self._document(content, content.document)
        else:
            yield from self._lines(content)

    def _document(self, content: Content, document: bytes) -> Iterator[IncomingRecord]:
        """The single record of a document, unless it was read before or may still grow."""
        position = self._position(content)
        damage = damage_of(self._text)
        is_bad = content.waits or bool(damage)
        if is_bad and self._text.ending != DAMAGED and not self.task.is_settled:
            self.rest_bytes = len(document)
            return
        self.is_judged = is_bad
        self.where = where = position.where if position else self._new(content)
        if position is None or not position.at.offset:
            yield self._record(where, FileRecord(0, document, content.digest, damage))

    def _lines(self, content: Content) -> Iterator[IncomingRecord]:
        position = self._position(content)
        records, where = Records(self._text), position.where if position else self._new(content)
        if position is not None and position.at.offset and not position.at.number:
            version, _, tail = position.mark.partition("|")
            records = Records(self._text, position.at.offset - 1, tail)
            if not records.goes_on or version.startswith(NOT_ENDED):
                if self._ends_as_judged(position):
                    self.where, self.is_judged = where, True
                    return
                records, where = Records(self._text), self._new(content, position)
        self.where = where
        for record in records:
            yield self._record(where, record)
        rest = records.rest
        if not rest.value.strip() and not rest.damage:
            return
        if self.task.is_settled or self._text.ending == DAMAGED:
            self.is_judged = True
            yield self._record(where, FileRecord(rest.judged_at, rest.value or self._text.head, "", rest.damage))
        else:
            self.rest_at, self.rest_bytes = rest.offset, max(1, len(rest.value))

    def _ends_as_judged(self, position: FilePosition) -> bool:
        """Whether the file still ends with the incomplete last record that was validated."""
        records = Records(self._text)
        for _ in records:
            pass
        return bool(records.rest.value.strip() or records.rest.damage) and records.rest.judged_at == position.at.offset - 1

    def _position(self, content: Content) -> FilePosition | None:
        """The position up to which the log has this file; None if the stored position belongs to another file with the same key."""
        position = self.task.position
        if position is None:
            return None
        return position if position.where.life.partition(" ")[2].partition(_AGAIN)[0] == content.digest else None

    def _new(self, content: Content, before: FilePosition | None = None) -> StreamPartition:
        """A file that was never read; `before` is an earlier file with the same key."""
        times = int(before.where.life.partition(_AGAIN)[2] or 0) + 1 if before else 0
        again = f"{_AGAIN}{times}" if times else ""
        return StreamPartition(self.task.file.path, f"{self.task.file.key} {content.digest}{again}", "")

    def _record(self, where: StreamPartition, record: FileRecord) -> IncomingRecord:
        at_ms = self.task.file.changed_ns // 1_000_000
        return IncomingRecord(where, record.offset, record.value, at_ms, mark=f"|{record.tail}", refused=record.refused)
