"""The facets about data quality: metrics, assertions and tests."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from typing import Any

from lineage_bridge.openlineage.facets.facet import Counter, Facet, FacetPart, Name


class ColumnMetrics(FacetPart, frozen=True):
    nullCount: Counter = None
    distinctCount: Counter = None
    sum: float | None = None
    count: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: dict[str, float | None] | None = None


class DataQualityMetricsFacet(Facet, frozen=True):
    columnMetrics: dict[Name, ColumnMetrics]
    rowCount: Counter = None
    bytes: Counter = None
    fileCount: Counter = None
    lastUpdated: str | None = None
    captureDate: str | None = None


class DataQualityAssertion(FacetPart, frozen=True):
    assertion: str
    success: bool
    column: str | None = None
    severity: str | None = None
    name: str | None = None
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    contentType: str | None = None
    params: dict[str, Any] | None = None


class DataQualityAssertionsFacet(Facet, frozen=True):
    assertions: tuple[DataQualityAssertion, ...]


class TestExecution(FacetPart, frozen=True):
    __test__ = False

    name: str
    status: str
    severity: str | None = None
    type: str | None = None
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    contentType: str | None = None
    params: dict[str, Any] | None = None


class TestRunFacet(Facet, frozen=True):
    __test__ = False

    tests: tuple[TestExecution, ...]
