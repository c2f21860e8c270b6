"""Facets that describe datasets, jobs and runs alike."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from lineage_bridge.openlineage.facets.facet import Facet, FacetPart


class DocumentationFacet(Facet, frozen=True):
    description: str
    contentType: str | None = None


class Owner(FacetPart, frozen=True):
    name: str
    type: str | None = None


class OwnershipFacet(Facet, frozen=True):
    owners: tuple[Owner, ...] | None = None


class Tag(FacetPart, frozen=True):
    key: str
    value: str
    source: str | None = None
    field: str | None = None


class TagsFacet(Facet, frozen=True):
    tags: tuple[Tag, ...] | None = None
