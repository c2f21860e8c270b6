"""Facets of one run's access to a dataset: what it read or wrote, and how much of it."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from typing import Any

from msgspec.structs import force_setattr

from lineage_bridge.openlineage.facets.facet import Counter, Facet, FacetPart, Name

_INT64_MAX = 2**63 - 1


class _Counters(Facet, frozen=True):
    """The base of facets with counters. Counters are integers of at most 64 bits; a negative one (some producers write it for
    "unknown") reads as absent.
    """

    rowCount: Counter = None
    size: Counter = None
    fileCount: Counter = None

    def __post_init__(self) -> None:
        """Check the counters. Raises ValueError for one that is not a 64-bit integer."""
        for name in ("rowCount", "size", "fileCount"):
            force_setattr(self, name, _whole(getattr(self, name)))


def _whole(value: Counter) -> int | None:
    if value is None or value < 0:
        return None
    if value != int(value) or value > _INT64_MAX:
        raise ValueError("a counter is an integer of at most 64 bits")
    return int(value)


class InputStatisticsInputDatasetFacet(_Counters, frozen=True):
    """How much a run read from a dataset. `byteCount` is another spelling of `size`."""

    byteCount: Counter = None

    def __post_init__(self) -> None:
        """Check the counters. Raises ValueError for one that is not a 64-bit integer."""
        if self.size is None:
            force_setattr(self, "size", self.byteCount)
        _Counters.__post_init__(self)


class OutputStatisticsOutputDatasetFacet(_Counters, frozen=True):
    """How much a run wrote to a dataset. `bytes` is another spelling of `size`."""

    bytes: Counter = None

    def __post_init__(self) -> None:
        """Check the counters. Raises ValueError for one that is not a 64-bit integer."""
        if self.size is None:
            force_setattr(self, "size", self.bytes)
        _Counters.__post_init__(self)


class LocationCondition(FacetPart, frozen=True, tag_field="type", tag="location"):
    locations: tuple[str, ...]


class Partition(FacetPart, frozen=True):
    dimensions: dict[str, Any]
    identifier: str | None = None


class PartitionCondition(FacetPart, frozen=True, tag_field="type", tag="partition"):
    partitions: tuple[Partition, ...]


class FieldExpression(FacetPart, frozen=True, tag_field="type", tag="field"):
    field: Name


class LiteralExpression(FacetPart, frozen=True, tag_field="type", tag="literal"):
    value: str


class CompareCondition(FacetPart, frozen=True, tag_field="type", tag="compare"):
    left: FieldExpression | LiteralExpression
    right: FieldExpression | LiteralExpression
    comparison: str


class BinaryCondition(FacetPart, frozen=True, tag_field="type", tag="binary"):
    left: "Condition"
    right: "Condition"
    operator: str


Condition = LocationCondition | PartitionCondition | CompareCondition | BinaryCondition
"""Which part of a dataset was read or written."""


class InputSubsetInputDatasetFacet(Facet, frozen=True):
    inputCondition: Condition


class OutputSubsetOutputDatasetFacet(Facet, frozen=True):
    outputCondition: Condition
