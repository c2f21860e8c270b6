"""Verifies derived values: computes each again from the relations, and compares it with the stored one."""

from collections.abc import Callable, Iterator

from lineage_bridge.errors import StoreDamagedError
from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.model.verification import Difference
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.stitching import is_on
from lineage_bridge.store.identity.groups import Identities

_NEEDED = ("node", "run", "run_io", "assertion", "facet_set", "declared_io", "facet", "alias")
STORED = (
    "run_shape",
    "run_shape_day",
    "run_lineage_set",
    "mentioned_node",
    "shape",
    "shape_io",
    "shape_lineage_set",
    "shape_flow",
    "hub_io",
    "job_shape",
    "job_io",
    "flow",
    "hub",
    "job_lineage_set",
    "facet_lineage_set",
    "facet_node",
    "lineage_set",
    "column_statement",
    "annotation",
    "sibling",
    "stitch",
    "current_facet",
    "search_text",
    "job_symlinks",
    "symlink",
    "symlink_evidence",
    "namespace_claim",
    "namespace_claim_evidence",
    "name_alias",
    "namespace_alias",
)
"""Tables whose rows equal those that `derive` returns under their name."""
MAY_HOLD_MORE = frozenset({"mentioned_node"})
"""Tables that are only used to narrow a search. A surplus row costs time, but answers stay correct."""
WAITING = ("derive_queue", "search_queue", "stitch_queue")
"""Tables of keys that are still to be derived: until they are empty, the others may differ."""
SEARCH = {"node_search": "SELECT id FROM node", "node_search_text": "SELECT node FROM search_text"}
"""Full-text indexes, each with the query for the ids that it must contain."""
APART = frozenset({"position", "change", "change_epoch", "rule"})
"""Tables about the store's own history, and about the rules that were in effect; these are not compared."""


def verify(connection: StoreConnection, names: Names, on_progress: Callable[[str], None] = lambda _: None) -> Iterator[Difference]:
    """Compare each derived table, one after the other, within one read transaction. Keeps the relations in memory.

    `on_progress` is called with the name of each step. Raises StoreDamagedError if relations refer to nodes or facets that the store lacks.
    """
    on_progress("reading the relations")
    tables = read_tables(connection)
    _require_whole(tables, connection.dialect.replayed)
    on_progress("deriving")
    derived = derive(tables, names, stitch=is_on(connection))
    del tables
    for table in STORED:
        on_progress(table)
        kept = {tuple(row) for row in connection.scan(f'SELECT * FROM "{table}"')}
        expected = derived.pop(table, set())
        yield Difference(table, len(kept), 0 if table in MAY_HOLD_MORE else len(kept - expected), len(expected - kept))
    groups = {identity[:4] for identity in Identities(connection).all()}
    expected = derived.get("identity", set())
    yield Difference("identity", len(groups), len(groups - expected), len(expected - groups))
    kept = {tuple(row) for row in connection.scan("SELECT id, first FROM node")}
    expected = derived.get("live", set())
    yield Difference("node", len(kept), len(kept - expected), len(expected - kept))
    for index, ids in SEARCH.items():
        yield _indexed(connection, index, ids)
    for table in WAITING:
        waiting = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        yield Difference(table, waiting, waiting, 0)


def _require_whole(tables: Tables, hint: str) -> None:
    """Raise StoreDamagedError, with a hint, if a node or facet that a relation refers to is missing, because nothing can then be
    derived.
    """
    asserted = {key[5] for key in tables["assertion"]}
    declared = [row for row in tables["declared_io"] if row[0] in asserted]
    nodes = {key[2] for key in tables["run_io"]} | {row[2] for row in declared}
    nodes.update(node for _, job, other, *_ in tables["assertion"] for node in (job, other))
    lost_nodes = nodes - {0} - {key[0] for key in tables["node"]}
    asserted.update(row[3] for row in declared)
    facets = {facet for (facet_set, _), (facet,) in tables["facet_set"].items() if facet_set in asserted}
    lost_facets = facets - {key[0] for key in tables["facet"]}
    if lost_nodes or lost_facets:
        lost = f"{len(lost_nodes)} datasets or jobs, and {len(lost_facets)} facets"
        raise StoreDamagedError(f"the graph is damaged: {lost} that it refers to are missing", hint)


def _indexed(connection: StoreConnection, index: str, ids: str) -> Difference:
    """Whether a full-text index has exactly the rows that it should have."""
    kept = connection.dialect.full_text.keys(index)
    counts = (f"SELECT count(*) FROM ({sql}) k" for sql in (kept, f"{kept} EXCEPT {ids}", f"{ids} EXCEPT {kept}"))
    return Difference(index, *(connection.execute(sql).fetchone()[0] for sql in counts))


def read_tables(connection: StoreConnection) -> Tables:
    """Load the relations from which derived values are computed."""
    tables: Tables = {name: {} for name in BY_NAME}
    for name in _NEEDED:
        relation = BY_NAME[name]
        columns = ", ".join(f'"{column}"' for column in relation.names)
        size = relation.key_size
        rows: dict[Row, Row] = {row[:size]: row[size:] for row in connection.scan(f'SELECT {columns} FROM "{name}"')}
        tables[name] = rows
    return tables
