"""Checks the archive (and the log with it) for damaged or missing files, and repairs the archive while no process writes it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from lineage_bridge.eventlog.archive.files import ArchivedFile, files_in, partitions_in
from lineage_bridge.eventlog.archive.manifest import ListedFile, Listing, Manifest, checksum_of, read_listing
from lineage_bridge.eventlog.check import Damage, LogCheck, check_log, unacknowledged
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.repair import RepairOutcome, repair_bytes
from lineage_bridge.eventlog.segment import UnreadableBytes, walk_records

_PIECE_RECORDS = 200


def check_all(log: Path, archive: Path, on_piece: Callable[[], None] = lambda: None) -> LogCheck:
    """Read every record of the log in `log` and of the archive in `archive`. Acknowledged damage is listed in the log's folder."""
    found = check_log(log, on_piece)
    files, records, damage = check_archive(archive, on_piece)
    every = (*found.damage, *damage)
    return LogCheck(found.segments, found.records + records, every, unacknowledged(log, every), files)


def check_archive(root: Path, on_piece: Callable[[], None] = lambda: None) -> tuple[int, int, list[Damage]]:
    """Read every record of the archive. Returns the number of readable files, the number of readable records, and the damage."""
    listing, damage = read_listing(root), check_files(root)
    known = {item.file for item in damage}
    files = records = 0
    for of in partitions_in(root):
        folder = of.folder(root)
        listed = {(file.start, file.end, file.level): file for file in listing.get(str(folder.relative_to(root)), ())}
        for file in files_in(folder):
            with suppress(FileNotFoundError):  # another file has just replaced it
                count, found = _check_file(root, file, on_piece)
                expected = listed.get((file.start, file.end, file.level))
                if not found and _name(root, file.path) not in known and _is_changed(file, expected):
                    found = [_damage(root, "changed", file.path, 0, file.size, "does not contain the bytes that were written")]
                files, records, damage = files + 1, records + count, [*damage, *found]
    return files, records, sorted(damage, key=lambda item: (item.file, item.first, item.kind))


def check_files(root: Path) -> list[Damage]:
    """Find the damage that shows in the names and sizes of files, without reading records. A file that is being replaced is not damaged."""
    found = set(_look(root))
    return [item for item in _look(root) if item in found] if found else []


def repair_archive(root: Path, disk: Disk) -> list[RepairOutcome]:
    """Repair damaged files in place, and update the manifest. The caller must ensure that no process writes the archive. Raises OSError."""
    done = []
    for item in check_archive(root)[2]:
        path = root / item.file
        outcome = repair_bytes(path, path.with_name(f"{path.name}-{item.first:010d}.cut"), item, disk)
        done.append(outcome)
        file = next((file for file in files_in(path.parent) if file.path == path), None)
        if outcome.outcome != "left" and file:
            Manifest(root).add([(path.parent, file)])
    return done


def _look(root: Path) -> Iterator[Damage]:
    listing: Listing = read_listing(root)
    reported: set[tuple[str, int]] = set()
    for folder, listed in sorted(listing.items()):
        found = {(file.start, file.end, file.level): file for file in files_in(root / folder)}
        for file in listed:
            for item in _compare(root, file, found):
                reported.add((folder, file.end))
                yield item
    for of in partitions_in(root):
        name = str(of.folder(root).relative_to(root))
        for before, following in pairwise(files_in(root / name)):
            if before.end < following.start and (name, following.start) not in reported:
                detail = f"the records from {before.end} to {following.start} are missing before it"
                yield _damage(root, "missing", following.path, 0, 0, detail)


def _compare(root: Path, listed: ListedFile, found: Mapping[tuple[int, int, int], ArchivedFile]) -> Iterator[Damage]:
    same = found.get((listed.start, listed.end, listed.level))
    if same is None:
        if not any(file.start <= listed.start and listed.end <= file.end for file in found.values()):
            path = root / listed.folder / f"{listed.start:020d}-{listed.end:020d}.{listed.level}"
            yield _damage(root, "missing", path, 0, listed.size, "is missing")
        return
    with suppress(FileNotFoundError):
        if same.size < listed.size:
            yield _damage(
                root, "shortened", same.path, same.size, listed.size, f"ends at byte {same.size}, but was written up to byte {listed.size}"
            )
        elif same.size > listed.size:
            yield _damage(root, "changed", same.path, listed.size, same.size, f"has {same.size} bytes, not {listed.size}")


def _check_file(root: Path, file: ArchivedFile, on_piece: Callable[[], None]) -> tuple[int, list[Damage]]:
    """The number of readable records of a file, and its damage. Raises FileNotFoundError."""
    gaps: list[UnreadableBytes] = []
    size, count = file.size, 0
    for count, _ in enumerate(walk_records(file.path, 0, size, size, gaps.append), start=1):
        if count % _PIECE_RECORDS == 0:
            on_piece()
    on_piece()
    return count, [_damage(root, "unreadable", file.path, gap.first, gap.end, f"byte {gap.first}: {gap.reason}") for gap in gaps]


def _is_changed(file: ArchivedFile, listed: ListedFile | None) -> bool:
    return listed is not None and listed.checksum is not None and checksum_of(file.path) not in (listed.checksum, listed.replaced)


def _damage(root: Path, kind: str, path: Path, first: int, end: int, detail: str) -> Damage:
    name = _name(root, path)
    return Damage(kind, 0, first, end, f"archive/{name}: {detail}", name)  # type: ignore[arg-type]  # one of the kinds


def _name(root: Path, path: Path) -> str:
    return str(path.relative_to(root))
