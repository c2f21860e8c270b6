"""Records which installation's graph a schema of PostgreSQL contains. The comments of the tables name the installation, so that no other
one writes to them by mistake.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final

from lineage_bridge.errors import StoreError
from lineage_bridge.store.postgresql.schema import marks

_OWNED: Final = re.compile(r", key ([0-9a-f]+), log ([0-9a-f]+)")
_DIGITS: Final = 32


@dataclass(frozen=True)
class GraphOwner:
    """The installation that writes a graph: a digest of the key with which node ids are hashed, and the identity of the log, both in hex. A
    copy of a data folder has the same key as the original, but another log.
    """

    key: str
    log: str

    def __str__(self) -> str:
        """The text by which the comment of a table names the owner."""
        return f", key {self.key}, log {self.log}"


def key_digest(key: bytes) -> str:
    """The digest of the installation's key, as `GraphOwner` contains it."""
    return hashlib.sha256(b"owner of a graph" + key).hexdigest()[:_DIGITS]


def require_owner(connection: Any, schema: str, owner: GraphOwner) -> None:  # noqa: ANN401 - as in schema.py
    """Raise StoreError if the schema that `connection` works in has tables of another installation's graph.

    Only reads the comments of tables, so this also works for tables of another version.
    """
    for table, comment in marks(connection).items():
        found = _OWNED.search(comment)
        if found is None:
            raise StoreError(
                f"the table {table} in the schema {schema} of PostgreSQL does not name the installation that it belongs to",
                "drop the schema, and the graph is computed again from the log, or name another schema: store_schema",
            )
        if found[1] != owner.key:
            raise StoreError(
                f"the schema {schema} of PostgreSQL was written with another key than the one of this data folder",
                "name another schema: store_schema; or restore state.db, which has the key; or drop the schema",
            )
        if found[2] != owner.log:
            raise StoreError(
                f"the graph in the schema {schema} of PostgreSQL was computed from another log with the same key",
                "this data folder is a copy, was restored, or has lost its file graph.owner: name another schema (store_schema); or, if no "
                "other server uses that graph, drop the schema: the graph is computed again from this log",
            )
