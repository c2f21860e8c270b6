"""Reads explicit lineage: the statements in a `lineage` facet of a job or a dataset.

Specification: OpenLineage's LineageFacet 1-0-0. A job's facet has entries, each with its target; a dataset's facet states what flows into
that dataset.
"""

from collections.abc import Iterator

from lineage_bridge.graph.statements.endpoints import NO_SOURCE, OWN, Annotation, Endpoints, LineageStatement
from lineage_bridge.openlineage import facets as standard

NOTHING_KNOWN = "", "", 0
"""Type, subtype and masking of a source without transformations."""


def read_explicit(text: bytes, ends: Endpoints) -> Iterator[Annotation] | None:
    """The statements of a `lineage` facet; None if it is a tombstone or does not have the form required for its carrier."""
    if standard.lineage_carrier(text) == "job":
        of_job = standard.read_as(standard.LineageJobFacet, "job", "lineage", text)
        return _entries(of_job, ends) if of_job else None
    of_dataset = standard.read_as(standard.LineageDatasetFacet, "dataset", "lineage", text)
    return _of_dataset(of_dataset, ends) if of_dataset else None


def _entries(facet: standard.LineageJobFacet, ends: Endpoints) -> Iterator[Annotation]:
    for entry in facet.entries:
        is_dataset = entry.type == "DATASET"
        target = ends.dataset(entry.namespace or "", entry.name or "") if is_dataset else ends.job(entry.namespace, entry.name)
        run = "" if is_dataset else entry.runId or ""
        yield from _into(target, run, entry.inputs, entry.fields if is_dataset else None, ends)


def _of_dataset(facet: standard.LineageDatasetFacet, ends: Endpoints) -> Iterator[Annotation]:
    """The statements of a dataset's facet. In the facet of a job, a source without a name denotes the job. A dataset has no job, so such a
    source is skipped here.
    """
    for annotation in _into(OWN, "", facet.inputs, facet.fields, ends):
        if annotation.statement.source != OWN or annotation.statement.type == NO_SOURCE:
            yield annotation


def _into(
    target: int,
    run: str,
    inputs: tuple[standard.LineageInput, ...] | None,
    fields: dict[str, standard.LineageField] | None,
    ends: Endpoints,
) -> Iterator[Annotation]:
    """The statements of all flows into one target. An empty list of inputs states that the target has no source; an absent list states
    nothing.
    """
    if inputs is not None and not inputs:
        yield Annotation(LineageStatement(target, "", OWN, "", NO_SOURCE, "", 0), "", run, "")
    for source in inputs or ():
        yield from _source(target, "", run, source, ends)
    for field, column in (fields or {}).items():
        for source in column.inputs:
            yield from _source(target, field, run, source, ends)


def _source(target: int, field: str, run: str, source: standard.LineageInput, ends: Endpoints) -> Iterator[Annotation]:
    """The annotations of one source: one for each of its transformations, or a single one if it has none."""
    is_dataset = source.type == "DATASET"
    id_ = ends.dataset(source.namespace or "", source.name or "") if is_dataset else ends.job(source.namespace, source.name)
    source_field, source_run = (source.field or "", "") if is_dataset else ("", source.runId or "")
    for change in source.transformations or ():
        stated = change.type or "", change.subtype or "", int(bool(change.masking))
        yield Annotation(LineageStatement(target, field, id_, source_field, *stated), change.description or "", run, source_run)
    if not source.transformations:
        yield Annotation(LineageStatement(target, field, id_, source_field, *NOTHING_KNOWN), "", run, source_run)
