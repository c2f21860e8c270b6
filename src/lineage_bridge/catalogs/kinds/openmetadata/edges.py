"""Which edges of lineage a job has in OpenMetadata. Pure.

OpenMetadata has one edge between two datasets, and one pipeline on it. So an edge that belongs to somebody else, or to another job, is
left as it is, and the job is connected as a node: from what it reads to its pipeline, and from there to what it writes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.events import column_fields
from lineage_bridge.catalogs.kinds.openmetadata.catalog import CatalogEntity, FoundDataset, PipelineLineage
from lineage_bridge.catalogs.target import Json
from lineage_bridge.openlineage.event_builder import digest_of

SOURCE: Final = "OpenLineage"
"""The source of all edges that are published, in OpenMetadata's enumeration."""
MOST_PAIRS: Final = 1000
"""A job with more pairs of what it reads and writes is connected as a node."""
NO_COLUMN: Final = "columns that OpenMetadata does not have"
NOT_READ: Final = "columns of datasets that the job does not read there"
NO_EDGE: Final = "columns between datasets whose lineage in OpenMetadata is not the job's"


class JobEdge(NamedTuple):
    """An edge from one dataset to another, or to or from the job's pipeline, which is None here. `columns` are as in requests."""

    source: CatalogEntity | None
    target: CatalogEntity | None
    columns: tuple[Json, ...] = ()

    @property
    def as_json(self) -> Json:
        """The edge as a member of an event."""
        return {"source": self.source, "target": self.target, "columns": self.columns}


class ColumnPair(NamedTuple):
    """A column that is written, and the column that it comes from: fully qualified names, the id of the dataset of each, and how."""

    source_id: str
    target_id: str
    source: str
    target: str
    function: str


def edges_in(event: Json) -> list[JobEdge]:
    """The edges in an event of a job."""
    made = []
    for edge in event.get("edges", ()):
        source, target = (CatalogEntity(*end) if end else None for end in (edge["source"], edge["target"]))
        made.append(JobEdge(source, target, tuple(edge["columns"])))
    return made


def job_edges(
    inputs: Sequence[FoundDataset],
    outputs: Sequence[FoundDataset],
    columns: Sequence[ColumnPair],
    pipeline: str,
    owners: MutableMapping[tuple[str, str], str],
    lost: Counter[str],
) -> list[JobEdge]:
    """The edges of a job between datasets that are there. `pipeline` is the fully qualified name of its pipeline.

    `owners` has the pipeline of each edge that is there or that a job was given before, by the ids of its ends; empty if it has none.
    Edges of this job are added. `lost` counts columns that have no edge.
    """
    pairs = [(source, target) for source in inputs for target in outputs]
    own = {(s.entity, t.entity) for s, t in pairs if len(pairs) <= MOST_PAIRS and _is_free(s.entity, t.entity, pipeline, owners)}
    owners.update({(source.id, target.id): pipeline for source, target in own})
    others = [(s.entity, t.entity) for s, t in pairs if (s.entity, t.entity) not in own]
    begins = {source for source, _ in others} if pairs else {known.entity for known in inputs}
    ends = {target for _, target in others} if pairs else {known.entity for known in outputs}
    ids = {(source.id, target.id) for source, target in own}
    lost[NO_EDGE] += sum((found.source_id, found.target_id) not in ids for found in columns)
    between = [JobEdge(source, target, tuple(_mappings(source, target, columns))) for source, target in sorted(own)]
    return [*between, *(JobEdge(entity, None) for entity in sorted(begins)), *(JobEdge(None, entity) for entity in sorted(ends))]


def _is_free(source: CatalogEntity, target: CatalogEntity, pipeline: str, owners: Mapping[tuple[str, str], str]) -> bool:
    """Whether a job may have the edge between two datasets: it has it, or nobody else does."""
    return source.id != target.id and owners.get((source.id, target.id), pipeline) == pipeline


def owner_of(details: Json) -> str:
    """The fully qualified name of the pipeline that an edge has; empty if it has none."""
    return str((details.get("pipeline") or {}).get("fullyQualifiedName") or "")


def _mappings(source: CatalogEntity, target: CatalogEntity, columns: Iterable[ColumnPair]) -> Iterator[Json]:
    of_edge = [found for found in columns if (found.source_id, found.target_id) == (source.id, target.id)]
    for column in sorted({found.target for found in of_edge}):
        of_column = [found for found in of_edge if found.target == column]
        functions = sorted({found.function for found in of_column if found.function})
        mapping = {"fromColumns": sorted({found.source for found in of_column}), "toColumn": column}
        yield {**mapping, "function": ", ".join(functions)} if functions else mapping


def columns_of(
    dataset: Json, target: FoundDataset, inputs: Mapping[tuple[str, str], FoundDataset], lost: Counter[str]
) -> Iterator[ColumnPair]:
    """The columns of a dataset that a job writes. `inputs` are the datasets that it reads and that are there, by namespace and name."""
    for column, sources in column_fields(dataset):
        for stated in sources:
            source = inputs.get((stated["namespace"], stated["name"]))
            names = (_column(source, stated["field"]), _column(target, column)) if source else ("", "")
            if source is None:
                lost[NOT_READ] += 1
            elif not all(names):
                lost[NO_COLUMN] += 1
            else:
                yield ColumnPair(source.entity.id, target.entity.id, *names, _function(stated.get("transformations")))


def _column(known: FoundDataset, path: str) -> str:
    """The fully qualified name of a column; the case of letters counts only if there are several. Empty if there is none."""
    if path in known.columns:
        return known.columns[path]
    alike = [name for of, name in known.columns.items() if of.lower() == path.lower()]
    return alike[0] if len(alike) == 1 else ""


def _function(transformations: Any) -> str:  # noqa: ANN401  # JSON
    """How a column is made of another one, in words; empty if it is a copy."""
    found = [item for item in transformations or () if isinstance(item, dict)]
    texts = [str(item.get("description") or item.get("subtype") or item.get("type") or "") for item in found]
    return ", ".join(sorted({text for text in texts if text and text != "IDENTITY"}))


# what can be read back


def digest_of_edges(edges: Iterable[JobEdge]) -> str:
    """The digest of a job's edges: how many each dataset has, where they come from, and the columns."""
    found = list(edges)
    sides = [[(edge.source, SOURCE) for edge in found if edge.source], [(edge.target, SOURCE) for edge in found if edge.target]]
    return _digest(sides[0], sides[1], [column for edge in found for column in edge.columns])


def digest_of_lineage(lineage: PipelineLineage) -> str:
    """The digest of the edges that a pipeline has, as that of the edges that it should have."""
    sides = [[(entity, str(details.get("source"))) for entity, details in side] for side in (lineage.upstream, lineage.downstream)]
    columns = [column for _, details in lineage.upstream for column in details.get("columnsLineage") or ()]
    return _digest(sides[0], sides[1], columns)


def _digest(inputs: Iterable[tuple[CatalogEntity, str]], outputs: Iterable[tuple[CatalogEntity, str]], columns: Iterable[Json]) -> str:
    sides = [sorted([entity.kind, entity.name, source] for entity, source in side) for side in (inputs, outputs)]
    return digest_of([*sides, sorted([str(column.get("toColumn")), sorted(column.get("fromColumns") or ())] for column in columns)])
