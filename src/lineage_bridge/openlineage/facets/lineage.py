"""Explicit lineage: the `lineage` facets of jobs and of datasets."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.json import Decoder

from lineage_bridge.openlineage.facets.datasets import Transformation
from lineage_bridge.openlineage.facets.facet import UNREADABLE, Facet, FacetPart, Name


class LineageEnd(FacetPart, frozen=True):
    """One end of a flow: a dataset (with namespace and name), or a job (with both, or with neither: the job of the event)."""

    type: Literal["DATASET", "JOB"]
    namespace: Name | None = None
    name: Name | None = None
    runId: str | None = None

    def __post_init__(self) -> None:
        """Check the name. Raises ValueError for a namespace without a name, a name without a namespace, and a dataset without both."""
        if (self.namespace is None) != (self.name is None) or (self.type == "DATASET" and self.name is None):
            raise ValueError("namespace and name must be given together, and a dataset needs both")


class LineageInput(LineageEnd, frozen=True):
    """A source of a flow; with `field`, one of its columns."""

    field: Name | None = None
    transformations: tuple[Transformation, ...] | None = None


class LineageField(FacetPart, frozen=True):
    inputs: tuple[LineageInput, ...]


class LineageEntry(LineageEnd, frozen=True):
    """A target, and the sources that flow into it. Empty `inputs` state that it has no source; absent `inputs` state nothing. Empty
    `fields` count as absent.
    """

    inputs: tuple[LineageInput, ...] | None = None
    fields: dict[Name, LineageField] | None = None


class LineageJobFacet(Facet, frozen=True):
    entries: tuple[LineageEntry, ...]


class LineageDatasetFacet(Facet, frozen=True):
    """What flows into the dataset that has the facet; `inputs` and `fields` as in LineageEntry."""

    inputs: tuple[LineageInput, ...] | None = None
    fields: dict[Name, LineageField] | None = None


class _LineageShape(Struct, gc=False):
    entries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_LINEAGE_SHAPE = Decoder(_LineageShape)


def lineage_carrier(text: bytes) -> Literal["job", "dataset"]:
    """Whether the text of a `lineage` facet is a job's (it has `entries`) or a dataset's.

    The published schema of each of the two facets also accepts the other facet, so the text itself decides against which type it is
    checked.
    """
    try:
        shape = _LINEAGE_SHAPE.decode(text)
    except UNREADABLE:
        return "dataset"
    return "dataset" if isinstance(shape.entries, msgspec.UnsetType) else "job"
