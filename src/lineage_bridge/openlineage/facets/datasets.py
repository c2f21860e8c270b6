"""The facets of datasets, as OpenLineage defines them."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from typing import Literal

from lineage_bridge.openlineage.facets.facet import Facet, FacetPart, Name


class SchemaField(FacetPart, frozen=True):
    name: Name
    type: str | None = None
    description: str | None = None
    ordinal_position: int | None = None
    fields: "tuple[SchemaField, ...] | None" = None


class SchemaDatasetFacet(Facet, frozen=True):
    fields: tuple[SchemaField, ...] | None = None


class Transformation(FacetPart, frozen=True):
    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None


class InputField(FacetPart, frozen=True):
    namespace: Name
    name: Name
    field: Name
    transformations: tuple[Transformation, ...] | None = None


class ColumnSources(FacetPart, frozen=True):
    """The source columns of one column; the deprecated `transformation...` members apply to all of them."""

    inputFields: tuple[InputField, ...]
    transformationDescription: str | None = None
    transformationType: str | None = None


class ColumnLineageDatasetFacet(Facet, frozen=True):
    """The columns from which each column of an output is computed; `dataset` are columns that affect the whole output."""

    fields: dict[Name, ColumnSources]
    dataset: tuple[InputField, ...] | None = None


class Identifier(FacetPart, frozen=True):
    namespace: Name
    name: Name
    type: str


class SymlinksDatasetFacet(Facet, frozen=True):
    identifiers: tuple[Identifier, ...] | None = None


class DatasourceDatasetFacet(Facet, frozen=True):
    name: str | None = None
    uri: str | None = None


class CatalogDatasetFacet(Facet, frozen=True):
    framework: str
    type: str
    name: str
    metadataUri: str | None = None
    warehouseUri: str | None = None
    source: str | None = None
    catalogProperties: dict[str, str | None] | None = None


class PreviousIdentifier(FacetPart, frozen=True):
    namespace: Name
    name: Name


class LifecycleStateChangeDatasetFacet(Facet, frozen=True):
    lifecycleStateChange: Literal["ALTER", "CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"]
    previousIdentifier: PreviousIdentifier | None = None


class StorageDatasetFacet(Facet, frozen=True):
    storageLayer: str
    fileFormat: str | None = None


class DatasetVersionDatasetFacet(Facet, frozen=True):
    datasetVersion: str


class DatasetTypeDatasetFacet(Facet, frozen=True):
    datasetType: str
    subType: str | None = None


class HierarchyLevel(FacetPart, frozen=True):
    type: str
    name: Name


class HierarchyDatasetFacet(Facet, frozen=True):
    hierarchy: tuple[HierarchyLevel, ...]
