"""Reads the text of a facet as the type for its carrier and key, with its problems.

A facet that is a tombstone, is malformed or is of an unknown kind reads as None. A malformed item of a facet is left out (items.py).
"""

from functools import lru_cache
from typing import Any, Literal, TypeVar

from msgspec import Struct
from msgspec.json import Decoder

from lineage_bridge.openlineage.facets.access import (
    InputStatisticsInputDatasetFacet,
    InputSubsetInputDatasetFacet,
    OutputStatisticsOutputDatasetFacet,
    OutputSubsetOutputDatasetFacet,
)
from lineage_bridge.openlineage.facets.datasets import (
    CatalogDatasetFacet,
    ColumnLineageDatasetFacet,
    DatasetTypeDatasetFacet,
    DatasetVersionDatasetFacet,
    DatasourceDatasetFacet,
    HierarchyDatasetFacet,
    LifecycleStateChangeDatasetFacet,
    SchemaDatasetFacet,
    StorageDatasetFacet,
    SymlinksDatasetFacet,
)
from lineage_bridge.openlineage.facets.descriptions import (
    DocumentationFacet,
    OwnershipFacet,
    TagsFacet,
)
from lineage_bridge.openlineage.facets.facet import UNREADABLE, Facet, Where
from lineage_bridge.openlineage.facets.items import read_items
from lineage_bridge.openlineage.facets.jobs import (
    JobTypeJobFacet,
    SourceCodeJobFacet,
    SourceCodeLocationJobFacet,
    SQLJobFacet,
)
from lineage_bridge.openlineage.facets.lineage import (
    LineageDatasetFacet,
    LineageJobFacet,
)
from lineage_bridge.openlineage.facets.quality import (
    DataQualityAssertionsFacet,
    DataQualityMetricsFacet,
    TestRunFacet,
)
from lineage_bridge.openlineage.facets.runs import (
    EnvironmentVariablesRunFacet,
    ErrorMessageRunFacet,
    ExecutionParametersRunFacet,
    ExternalQueryRunFacet,
    ExtractionErrorRunFacet,
    JobDependenciesRunFacet,
    NominalTimeRunFacet,
    ParentRunFacet,
    ProcessingEngineRunFacet,
)
from lineage_bridge.openlineage.json_text import Spend, no_limit

KINDS: dict[tuple[Where, str], type[Facet]] = {
    ("dataset", "catalog"): CatalogDatasetFacet,
    ("dataset", "columnLineage"): ColumnLineageDatasetFacet,
    ("dataset", "dataQualityAssertions"): DataQualityAssertionsFacet,
    ("dataset", "dataQualityMetrics"): DataQualityMetricsFacet,
    ("dataset", "dataSource"): DatasourceDatasetFacet,
    ("dataset", "datasetType"): DatasetTypeDatasetFacet,
    ("dataset", "documentation"): DocumentationFacet,
    ("dataset", "hierarchy"): HierarchyDatasetFacet,
    ("dataset", "lifecycleStateChange"): LifecycleStateChangeDatasetFacet,
    ("dataset", "lineage"): LineageDatasetFacet,
    ("dataset", "ownership"): OwnershipFacet,
    ("dataset", "schema"): SchemaDatasetFacet,
    ("dataset", "storage"): StorageDatasetFacet,
    ("dataset", "symlinks"): SymlinksDatasetFacet,
    ("dataset", "tags"): TagsFacet,
    ("dataset", "version"): DatasetVersionDatasetFacet,
    ("input", "dataQualityAssertions"): DataQualityAssertionsFacet,
    ("input", "dataQualityMetrics"): DataQualityMetricsFacet,
    ("input", "inputStatistics"): InputStatisticsInputDatasetFacet,
    ("input", "subset"): InputSubsetInputDatasetFacet,
    ("output", "outputStatistics"): OutputStatisticsOutputDatasetFacet,
    ("output", "subset"): OutputSubsetOutputDatasetFacet,
    ("job", "documentation"): DocumentationFacet,
    ("job", "jobType"): JobTypeJobFacet,
    ("job", "lineage"): LineageJobFacet,
    ("job", "ownership"): OwnershipFacet,
    ("job", "sourceCode"): SourceCodeJobFacet,
    ("job", "sourceCodeLocation"): SourceCodeLocationJobFacet,
    ("job", "sql"): SQLJobFacet,
    ("job", "tags"): TagsFacet,
    ("run", "environmentVariables"): EnvironmentVariablesRunFacet,
    ("run", "errorMessage"): ErrorMessageRunFacet,
    ("run", "executionParameters"): ExecutionParametersRunFacet,
    ("run", "externalQuery"): ExternalQueryRunFacet,
    ("run", "extractionError"): ExtractionErrorRunFacet,
    ("run", "jobDependencies"): JobDependenciesRunFacet,
    ("run", "nominalTime"): NominalTimeRunFacet,
    ("run", "parent"): ParentRunFacet,
    ("run", "processing_engine"): ProcessingEngineRunFacet,
    ("run", "tags"): TagsFacet,
    ("run", "test"): TestRunFacet,
}
"""The type of a facet, by carrier and key."""
AnyFacet = TypeVar("AnyFacet", bound=Facet)
Problem = Literal["facet_meta", "facet_shape", "facet_item"]
_DECODERS = {key: Decoder(kind) for key, kind in KINDS.items()}
_ANY_FACET = Decoder(Facet)
_CACHED_TEXTS = 4096
_CACHED_BYTES = 4096


