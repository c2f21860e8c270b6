"""The facets of runs, as OpenLineage defines them."""

# ruff: noqa: D101, N815 - the names are those of the standard; the contract of each type is its published schema

from msgspec.structs import force_setattr

from lineage_bridge.openlineage.facets.facet import Counter, Facet, FacetPart, Name


class RunName(FacetPart, frozen=True):
    runId: str


class JobIdentifier(FacetPart, frozen=True):
    namespace: str
    name: str


class RootRun(FacetPart, frozen=True):
    run: RunName
    job: JobIdentifier


class ParentRunFacet(Facet, frozen=True):
    run: RunName
    job: JobIdentifier
    root: RootRun | None = None


class NominalTimeRunFacet(Facet, frozen=True):
    nominalStartTime: str
    nominalEndTime: str | None = None


class ProcessingEngineRunFacet(Facet, frozen=True):
    version: str
    name: str | None = None
    openlineageAdapterVersion: str | None = None


class ErrorMessageRunFacet(Facet, frozen=True):
    message: str
    programmingLanguage: str
    stackTrace: str | None = None


class ExternalQueryRunFacet(Facet, frozen=True):
    externalQueryId: str
    source: str


class ExtractionError(FacetPart, frozen=True):
    errorMessage: str
    stackTrace: str | None = None
    task: str | None = None
    taskNumber: Counter = None


class ExtractionErrorRunFacet(Facet, frozen=True):
    totalTasks: int | float
    failedTasks: int | float
    errors: tuple[ExtractionError, ...]


class DependedJob(FacetPart, frozen=True):
    namespace: Name
    name: Name


class JobDependency(FacetPart, frozen=True):
    """A job on which a run depends. `type` is another spelling of `dependency_type`, used in OpenLineage's documentation."""

    job: DependedJob
    run: RunName | None = None
    dependency_type: str | None = None
    type: str | None = None
    sequence_trigger_rule: str | None = None
    status_trigger_rule: str | None = None

    def __post_init__(self) -> None:
        """Fill the standard member from the other spelling."""
        if self.dependency_type is None:
            force_setattr(self, "dependency_type", self.type)


class JobDependenciesRunFacet(Facet, frozen=True):
    upstream: tuple[JobDependency, ...] | None = None
    downstream: tuple[JobDependency, ...] | None = None
    trigger_rule: str | None = None


class EnvironmentVariable(FacetPart, frozen=True):
    name: str
    value: str | None = None


class EnvironmentVariablesRunFacet(Facet, frozen=True):
    environmentVariables: tuple[EnvironmentVariable, ...]


class ExecutionParameter(FacetPart, frozen=True):
    key: str
    name: str | None = None
    description: str | None = None
    value: str | None = None


class ExecutionParametersRunFacet(Facet, frozen=True):
    parameters: tuple[ExecutionParameter, ...] | None = None
