"""What design-time statements and facets say, as the store holds it."""

import sqlite3
from collections.abc import Callable

from lineage_bridge.graph.growth import Saying
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.shapes import Shape, make_shape
from lineage_bridge.graph.statements import Meaning, Statement

MeaningOf = Callable[[bytes, str], bytes | None]
"""The meaning of a content's facet under a key."""


def sayings_of(connection: sqlite3.Connection, subject: bytes, job: int) -> list[Saying]:
    """What a design-time statement said, day by day."""
    rows = connection.execute(
        "SELECT first, first_event, last, last_event, content FROM said WHERE subject = ? AND job = ? AND about = ? AND side = ?",
        (subject, job, job, int(Side.SELF)),
    )
    return [Saying(*row) for row in rows]


def declared_shape(connection: sqlite3.Connection, job: int, content: bytes, meaning_of: MeaningOf) -> Shape:
    """The shape of one content of a design-time statement."""
    explicit = meaning_of(content, "lineage")
    statements = [(job, explicit)] if explicit else []
    declared = connection.execute("SELECT side, dataset, facets FROM declared_io WHERE content = ?", (content,)).fetchall()
    for side, dataset, facets in declared:
        meaning = meaning_of(facets, "columnLineage") if side == Side.OUTPUT else None
        if meaning:
            statements.append((dataset, meaning))
    return make_shape(Origin.DECLARED, [(side, dataset) for side, dataset, _ in declared], statements)


def stored_meaning(connection: sqlite3.Connection, content: bytes, key: str) -> bytes | None:
    """The meaning of a stored content's facet, if it has one that can be read."""
    row = connection.execute(
        "SELECT m.meaning FROM content c JOIN facet_meaning m ON m.facet = c.facet AND m.key = c.key WHERE c.content = ? AND c.key = ?",
        (content, key),
    ).fetchone()
    return row[0] if row else None


def read_meaning(connection: sqlite3.Connection, meaning: bytes) -> Meaning:
    """A stored meaning, without the names of its nodes."""
    explicit = connection.execute("SELECT explicit FROM meaning WHERE meaning = ?", (meaning,)).fetchone()[0]
    rows = connection.execute(
        "SELECT target, target_field, source, source_field, type, subtype, masking FROM statement WHERE meaning = ?",
        (meaning,),
    )
    return Meaning(meaning, bool(explicit), tuple(Statement(*row) for row in rows), ())
