"""Suggests where a trace may continue after a flow without column lineage: in columns of the same name in the next dataset. These are
guesses by name, not facts.
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from lineage_bridge.graph.contents.schema_versions import paths
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.lineage import Gap, Trace
from lineage_bridge.openlineage.facets import SchemaDatasetFacet, read_as
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.stewardship import facets_at

MOST: Final = 100
"""How many suggestions one answer has."""
_SCHEMA: Final = "schema"
_BETWEEN_WORDS: Final = re.compile(r"[\s_-]+")
_Column = tuple[int, str]
"""The id of a dataset's canonical node, and a field."""


@dataclass(frozen=True)
class Suggestion:
    """A column behind a gap of a trace (`node`, `field`) whose name is that of a traced column before it (`near`, `near_field`)."""

    gap: Gap
    near: Node
    near_field: str
    node: Node
    field: str


@dataclass(frozen=True)
class Suggestions:
    """Suggestions in the order of the gaps. `cut`: why there may be more of them: `suggestions` (there are), `gaps` (not all gaps are
    listed), `time`; empty if there are none.
    """

    items: tuple[Suggestion, ...]
    cut: str


def read_suggestions(graph: GraphReader, trace: Trace, at_us: int | None, seconds: float) -> Suggestions:
    """Columns behind the listed gaps of a trace that have the name of a traced column before it, whatever its case and however its words
    are joined (`customerId`, `customer_id`), also if one of the two is within others (`after.email`, `email`). Columns in which the trace
    ended, such as masked ones, are not compared, and columns that the trace reached are not suggested. Stops after `seconds`, between two
    datasets.
    """
    ends = time.monotonic() + seconds
    canonical = partial(_canonical, graph, {})
    reached = {(canonical(column.node), column.field) for column in trace.columns}
    traced: dict[int, dict[str, str]] = {}
    for column in trace.columns:
        if column.distance is not None and (plain := _plain(column.field)):
            traced.setdefault(canonical(column.node), {}).setdefault(plain, column.field)
    schemas: dict[int, tuple[str, ...]] = {}
    found: dict[tuple[_Column, _Column], Suggestion] = {}
    for gap in trace.coverage.gaps:
        near, far = (gap.target, gap.source) if trace.options.direction == "upstream" else (gap.source, gap.target)
        fields = traced.get(canonical(near), {})
        if not fields or NodeKind.JOB in (near.kind, far.kind) or canonical(near) == canonical(far):
            continue
        if canonical(far) not in schemas:
            if time.monotonic() >= ends:
                return Suggestions(tuple(found.values()), "time")
            schemas[canonical(far)] = _columns(graph, far, at_us)
        for field, alike in _alike(fields, schemas[canonical(far)], reached, canonical(far)):
            pair = (canonical(near), field), (canonical(far), alike)
            if len(found) == MOST and pair not in found:
                return Suggestions(tuple(found.values()), "suggestions")
            found.setdefault(pair, Suggestion(gap, near, field, far, alike))
    return Suggestions(tuple(found.values()), "gaps" if len(trace.coverage.gaps) < trace.coverage.without_columns else "")


def _alike(fields: Mapping[str, str], columns: tuple[str, ...], reached: Collection[_Column], dataset: int) -> Iterator[tuple[str, str]]:
    """The traced fields with the columns that have the same name and were not reached; first those of the same path, then those where one
    of the two is within others (`after.email`, `email`).
    """
    unreached = [(column, _plain(column)) for column in columns if (dataset, column) not in reached]
    for column, plain in unreached:
        if plain in fields:
            yield fields[plain], column
    within: dict[str, str] = {}
    for plain, field in fields.items():
        if "." in plain:
            within.setdefault(_last(plain), field)
    for column, plain in unreached:
        nested = fields.get(_last(plain)) if "." in plain else within.get(plain)
        if nested is not None and plain not in fields:
            yield nested, column


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _canonical(graph: GraphReader, known: dict[int, int], node: Node) -> int:
    if node.id not in known:
        known[node.id] = graph.nodes.group(node)[0].id
    return known[node.id]


def _columns(graph: GraphReader, dataset: Node, at_us: int | None) -> tuple[str, ...]:
    """The columns of a dataset's schema, those within others by their whole path, in the order of the schema."""
    text = facets_at(graph, dataset, (_SCHEMA,), at_us).get(_SCHEMA, "")
    facet = read_as(SchemaDatasetFacet, "dataset", _SCHEMA, text.encode()) if text else None
    return tuple(".".join(path) for path in paths((facet.fields if facet else None) or ()))


def _plain(field: str) -> str:
    """A name without the case of its letters and without what joins its words."""
    return _BETWEEN_WORDS.sub("", field).casefold()
