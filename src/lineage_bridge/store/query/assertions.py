"""Reads the assertions of runs and design-time statements, and the facets in them, from the store."""

from collections.abc import Callable

from lineage_bridge.graph.flows.run_shape import NamedDataset, StatedLineage, declaring_keys, is_mark, is_snapshot, run_shape
from lineage_bridge.graph.flows.shape_history import DeclaredOnDay, ShapeHistory
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import LineageSet, LineageStatement
from lineage_bridge.store.connection import StoreConnection

LineageSetOf = Callable[[bytes, str], bytes | None]
"""The id of the lineage set of the facet under a key in a facet set."""

_STATES_FLOW = """(EXISTS (SELECT 1 FROM declared_io d WHERE d.facet_set = s.facet_set) OR EXISTS (
SELECT 1 FROM facet_set c JOIN facet f ON f.facet = c.facet LEFT JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key
WHERE c.facet_set = s.facet_set AND (c.key = 'lineage' OR (c.key = 'columnLineage' AND s.job = 0))
AND (f.deleted = 1 OR m.lineage_set IS NOT NULL)))"""
_DECLARATIONS = f"""SELECT s.first, s.first_event, s.last, s.last_event, s.facet_set FROM assertion s
WHERE s.asserted_by = :asserted_by AND s.job IN (:job, 0) AND s.node = :job AND s.side = {int(Side.SELF)} AND {_STATES_FLOW}"""
_NOW = 2**63 - 1
_AT = "CASE WHEN last <= :at THEN last ELSE first END"
_FACET_SETS = f"""SELECT facet_set, max({_AT}) FROM assertion
WHERE asserted_by = :asserted_by AND job = :job AND node = :node AND side = :side AND first <= :at GROUP BY facet_set"""
_NAMINGS = f"""SELECT side, dataset, min(first), max({_AT}) FROM run_io
WHERE run = :asserted_by AND job = :job AND first <= :at GROUP BY dataset, side"""
_STATED = "SELECT carrier, lineage_set, first, 0 FROM run_lineage_set WHERE asserted_by = :asserted_by AND job = :job AND first <= :at"


def declarations_of(connection: StoreConnection, asserter: bytes, job: int) -> list[DeclaredOnDay]:
    """The facet sets that a design-time statement asserted, day by day. `job` is the dataset itself if the statement names no job."""
    return [DeclaredOnDay(*row) for row in connection.execute(_DECLARATIONS, {"asserted_by": asserter, "job": job})]


def declared_shape(connection: StoreConnection, job: int, facet_set: bytes, lineage_set_of: LineageSetOf) -> Shape:
    """The shape of one facet set of a design-time statement. If the statement names no job, `job` is the dataset that it is about."""
    row = connection.execute("SELECT kind FROM node WHERE id = ?", (job,)).fetchone()
    keys = declaring_keys(job if row and row[0] == NodeKind.JOB else 0)
    declared = connection.execute("SELECT side, dataset, dataset_facet_set FROM declared_io WHERE facet_set = ?", (facet_set,)).fetchall()
    stated = [(job, facet_set, key) for key in keys]
    stated += [(dataset, facets, "columnLineage") for side, dataset, facets in declared if side == Side.OUTPUT]
    statements = [(carrier, lineage_set) for carrier, facets, key in stated if (lineage_set := lineage_set_of(facets, key))]
    return make_shape(Origin.DECLARED, [(side, dataset) for side, dataset, _ in declared], statements)


def shape_at(connection: StoreConnection, asserter: bytes, job: int, at_us: int) -> tuple[Shape, ShapeHistory]:
    """The shape of a run by its assertions until a time."""
    values = {"asserted_by": asserter, "job": job, "at": at_us}
    namings = [NamedDataset(*row) for row in connection.execute(_NAMINGS, values)]
    stated = [StatedLineage(*row) for row in connection.execute(_STATED, values)]

    def lineage_set_of(facet_set: bytes, key: str) -> bytes | None:
        return stored_lineage_set(connection, facet_set, key)

    return run_shape(job, namings, dated(connection, (asserter, job), stated, lineage_set_of, at_us))


def dated(
    connection: StoreConnection, who: tuple[bytes, int], stated: list[StatedLineage], lineage_set_of: LineageSetOf, at_us: int = _NOW
) -> list[StatedLineage]:
    """The lineage that a run of a job has stated, with the last time of each statement. The times are only looked up where they matter: for
    a run that sends complete snapshots and has stated several lineage sets for one carrier.
    """
    if not any(is_snapshot(row.lineage_set) for row in stated):
        return stated
    (asserter, job), carriers = who, [row.carrier for row in stated if not is_mark(row.lineage_set)]
    lasts: dict[tuple[int, bytes | None], int] = {}
    for carrier in {carrier for carrier in carriers if carriers.count(carrier) > 1}:
        side, key = (Side.SELF, "lineage") if carrier == job else (Side.OUTPUT, "columnLineage")
        values = {"asserted_by": asserter, "job": job, "node": carrier, "side": int(side), "at": at_us}
        for facet_set, last in connection.execute(_FACET_SETS, values).fetchall():
            lineage_set = lineage_set_of(facet_set, key)
            lasts[carrier, lineage_set] = max(last, lasts.get((carrier, lineage_set), last))
    return [row._replace(last=lasts.get((row.carrier, row.lineage_set), 0)) for row in stated]


def stored_lineage_set(connection: StoreConnection, facet_set: bytes, key: str) -> bytes | None:
    """The id of the lineage set of a facet in a stored facet set, if there is a valid one."""
    row = connection.execute(
        "SELECT m.lineage_set FROM facet_set c JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key "
        "WHERE c.facet_set = ? AND c.key = ?",
        (facet_set, key),
    ).fetchone()
    return row[0] if row else None


def read_lineage_set(connection: StoreConnection, lineage_set: bytes) -> LineageSet:
    """A stored lineage set, without the names of its nodes."""
    explicit = connection.execute("SELECT explicit FROM lineage_set WHERE lineage_set = ?", (lineage_set,)).fetchone()[0]
    rows = connection.execute(
        "SELECT target, target_field, source, source_field, type, subtype, masking FROM column_statement WHERE lineage_set = ?",
        (lineage_set,),
    )
    return LineageSet(lineage_set, bool(explicit), tuple(LineageStatement(*row) for row in rows), ())
