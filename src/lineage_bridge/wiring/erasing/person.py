"""Erases a person's identifier beside the log: in the state database and its copy, and in whatever else the data folder contains."""

from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.archive.progress import NAME as COUNTS
from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.erasing.masking import masked_texts
from lineage_bridge.eventlog.erasing.rewriting import is_chosen_in, pieces_of
from lineage_bridge.eventlog.erasing.selection import bodies_with, choose_records
from lineage_bridge.model.audit import Change
from lineage_bridge.model.erasing.erasure import PERSON, ErasureRequest
from lineage_bridge.store.state.erasures import drop_messages, erase_rows, rows_left
from lineage_bridge.wiring.audit import audit_repository, audit_trail, by_command
from lineage_bridge.wiring.shared import state_database

AUDIT = "audit"
_REMOVABLE = ("logs/*", f"archive/*/{COUNTS}")
"""Files that are removed if they contain the identifier. The counts of an input are computed again from its files."""
_REQUESTS = "erasing/"


def rows_in_state(settings: Settings, request: ErasureRequest) -> dict[str, int]:
    """How many rows of each table of the state database an erasure would delete or mask."""
    state = state_database(settings)
    if request.kind != PERSON:
        return drop_messages(state, bodies_with(request), dry_run=True)
    identifier = PersonIdentifier(request.name)
    found = erase_rows(state, identifier.is_in, partial(masked_texts, identifier=identifier), dry_run=True)
    changes = sum(1 for entry in audit_repository(settings).all() if entry.change and _is_in_change(entry.change, identifier))
    return {**found, AUDIT: changes} if changes else found


def erase_in_state(settings: Settings, request: ErasureRequest) -> dict[str, int]:
    """Erase in the state database, write its file and its copy again, and record the erasure in the audit trail. Returns how many rows of
    each table were deleted or masked.

    Of the audit trail's entries, the time, the kind of change and the hashes stay, so that it can be verified. Raises StoreError.
    """
    state = state_database(settings)
    by = by_command("erase", request.id)
    if request.kind == PERSON:
        identifier = PersonIdentifier(request.name)
        found = erase_rows(state, identifier.is_in, partial(masked_texts, identifier=identifier), dry_run=False)
        changes = audit_trail(settings).erase_changes(lambda change: _is_in_change(change, identifier), by)
        found = {**found, AUDIT: changes} if changes else found
    else:
        found = drop_messages(state, bodies_with(request), dry_run=False)
        audit_trail(settings).record(by)
        state.compact()
    state.copy_to(settings.paths.state_copy)
    return found


def is_in_graph(paths: DataFolder, request: ErasureRequest) -> bool:
    """Whether the files of the graph contain a person's identifier, such as from events that the log has lost."""
    if request.kind != PERSON:
        return False
    identifier = PersonIdentifier(request.name)
    files = [path for path in sorted(paths.data_dir.glob(f"{paths.graph.name}*")) if path.is_file()]
    return any(identifier.is_written_in(piece) for path in files for piece in pieces_of(path))


def find_what_is_left(settings: Settings, request: ErasureRequest, on_step: Callable[[str], None]) -> tuple[list[str], list[str]]:
    """Search every file of the data folder for an identifier. Returns where it remains, and which files were removed because of it."""
    identifier, paths = PersonIdentifier(request.name), settings.paths
    left = [f"{table} in state.db ({count})" for table, count in rows_left(state_database(settings), identifier.is_in).items()]
    removed = []
    for path in sorted(path for path in paths.data_dir.rglob("*") if path.is_file()):
        name = str(path.relative_to(paths.data_dir))
        if name.startswith(_REQUESTS):
            continue
        on_step(name)
        shown = identifier.masked(name.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
        is_there = identifier.is_in(name.encode("utf-8", "surrogateescape"))
        is_there = is_there or _is_in_file(path, request, identifier)
        if is_there and any(fnmatch(name, pattern) for pattern in _REMOVABLE):
            path.unlink()
            removed.append(shown)
        elif is_there and not (path == paths.state and left):
            left.append(shown)
    return left, removed


def _is_in_file(path: Path, request: ErasureRequest, identifier: PersonIdentifier) -> bool:
    """Whether a file contains the identifier: a file of records outside of what belongs to their format, such as the digits of offsets."""
    try:
        return any(map(identifier.is_written_in, pieces_of(path))) and is_chosen_in(path, choose_records(request))
    except LogError:
        return True


def _is_in_change(change: Change, identifier: PersonIdentifier) -> bool:
    texts = (change.principal, change.origin, change.target, change.details)
    return any(identifier.is_in(text.encode("utf-8", "surrogatepass")) for text in texts)
