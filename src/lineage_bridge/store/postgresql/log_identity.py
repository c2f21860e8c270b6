"""The file by which a graph in PostgreSQL recognises the log from which it is computed. The file has the log's identity, and the offset up
to which the graph has read the log.
"""

import re
import secrets
from pathlib import Path
from typing import Final

from lineage_bridge.errors import StoreError
from lineage_bridge.eventlog.disk import replace_file
from lineage_bridge.ports.graph_store import GraphStore
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.postgresql.ownership import GraphOwner, key_digest

_BYTES: Final = 16
_HINT: Final = "correct its rights, or restore it; without it, drop the schema, and the graph is computed again from the log"
_CONTENT: Final = re.compile(r"log ([0-9a-f]{32}), position (\d+)")


def owner_of(file: Path, key: bytes) -> GraphOwner:
    """The owner of the graph that is computed from the log. If the log has no identity yet, it gets one; only one process at a time may
    call this.
    """
    log, position = _read(file)
    if not log:
        log = secrets.token_hex(_BYTES)
        replace_file(file, f"log {log}, position {position}\n".encode())
    return GraphOwner(key_digest(key), log)


def known_position(file: Path) -> int:
    """The stored offset up to which the graph has read the log; 0 if unknown. The pipeline stores it when it starts."""
    try:
        return _read(file)[1]
    except StoreError:
        return 0


def note_position(file: Path, position: int) -> None:
    """Store how far the graph has read the log. Only call this for the data folder of the graph's owner, whose log has an identity."""
    log, noted = _read(file)
    if log and noted != position:
        replace_file(file, f"log {log}, position {position}\n".encode())


def require_log(file: Path, schema: str, store: GraphStore, end: int) -> None:
    """Raise StoreError if the graph has read beyond `end`, the end of the log; otherwise store how far the graph has read. A log that ends
    earlier may be an old copy: its next records would be mistaken for records that the graph already has.
    """
    position = store.position(LOG_SOURCE).get(0, 0)
    if position > max(end, known_position(file)):
        raise StoreError(
            f"the graph in the schema {schema} of PostgreSQL has read the log up to {position}, but the log ends at {end}",
            "the log was restored from an older copy, or the graph from a newer one: compute it again from this log with "
            "lineage-bridge replay --anyway, or name another schema: store_schema",
        )
    note_position(file, position)


def _read(file: Path) -> tuple[str, int]:
    """The identity of the log (empty if it has none) and the stored offset. Raises StoreError if the file cannot be read."""
    try:
        found = _CONTENT.fullmatch(file.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        return "", 0
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{file} cannot be read: {error}", _HINT) from error
    if not found:
        raise StoreError(f"{file} does not contain the identity of a log", _HINT)
    return found[1], int(found[2])
