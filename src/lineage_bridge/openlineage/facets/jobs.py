"""The facets of jobs, as OpenLineage defines them."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from msgspec.structs import force_setattr

from lineage_bridge.openlineage.facets.facet import Facet, FacetPart


class EmissionPattern(FacetPart, frozen=True):
    """When a job sends events, and what their counters mean; `eventCompleteness` is an older name of `eventContentMode`."""

    eventTrigger: str
    eventContentMode: str | None = None
    eventCompleteness: str | None = None
    windowDuration: int | float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if the content mode is missing under both names."""
        mode = self.eventContentMode or self.eventCompleteness
        if mode is None:
            raise ValueError("eventContentMode is required")
        force_setattr(self, "eventContentMode", mode)


class JobTypeJobFacet(Facet, frozen=True):
    processingType: str
    integration: str
    jobType: str | None = None
    emissionPattern: EmissionPattern | None = None


class SQLJobFacet(Facet, frozen=True):
    query: str
    dialect: str | None = None


class SourceCodeJobFacet(Facet, frozen=True):
    language: str
    sourceCode: str


class SourceCodeLocationJobFacet(Facet, frozen=True):
    type: str
    url: str
    repoUrl: str | None = None
    path: str | None = None
    version: str | None = None
    tag: str | None = None
    branch: str | None = None
    pullRequestNumber: str | None = None
