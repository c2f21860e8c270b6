"""The assertions of runs, design-time statements and facets, as the store holds them."""

from collections.abc import Callable

from lineage_bridge.graph.flows.run_shape import NamedDataset, StatedLineage, declaring_keys, is_mark, is_snapshot, run_shape
from lineage_bridge.graph.flows.shape_history import DeclaredOnDay, ShapeHistory
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import LineageSet, LineageStatement
from lineage_bridge.store.connection import StoreConnection

MeaningOf = Callable[[bytes, str], bytes | None]
"""The meaning of a content's facet under a key."""

_SPEAKING_OF_FLOW = """(EXISTS (SELECT 1 FROM declared_io d WHERE d.facet_set = s.facet_set) OR EXISTS (
SELECT 1 FROM facet_set c JOIN facet f ON f.facet = c.facet LEFT JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key
WHERE c.facet_set = s.facet_set AND (c.key = 'lineage' OR (c.key = 'columnLineage' AND s.job = 0))
AND (f.deleted = 1 OR m.lineage_set IS NOT NULL)))"""
_SAYINGS = f"""SELECT s.first, s.first_event, s.last, s.last_event, s.facet_set FROM assertion s
WHERE s.asserted_by = :asserted_by AND s.job IN (:job, 0) AND s.node = :job AND s.side = {int(Side.SELF)} AND {_SPEAKING_OF_FLOW}"""
_NOW = 2**63 - 1
_AT = "CASE WHEN last <= :at THEN last ELSE first END"
_CONTENTS = f"""SELECT facet_set, max({_AT}) FROM assertion
WHERE asserted_by = :asserted_by AND job = :job AND node = :node AND side = :side AND first <= :at GROUP BY facet_set"""
_NAMINGS = f"""SELECT side, dataset, min(first), max({_AT}) FROM run_io
WHERE run = :asserted_by AND job = :job AND first <= :at GROUP BY dataset, side"""
_STATED = "SELECT carrier, lineage_set, first, 0 FROM run_lineage_set WHERE asserted_by = :asserted_by AND job = :job AND first <= :at"


def sayings_of(connection: StoreConnection, subject: bytes, job: int) -> list[DeclaredOnDay]:
    """The flow that a design-time statement asserted, day by day; `job` is the dataset itself when the statement names no job."""
    return [DeclaredOnDay(*row) for row in connection.execute(_SAYINGS, {"asserted_by": subject, "job": job})]


def declared_shape(connection: StoreConnection, job: int, content: bytes, meaning_of: MeaningOf) -> Shape:
    """The shape of one content of a design-time statement; `job` is the dataset it is about when it names no job."""
    row = connection.execute("SELECT kind FROM node WHERE id = ?", (job,)).fetchone()
    spoken_of = declaring_keys(job if row and row[0] == NodeKind.JOB else 0)
    declared = connection.execute("SELECT side, dataset, dataset_facet_set FROM declared_io WHERE facet_set = ?", (content,)).fetchall()
    said = [(job, content, key) for key in spoken_of]
    said += [(dataset, facets, "columnLineage") for side, dataset, facets in declared if side == Side.OUTPUT]
    statements = [(carrier, meaning) for carrier, facets, key in said if (meaning := meaning_of(facets, key))]
    return make_shape(Origin.DECLARED, [(side, dataset) for side, dataset, _ in declared], statements)


def shape_at(connection: StoreConnection, subject: bytes, job: int, at_us: int) -> tuple[Shape, ShapeHistory]:
    """The shape of a run by its assertions until a time."""
    values = {"asserted_by": subject, "job": job, "at": at_us}
    namings = [NamedDataset(*row) for row in connection.execute(_NAMINGS, values)]
    stated = [StatedLineage(*row) for row in connection.execute(_STATED, values)]

    def meaning_of(content: bytes, key: str) -> bytes | None:
        return stored_meaning(connection, content, key)

    return run_shape(job, namings, dated(connection, (subject, job), stated, meaning_of, at_us))


def dated(
    connection: StoreConnection, who: tuple[bytes, int], stated: list[StatedLineage], meaning_of: MeaningOf, at_us: int = _NOW
) -> list[StatedLineage]:
    """What a run (with its job) stated, and when last where that decides: for several meanings of one carrier in snapshots."""
    if not any(is_snapshot(row.lineage_set) for row in stated):
        return stated
    (subject, job), carriers = who, [row.carrier for row in stated if not is_mark(row.lineage_set)]
    lasts: dict[tuple[int, bytes | None], int] = {}
    for carrier in {carrier for carrier in carriers if carriers.count(carrier) > 1}:
        side, key = (Side.SELF, "lineage") if carrier == job else (Side.OUTPUT, "columnLineage")
        values = {"asserted_by": subject, "job": job, "node": carrier, "side": int(side), "at": at_us}
        for content, last in connection.execute(_CONTENTS, values).fetchall():
            meaning = meaning_of(content, key)
            lasts[carrier, meaning] = max(last, lasts.get((carrier, meaning), last))
    return [row._replace(last=lasts.get((row.carrier, row.lineage_set), 0)) for row in stated]


def stored_meaning(connection: StoreConnection, content: bytes, key: str) -> bytes | None:
    """The meaning of a stored content's facet, if it has one that can be read."""
    row = connection.execute(
        "SELECT m.lineage_set FROM facet_set c JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key "
        "WHERE c.facet_set = ? AND c.key = ?",
        (content, key),
    ).fetchone()
    return row[0] if row else None


def read_lineage_set(connection: StoreConnection, meaning: bytes) -> LineageSet:
    """A stored meaning, without the names of its nodes."""
    explicit = connection.execute("SELECT explicit FROM lineage_set WHERE lineage_set = ?", (meaning,)).fetchone()[0]
    rows = connection.execute(
        "SELECT target, target_field, source, source_field, type, subtype, masking FROM column_statement WHERE lineage_set = ?",
        (meaning,),
    )
    return LineageSet(meaning, bool(explicit), tuple(LineageStatement(*row) for row in rows), ())