class Inspection(Struct, frozen=True, gc=False):
    """The content of a facet's text, as `read` returns it, and its problems.

    If one of the problems is `facet_item`, `lost` has the paths of the malformed items. The facet is read without these items.
    """

    facet: Facet | None
    problems: tuple[Problem, ...]
    lost: tuple[str, ...] = ()


def read(where: Where, key: str, text: bytes) -> Facet | None:
    """The facet in a JSON text; None if it is a tombstone, malformed or of an unknown kind."""
    return inspect(where, key, text).facet


def read_as(kind: type[AnyFacet], where: Where, key: str, text: bytes) -> AnyFacet | None:
    """Like `read`, but returns None for a facet of another type than `kind`."""
    facet = read(where, key, text)
    return facet if isinstance(facet, kind) else None


def inspect(where: Where, key: str, text: bytes, spend: Spend = no_limit) -> Inspection:
    """Read the text of a facet, and find its problems. Results for short texts are cached, since producers repeat themselves."""
    if len(text) <= _CACHED_BYTES:
        return _inspect_cached(where, key if (where, key) in KINDS else _ANY_KEY, text)
    return _inspect(where, key, text, spend)


def is_deleted(text: bytes) -> bool:
    """Whether a facet's text is a tombstone."""
    facet = _any_facet(text)
    return facet is not None and facet.deleted is True


def has_meta(text: bytes) -> bool:
    """Whether a facet's text has `_producer` and `_schemaURL`, or is a tombstone."""
    facet = _any_facet(text)
    return facet is not None and (facet.deleted is True or _has_meta(facet))


def _inspect(where: Where, key: str, text: bytes, spend: Spend = no_limit) -> Inspection:
    decoder = _DECODERS.get((where, key))
    facet = _decoded(decoder, text) if decoder else None
    common = facet or _any_facet(text)
    if common is None:
        return Inspection(None, ("facet_shape",))
    if common.deleted is True:
        return Inspection(None, ())
    problems: tuple[Problem, ...] = () if _has_meta(common) else ("facet_meta",)
    if facet or decoder is None:
        return Inspection(facet, problems)
    found = read_items(KINDS[where, key], text, spend) if key != "lineage" else None
    return Inspection(found[0], (*problems, "facet_item"), found[1]) if found else Inspection(None, (*problems, "facet_shape"))


_ANY_KEY = ""
"""The key under which facets are cached that the standard does not define: how they are read does not depend on their key."""
_inspect_cached = lru_cache(_CACHED_TEXTS)(_inspect)


def _decoded(decoder: "Decoder[Any]", text: bytes) -> Facet | None:
    try:
        facet: Facet = decoder.decode(text)
    except UNREADABLE:
        return None
    return facet


def _any_facet(text: bytes) -> Facet | None:
    return _decoded(_ANY_FACET, text)


def _has_meta(facet: Facet) -> bool:
    return isinstance(facet.producer, str) and isinstance(facet.schema_url, str)
