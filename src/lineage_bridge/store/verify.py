"""Verification: every derived value computed again from the relations, and compared with what the store keeps."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from lineage_bridge.graph.derive import derive
from lineage_bridge.graph.facts import Names
from lineage_bridge.graph.fold import Tables
from lineage_bridge.graph.relations import BY_NAME, Row
from lineage_bridge.store.identity import Identities
from lineage_bridge.store.stitching import is_on

_NEEDED = ("node", "run", "run_io", "said", "content", "declared_io", "facet", "alias")
_STORED = {
    "present": "present",
    "spoken": "spoken",
    "job_shape": "job_shape",
    "job_io": "job_io",
    "flow": "flow",
    "hub": "hub",
    "hub_io": "hub_io",
    "job_statement": "job_statement",
    "remark": "remark",
    "sibling": "sibling",
    "stitch": "stitch",
    "current_facet": "current_facet",
    "search_text": "search_text",
    "symlink": "symlink",
    "symlink_said": "symlink_said",
    "respelt": "respelt",
    "respaced": "respaced",
}
MAY_HOLD_MORE = frozenset({"spoken"})
"""Tables that only tell where to look: a row too many costs a look."""


class Difference(NamedTuple):
    """One derived table: rows in the store, rows it should not have, rows it lacks."""

    table: str
    rows: int
    surplus: int
    missing: int


def verify(connection: sqlite3.Connection, names: Names) -> Iterator[Difference]:
    """Compare each derived table, in turn. Works on one moment of the store; needs memory for its relations."""
    derived = derive(read_tables(connection), names, stitch=is_on(connection))
    for table, stored in _STORED.items():
        kept = {tuple(row) for row in connection.execute(f'SELECT * FROM "{stored}"')}
        wanted = derived.get(table, set())
        yield Difference(table, len(kept), 0 if table in MAY_HOLD_MORE else len(kept - wanted), len(wanted - kept))
    groups = {known[:4] for known in Identities(connection).all()}
    wanted = derived.get("identity", set())
    yield Difference("identity", len(groups), len(groups - wanted), len(wanted - groups))
    kept = {(row[0],) for row in connection.execute("SELECT id FROM node")}
    wanted = derived.get("live", set())
    yield Difference("node", len(kept), len(kept - wanted), len(wanted - kept))


def read_tables(connection: sqlite3.Connection) -> Tables:
    """The relations that derived values are made of."""
    tables: Tables = {name: {} for name in BY_NAME}
    for name in _NEEDED:
        relation = BY_NAME[name]
        columns = ", ".join(f'"{column}"' for column in relation.names)
        size = relation.key_size
        rows: dict[Row, Row] = {row[:size]: row[size:] for row in connection.execute(f'SELECT {columns} FROM "{name}"')}
        tables[name] = rows
    return tables
