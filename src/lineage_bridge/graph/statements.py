"""Statements: what a lineage-bearing facet says, read once when the text is first seen.

A facet becomes a *meaning*: the sorted set of its statements, under its hash. Two facets that say the same in other words have one meaning,
so a producer that writes a new text for the same lineage each time does not make a new shape each time.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from lineage_bridge.graph.facts import Names
from lineage_bridge.graph.identity import symlinks
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Row
from lineage_bridge.openlineage import facets as standard

OWN = 0
"""Stands for the carrier of a facet (the dataset of columnLineage, the job of lineage) where a node id is expected."""
NO_SOURCE = "-"
"""The type of a statement that its target has no upstream."""


class Statement(NamedTuple):
    """One source of one target. Empty fields mean the whole dataset; `type` and `subtype` are empty when unknown."""

    target: int
    target_field: str
    source: int
    source_field: str
    type: str
    subtype: str
    masking: int


class Meaning(NamedTuple):
    """What one facet says. `nodes` are rows of the relation node for the names it uses."""

    id: bytes
    explicit: bool
    statements: tuple[Statement, ...]
    nodes: tuple[Row, ...]


def read_meaning(key: str, text: bytes, names: Names) -> Meaning | None:
    """The meaning of a `columnLineage` facet of a dataset or a `lineage` facet of a job; None when it says nothing that can be read."""
    reader = _Reader(names)
    if key == "columnLineage":
        facet = standard.read("dataset", key, text)
        said = reader.columns(facet) if isinstance(facet, standard.ColumnLineageDatasetFacet) else iter(())
    else:
        facet = standard.read("job", key, text)
        said = reader.entries(facet) if isinstance(facet, standard.LineageJobFacet) else iter(())
    statements = tuple(sorted(set(said)))
    if not statements:
        return None
    digest = blake2b(repr((key, [tuple(s) for s in statements])).encode("utf-8", "surrogatepass"), digest_size=16, person=b"meaning")
    return Meaning(digest.digest(), key == "lineage", statements, tuple(sorted(reader.nodes)))


def named_nodes(key: str, text: bytes, names: Names) -> tuple[Row, ...]:
    """The nodes, as rows of the relation node, that a facet of NAMING_KEYS, or a run's parent facet, names."""
    if key == "parent":
        return _parents(text, names)
    if key == "jobDependencies":
        return _dependencies(text, names)
    if key == "lifecycleStateChange":
        change = standard.read_as(standard.LifecycleStateChangeDatasetFacet, "dataset", key, text)
        was = change.previousIdentifier if change else None
        return ((names.dataset(was.namespace, was.name), int(NodeKind.DATASET), was.namespace, was.name),) if was else ()
    if key == "symlinks":
        found = {(namespace, name) for namespace, name, _ in symlinks(text)}
        return tuple(sorted((names.dataset(*name), int(NodeKind.DATASET), *name) for name in found))
    meaning = read_meaning(key, text, names)
    return meaning.nodes if meaning else ()


def _parents(text: bytes, names: Names) -> tuple[Row, ...]:
    facet = standard.read_as(standard.ParentRunFacet, "run", "parent", text)
    jobs = [facet.job, *([facet.root.job] if facet.root else [])] if facet else []
    return tuple((names.job(job.namespace, job.name), int(NodeKind.JOB), job.namespace, job.name) for job in jobs)


def _dependencies(text: bytes, names: Names) -> tuple[Row, ...]:
    facet = standard.read_as(standard.JobDependenciesRunFacet, "run", "jobDependencies", text)
    found = (
        {(other.job.namespace, other.job.name) for others in (facet.upstream, facet.downstream) for other in others or ()} if facet else ()
    )
    return tuple(sorted((names.job(*name), int(NodeKind.JOB), *name) for name in found))


class _Reader:
    """Reads facets to statements, collecting the nodes they name."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: set[Row] = set()

    def dataset(self, namespace: str, name: str) -> int:
        id_ = self.names.dataset(namespace, name)
        self.nodes.add((id_, int(NodeKind.DATASET), namespace, name))
        return id_

    def job(self, namespace: str | None, name: str | None) -> int:
        if not namespace or not name:
            return OWN
        id_ = self.names.job(namespace, name)
        self.nodes.add((id_, int(NodeKind.JOB), namespace, name))
        return id_

    def columns(self, facet: "standard.ColumnLineageDatasetFacet") -> Iterator[Statement]:
        for field, column in facet.fields.items():
            for source in column.inputFields or ():
                yield from self._column(field, source, column.transformationType or "")
        for source in facet.dataset or ():
            yield from self._column("", source, "")

    def _column(self, field: str, source: "standard.InputField", deprecated_type: str) -> Iterator[Statement]:
        id_ = self.dataset(source.namespace, source.name)
        if source.transformations:
            for change in source.transformations:
                yield Statement(
                    OWN,
                    field,
                    id_,
                    source.field or "",
                    change.type or "",
                    change.subtype or "",
                    int(bool(change.masking)),
                )
        else:
            yield Statement(OWN, field, id_, source.field or "", *_deprecated(deprecated_type), 0)

    def entries(self, facet: "standard.LineageJobFacet") -> Iterator[Statement]:
        for entry in facet.entries:
            target = (
                self.dataset(entry.namespace or "", entry.name or "") if entry.type == "DATASET" else self.job(entry.namespace, entry.name)
            )
            if entry.inputs is not None and not entry.inputs:
                yield Statement(target, "", OWN, "", NO_SOURCE, "", 0)
            for source in entry.inputs or ():
                yield from self._entry(target, "", source)
            for field, column in (entry.fields or {}).items():
                for source in column.inputs or ():
                    yield from self._entry(target, field, source)

    def _entry(self, target: int, field: str, source: "standard.LineageInput") -> Iterator[Statement]:
        is_dataset = source.type == "DATASET"
        id_ = self.dataset(source.namespace or "", source.name or "") if is_dataset else self.job(source.namespace, source.name)
        source_field = (source.field or "") if is_dataset else ""
        for change in source.transformations or ():
            yield Statement(target, field, id_, source_field, change.type or "", change.subtype or "", int(bool(change.masking)))
        if not source.transformations:
            yield Statement(target, field, id_, source_field, "", "", 0)


def _deprecated(word: str) -> tuple[str, str]:
    """Type and subtype for the transformationType of older producers."""
    known = {
        "IDENTITY": ("DIRECT", "IDENTITY"),
        "MASKED": ("DIRECT", "TRANSFORMATION"),
        "DIRECT": ("DIRECT", ""),
        "INDIRECT": ("INDIRECT", ""),
    }
    return known.get(word.upper(), ("", ""))
