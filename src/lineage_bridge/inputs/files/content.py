"""Determines the format of a file: lines of JSON, each of which is a record, or one document, which is a single record. Pure, except for
reading the text.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, NamedTuple

from lineage_bridge.ingest.payload import is_json
from lineage_bridge.inputs.files.text import DAMAGED, INCOMPLETE, FileText, Line, LineReader
from lineage_bridge.inputs.values import MAX_VALUE_BYTES
from lineage_bridge.openlineage.json_text import mend_text

_BLANK: Final = b" \t\r\n\x1e"
_MARK_OF_ORDER: Final = b"\xef\xbb\xbf"
_OPENS: Final = (b"{", b"[")


class FileRecord(NamedTuple):
    """A record of a file. `tail` is a digest that shows whether the file still has this record; `refused` is the reason why the record
    contains no event.
    """

    offset: int
    value: bytes
    tail: str
    refused: str = ""


class Content(NamedTuple):
    """The content of a file. `digest` identifies the file while it grows. `document` is the value of a file that is a single record.

    `waits`: the file is not complete yet, so no record of it can be read.
    """

    digest: str
    document: bytes | None = None
    waits: bool = False


class FileRemainder(NamedTuple):
    """The bytes at the end of a file, from `offset` on, that are not a complete record, with the reason. The reason is empty while more
    bytes may follow.
    """

    offset: int
    value: bytes
    damage: str = ""

    @property
    def judged_at(self) -> int:
        """The offset that identifies the rest when it is validated. No record begins at this offset."""
        return max(self.offset + 1, self.offset + len(self.value) - 1)


def digest_of(data: bytes) -> str:
    """A short digest that identifies these bytes."""
    return blake2b(data, digest_size=6).hexdigest()


def content_of(text: FileText) -> Content | None:
    """Determine the content of a text: lines or one document. None if the text is still empty."""
    line = _first_line(LineReader(text, 0))
    if line is None:
        return None
    data = _plain(line.data)
    lines = Content("l" + digest_of(data))
    if data.startswith(_OPENS) and _is_json(data):
        return lines
    text.seek(0)
    whole = _plain(_read(text, MAX_VALUE_BYTES + 1))
    begins_document = data.startswith(b"[") or data == b"{"
    document = Content("d" + digest_of(whole), whole)
    if not begins_document and (len(whole) > MAX_VALUE_BYTES or text.ending == DAMAGED):
        return lines
    if len(whole) > MAX_VALUE_BYTES or _is_json(whole):
        return document
    is_lines = not begins_document and _is_lines(data, whole, has_end=line.has_end)
    return lines if is_lines else document._replace(waits=True)


class Records:
    """Yields the records of the lines that follow the line at offset `last`; of all lines if `last` is None. At the end, `rest` is the
    remainder of the file.
    """

    def __init__(self, text: FileText, last: int | None = None, tail: str = "") -> None:
        self._text, self.rest = text, FileRemainder(0, b"")
        self._reader = LineReader(text, max(0, (last or 0) - 1))
        self.goes_on = last is None or self._skip(last, tail)

    def _skip(self, last: int, tail: str) -> bool:
        """Skip the line that begins at offset `last`. Returns whether there is such a line."""
        if last and (not self._reader.is_there or (line := self._reader.next()) is None or line.data or not line.has_end):
            return False
        line = self._reader.next()
        return line is not None and (not tail or _tail(line) == tail)

    def __iter__(self) -> Iterator[FileRecord]:
        end = 0
        while (line := self._reader.next()) is not None:
            end = line.end
            value = _plain(line.data) if not line.offset else line.data.strip(_BLANK)
            if not value:
                continue
            if not line.has_end and not (value.startswith(_OPENS) and _is_json(value)):
                self.rest = FileRemainder(line.offset, line.data, self._damage())
                return
            yield FileRecord(line.offset, value, _tail(line))
        self.rest = FileRemainder(max(end, self._text.offset), b"", self._damage())

    def _damage(self) -> str:
        return damage_of(self._text)


def damage_of(text: FileText) -> str:
    """Describe the damage of a text that was read to its end; empty if it is not damaged."""
    if text.ending == DAMAGED:
        return f"the gzip file is damaged after byte {text.offset} of its decompressed content"
    return f"the gzip file is cut off after byte {text.offset} of its decompressed content" if text.ending == INCOMPLETE else ""


def _tail(line: Line) -> str:
    return digest_of(line.data)


def _first_line(reader: LineReader) -> Line | None:
    while (line := reader.next()) is not None:
        if _plain(line.data):
            return line
    return None


def _is_lines(first: bytes, whole: bytes, *, has_end: bool) -> bool:
    """Whether a text consists of lines of JSON although its first line is not JSON: another line is."""
    if has_end and not first.startswith(_OPENS):
        return True
    lines = whole.split(b"\n")[1:]
    return any(line.lstrip().startswith(b"{") and _is_json(line) for line in lines)


def _read(text: FileText, most: int) -> bytes:
    parts, size = [], 0
    while size < most and (part := text.read(most - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _plain(data: bytes) -> bytes:
    return data.removeprefix(_MARK_OF_ORDER).strip(_BLANK)


def _is_json(data: bytes) -> bool:
    return is_json(mend_text(data))
