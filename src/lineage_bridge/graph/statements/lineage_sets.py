"""Reads the statements of a lineage facet once, when its text is first seen, into a lineage set.

A facet is reduced to a *lineage set*: the sorted set of its statements, stored under its hash. Two facets that state the same lineage in
different words have the same lineage set. So a producer that describes the same lineage in new words each time does not create new shapes.
The rest of the facet (descriptions, run ids of jobs) is kept as annotations.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.identity.steps import symlinks
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.statements.endpoints import NO_SOURCE, OWN, Annotation, Endpoints, LineageStatement
from lineage_bridge.graph.statements.explicit import read_explicit
from lineage_bridge.openlineage import facets as standard

__all__ = ["NO_SOURCE", "OWN", "Annotation", "LineageSet", "LineageStatement", "named_nodes", "read_lineage_set"]


class LineageSet(NamedTuple):
    """The lineage of one facet. `nodes` are rows of the relation `node` for the names it uses. `annotations` are the annotations that have
    any wording.
    """

    id: bytes
    explicit: bool
    statements: tuple[LineageStatement, ...]
    nodes: tuple[Row, ...]
    annotations: tuple[Annotation, ...] = ()


def read_lineage_set(key: str, text: bytes, names: Names) -> LineageSet | None:
    """The lineage set of a `columnLineage` facet of a dataset or a `lineage` facet; None if it states nothing or cannot be read.

    A `lineage` facet without any flow gives a lineage set too: explicit lineage is complete, so the facet states that there are no flows.
    """
    ends = Endpoints(names)
    explicit = key == "lineage"
    read = read_explicit(text, ends) if explicit else _read_columns(text, ends)
    annotations = sorted(set(read)) if read is not None else []
    if read is None or not (annotations or explicit):
        return None
    statements = tuple(sorted({annotation.statement for annotation in annotations}))
    of = f"{key} of {standard.lineage_carrier(text)}" if explicit else key
    digest = blake2b(repr((of, [tuple(s) for s in statements])).encode("utf-8", "surrogatepass"), digest_size=16, person=b"meaning")
    return LineageSet(digest.digest(), explicit, statements, tuple(sorted(ends.nodes)), tuple(r for r in annotations if any(r[1:])))


def named_nodes(key: str, text: bytes, names: Names) -> tuple[Row, ...]:
    """The nodes that a facet names, as rows of the relation `node`. The key is one of NAMING_KEYS, or `parent` for a run's parent facet."""
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
    lineage_set = read_lineage_set(key, text, names)
    return lineage_set.nodes if lineage_set else ()


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


def _read_columns(text: bytes, ends: Endpoints) -> Iterator[Annotation]:
    facet = standard.read_as(standard.ColumnLineageDatasetFacet, "dataset", "columnLineage", text)
    for field, column in facet.fields.items() if facet else ():
        for source in column.inputFields or ():
            older = _deprecated(column.transformationType or ""), column.transformationDescription or ""
            yield from _column(field, source, *older, ends)
    for source in facet.dataset or () if facet else ():
        yield from _column("", source, _deprecated(""), "", ends)


def _column(
    field: str, source: standard.InputField, deprecated: tuple[str, str, int], description: str, ends: Endpoints
) -> Iterator[Annotation]:
    """The annotations of one source column: one for each of its transformations.

    Without transformations, there is one with the deprecated fields, in which older producers state the transformation of the column.
    """
    id_ = ends.dataset(source.namespace, source.name)
    for change in source.transformations or ():
        stated = change.type or "", change.subtype or "", int(bool(change.masking))
        yield Annotation(LineageStatement(OWN, field, id_, source.field or "", *stated), change.description or "", "", "")
    if not source.transformations:
        yield Annotation(LineageStatement(OWN, field, id_, source.field or "", *deprecated), description, "", "")


def _deprecated(transformation: str) -> tuple[str, str, int]:
    """The type, subtype and masking that correspond to the deprecated field transformationType."""
    meanings = {
        "IDENTITY": ("DIRECT", "IDENTITY", 0),
        "MASKED": ("DIRECT", "TRANSFORMATION", 1),
        "DIRECT": ("DIRECT", "", 0),
        "INDIRECT": ("INDIRECT", "", 0),
    }
    return meanings.get(transformation.upper(), ("", "", 0))
