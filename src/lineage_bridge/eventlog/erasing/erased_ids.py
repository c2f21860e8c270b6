"""The ids of all erased events, by which a repeat of one is recognised: neither a producer nor a copy of the log brings it back.

The file `erased.ids` in the log's folder begins with MAGIC; the ids follow, sorted, with 16 bytes each. It is made anew from the ERASED
records of the log and of the archive at the end of each erasure.
"""

import mmap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.disk import replace_file
from lineage_bridge.eventlog.erasing.selection import erased_record
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.ports.log import OffsetLog

NAME: Final = "erased.ids"
MAGIC: Final = b"LBERASED"
_ID_BYTES: Final = 16
_EVENTS: Final = (RecordKind.EVENT, RecordKind.REJECTED)


class ErasedIds:
    """The ids of the erased events of the log in `directory`; none if nothing was ever erased. Can be pickled: it holds only the path, and
    the file is mapped into memory when it is first needed.

    Raises LogError for a damaged file.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self._ids: mmap.mmap | bytes | None = None

    def __reduce__(self) -> tuple[type["ErasedIds"], tuple[Path]]:
        return ErasedIds, (self._path.parent,)

    def __len__(self) -> int:
        return (len(self._loaded()) - len(MAGIC)) // _ID_BYTES

    def __contains__(self, event_id: object) -> bool:
        if not isinstance(event_id, bytes):
            return False
        ids, first, last = self._loaded(), 0, len(self)
        while first < last:
            middle = (first + last) // 2
            at = len(MAGIC) + middle * _ID_BYTES
            found = ids[at : at + _ID_BYTES]
            if found == event_id:
                return True
            first, last = (middle + 1, last) if found < event_id else (first, middle)
        return False

    def without(self, records: Iterable[LogRecord]) -> Iterator[LogRecord]:
        """Yield the records, with an ERASED record for each event that was erased."""
        for record in records:
            yield erased_record(record) if record.kind in _EVENTS and record.event_id in self else record

    def _loaded(self) -> "mmap.mmap | bytes":
        if self._ids is None:
            self._ids = self._mapped()
        return self._ids

    def _mapped(self) -> "mmap.mmap | bytes":
        try:
            with self._path.open("rb") as file:
                ids = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            return MAGIC
        except (OSError, ValueError) as error:
            raise LogError(f"{self._path} cannot be read: {error}", _HINT) from error
        if ids[: len(MAGIC)] != MAGIC or (len(ids) - len(MAGIC)) % _ID_BYTES:
            raise LogError(f"{self._path} is damaged", _HINT)
        return ids


_HINT: Final = "restore it from a backup, or stop the server, remove the file, and repeat an erasure: it is then made from the log"


class IdCollector:
    """Collects ids, and writes them to the file. It needs 16 bytes of memory for each id."""

    def __init__(self) -> None:
        self._by_first: defaultdict[int, bytearray] = defaultdict(bytearray)

    def add(self, event_ids: Iterable[bytes]) -> None:
        """Add ids of erased events. Zeros, the id of what a repair has cut out, are left out."""
        for event_id in event_ids:
            if any(event_id):
                self._by_first[event_id[0]] += event_id

    def write(self, directory: Path) -> int:
        """Replace the file of a log's folder durably by the collected ids. Returns their number. Raises OSError."""
        content = bytearray(MAGIC)
        for first in sorted(self._by_first):
            ids = self._by_first[first]
            content += b"".join(sorted({bytes(ids[at : at + _ID_BYTES]) for at in range(0, len(ids), _ID_BYTES)}))
        if len(content) > len(MAGIC):
            replace_file(directory / NAME, bytes(content))
        return (len(content) - len(MAGIC)) // _ID_BYTES


class ErasureGuard:
    """Implements `ports.OffsetLog` over a log: an event that was erased is not written again; an ERASED record is written instead."""

    def __init__(self, log: OffsetLog, erased: ErasedIds) -> None:
        self._log, self._erased = log, erased

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        """Append records. Raises the errors of the log."""
        return self._log.submit(list(self._erased.without(records)) if len(self._erased) else records)

    def end(self) -> int:
        """The durable end of the log."""
        return self._log.end()
