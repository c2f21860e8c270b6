"""The offsets of log records that nothing needs any more, from the pipeline to the writer of the log.

The pipeline writes a file `expired.NNNNNNNNNN.prepared` before it commits the removal of what these records said from the graph, and gives
it its final name, `expired.NNNNNNNNNN`, afterwards. The writer of the log empties the records, and removes their offsets from the files. A
file begins with MAGIC; the offsets follow, sorted, as 64-bit little-endian numbers.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.disk import replace_file
from lineage_bridge.eventlog.segment import segment_of
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE

MAGIC: Final = b"LBEXPIRE"
PATTERN: Final = "expired.[0-9]*"
_NAME: Final = re.compile(r"expired\.(\d{10})(\.prepared)?")
_PREPARED: Final = ".prepared"


class ExpiredOffsets:
    """Implements ports.ExpiredRecords: the files in the folder of a log. Records of other sources are ignored."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def newest(self) -> int:
        """The greatest number of any file; 0 without one."""
        return max((number for number, _ in self._files()), default=0)

    def prepare(self, number: int, records: Sequence[RecordAddress]) -> None:
        """Write down durably which records nothing needs once a transaction with this number is committed. Raises OSError."""
        if offsets := [record.offset for record in records if record.source == LOG_SOURCE]:
            replace_file(self._path(number, _PREPARED), _encoded(offsets))

    def commit(self, number: int) -> None:
        """State that the transaction with this number is committed. Raises OSError."""
        if (prepared := self._path(number, _PREPARED)).exists():
            prepared.replace(self._path(number))

    def recover(self, committed: int) -> None:
        """After a crash: commit what was prepared up to the last number that was committed, and drop the rest. Raises OSError."""
        for number, path in list(self._files()):
            if path.name.endswith(_PREPARED):
                self.commit(number) if number <= committed else path.unlink()

    def by_segment(self) -> dict[int, set[int]]:
        """The offsets of committed files, by segment. Raises LogError for a damaged file, OSError."""
        found: defaultdict[int, set[int]] = defaultdict(set)
        for path in self._committed():
            for offset in _decoded(path):
                found[segment_of(offset)].add(offset)
        return dict(found)

    def remove(self, segments: Iterable[int], files: Iterable[Path]) -> None:
        """Remove the offsets of these segments from files, and files without offsets. Raises LogError, OSError."""
        done = frozenset(segments)
        for path in files:
            offsets = _decoded(path)
            left = [offset for offset in offsets if segment_of(offset) not in done]
            if not left:
                path.unlink()
            elif len(left) < len(offsets):
                replace_file(path, _encoded(left))

    def files(self) -> list[Path]:
        """The committed files, sorted."""
        return self._committed()

    def _committed(self) -> list[Path]:
        return sorted(path for _, path in self._files() if not path.name.endswith(_PREPARED))

    def _files(self) -> Iterator[tuple[int, Path]]:
        for path in self._directory.glob(PATTERN):
            if found := _NAME.fullmatch(path.name):
                yield int(found[1]), path

    def _path(self, number: int, suffix: str = "") -> Path:
        return self._directory / f"expired.{number:010d}{suffix}"


def _encoded(offsets: Iterable[int]) -> bytes:
    return MAGIC + b"".join(offset.to_bytes(8, "little") for offset in sorted(offsets))


def _decoded(path: Path) -> Sequence[int]:
    data = path.read_bytes()
    if data[: len(MAGIC)] != MAGIC or (len(data) - len(MAGIC)) % 8:
        raise LogError(f"{path} is damaged", "remove the file: the records that it lists then stay in the log")
    return [int.from_bytes(data[at : at + 8], "little") for at in range(len(MAGIC), len(data), 8)]
