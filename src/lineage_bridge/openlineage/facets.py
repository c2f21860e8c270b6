"""The standard facets: as types, spelt as in their published schemas, and how a facet's text is read.

Members the schema requires are required, all others may be absent or null, further members are ignored. Names and
columns are limited like the names of jobs and datasets, since they become nodes. Where producers use an older spelling,
the standard member is filled from it. A facet that is a tombstone, has a wrong shape or is not known reads as None.
"""

# ruff: noqa: D101, N815 - the names are the standard's, and the contract of each type is its published schema

from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, field
from msgspec.json import Decoder
from msgspec.structs import force_setattr

Where = Literal["run", "job", "dataset", "input", "output"]
"""What a facet hangs on; `input` and `output` are the facets of one run's access to a dataset."""

MAX_NAME = 8192
"""Longest namespace or name, in characters."""
INT64_MAX = 2**63 - 1

Name = Annotated[str, Meta(max_length=MAX_NAME)]
Counter = int | float | None


class Facet(Struct, frozen=True, gc=False, kw_only=True):
    """What all facets share; a facet that is a tombstone (`deleted is True`) has no other content."""

    producer: Any = field(default=None, name="_producer")
    schema_url: Any = field(default=None, name="_schemaURL")
    deleted: Any = field(default=None, name="_deleted")


class Part(Struct, frozen=True, gc=False, kw_only=True):
    """A piece of a facet."""


# datasets


class SchemaField(Part, frozen=True):
    name: Name
    type: str | None = None
    description: str | None = None
    ordinal_position: int | None = None
    fields: "tuple[SchemaField, ...] | None" = None


class SchemaDatasetFacet(Facet, frozen=True):
    fields: tuple[SchemaField, ...] | None = None


class Transformation(Part, frozen=True):
    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None


class InputField(Part, frozen=True):
    namespace: Name
    name: Name
    field: Name
    transformations: tuple[Transformation, ...] | None = None


class ColumnSources(Part, frozen=True):
    """The source columns of one column; the deprecated `transformation...` members speak for all of them."""

    inputFields: tuple[InputField, ...]
    transformationDescription: str | None = None
    transformationType: str | None = None


class ColumnLineageDatasetFacet(Facet, frozen=True):
    """`dataset` are columns that affect the whole output."""

    fields: dict[Name, ColumnSources]
    dataset: tuple[InputField, ...] | None = None


class Identifier(Part, frozen=True):
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


class PreviousIdentifier(Part, frozen=True):
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


class HierarchyLevel(Part, frozen=True):
    type: str
    name: Name


class HierarchyDatasetFacet(Facet, frozen=True):
    hierarchy: tuple[HierarchyLevel, ...]


# datasets, jobs and runs


class DocumentationFacet(Facet, frozen=True):
    description: str
    contentType: str | None = None


class Owner(Part, frozen=True):
    name: str
    type: str | None = None


class OwnershipFacet(Facet, frozen=True):
    owners: tuple[Owner, ...] | None = None


class Tag(Part, frozen=True):
    key: str
    value: str
    source: str | None = None
    field: str | None = None


class TagsFacet(Facet, frozen=True):
    tags: tuple[Tag, ...] | None = None


# explicit lineage, on jobs and on datasets


class LineageEnd(Part, frozen=True):
    """A dataset (namespace and name) or a job (both, or neither: the event's own job)."""

    type: Literal["DATASET", "JOB"]
    namespace: Name | None = None
    name: Name | None = None
    runId: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for half a name, and for a dataset without one."""
        if (self.namespace is None) != (self.name is None) or (self.type == "DATASET" and self.name is None):
            raise ValueError("namespace and name go together, and a dataset has both")


class LineageInput(LineageEnd, frozen=True):
    """A source; with `field`, one column of it."""

    field: Name | None = None
    transformations: tuple[Transformation, ...] | None = None


class LineageField(Part, frozen=True):
    inputs: tuple[LineageInput, ...]


class LineageEntry(LineageEnd, frozen=True):
    """A target. Empty `inputs` state that there is no source; absent ones state nothing. Empty `fields` are absent ones."""

    inputs: tuple[LineageInput, ...] | None = None
    fields: dict[Name, LineageField] | None = None


class LineageJobFacet(Facet, frozen=True):
    entries: tuple[LineageEntry, ...]


class LineageDatasetFacet(Facet, frozen=True):
    """The target is the dataset that carries the facet; `inputs` and `fields` as in LineageEntry."""

    inputs: tuple[LineageInput, ...] | None = None
    fields: dict[Name, LineageField] | None = None


class _LineageShape(Struct, gc=False):
    entries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


# access of one run


class _Counters(Facet, frozen=True):
    """Counters are integers of at most 64 bits; a negative one (unknown, to some producers) reads as absent."""

    rowCount: Counter = None
    size: Counter = None
    fileCount: Counter = None

    def __post_init__(self) -> None:
        """Raises ValueError for a counter that is no 64-bit integer."""
        for name in ("rowCount", "size", "fileCount"):
            force_setattr(self, name, _whole(getattr(self, name)))


class InputStatisticsInputDatasetFacet(_Counters, frozen=True):
    """What a run read; `byteCount` is another spelling of `size`."""

    byteCount: Counter = None

    def __post_init__(self) -> None:
        """Raises ValueError for a counter that is no 64-bit integer."""
        if self.size is None:
            force_setattr(self, "size", self.byteCount)
        _Counters.__post_init__(self)


class OutputStatisticsOutputDatasetFacet(_Counters, frozen=True):
    """What a run wrote; `bytes` is another spelling of `size`."""

    bytes: Counter = None

    def __post_init__(self) -> None:
        """Raises ValueError for a counter that is no 64-bit integer."""
        if self.size is None:
            force_setattr(self, "size", self.bytes)
        _Counters.__post_init__(self)


def _whole(value: Counter) -> int | None:
    if value is None or value < 0:
        return None
    if value != int(value) or value > INT64_MAX:
        raise ValueError("a counter is an integer of at most 64 bits")
    return int(value)


class ColumnMetrics(Part, frozen=True):
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


class Assertion(Part, frozen=True):
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
    assertions: tuple[Assertion, ...]


class LocationCondition(Part, frozen=True, tag_field="type", tag="location"):
    locations: tuple[str, ...]


class Partition(Part, frozen=True):
    dimensions: dict[str, Any]
    identifier: str | None = None


class PartitionCondition(Part, frozen=True, tag_field="type", tag="partition"):
    partitions: tuple[Partition, ...]


class FieldExpression(Part, frozen=True, tag_field="type", tag="field"):
    field: Name


class LiteralExpression(Part, frozen=True, tag_field="type", tag="literal"):
    value: str


class CompareCondition(Part, frozen=True, tag_field="type", tag="compare"):
    left: FieldExpression | LiteralExpression
    right: FieldExpression | LiteralExpression
    comparison: str


class BinaryCondition(Part, frozen=True, tag_field="type", tag="binary"):
    left: "Condition"
    right: "Condition"
    operator: str


Condition = LocationCondition | PartitionCondition | CompareCondition | BinaryCondition
"""Which part of a dataset was read or written."""


class InputSubsetInputDatasetFacet(Facet, frozen=True):
    inputCondition: Condition


class OutputSubsetOutputDatasetFacet(Facet, frozen=True):
    outputCondition: Condition


# jobs


class EmissionPattern(Part, frozen=True):
    """How a job's events are to be understood; the documentation once called `eventContentMode` eventCompleteness."""

    eventTrigger: str
    eventContentMode: str | None = None
    eventCompleteness: str | None = None
    windowDuration: int | float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if neither spelling of the content mode is there."""
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


# runs


class RunName(Part, frozen=True):
    runId: str


class JobName(Part, frozen=True):
    namespace: str
    name: str


class RootRun(Part, frozen=True):
    run: RunName
    job: JobName


class ParentRunFacet(Facet, frozen=True):
    run: RunName
    job: JobName
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


class ExtractionError(Part, frozen=True):
    errorMessage: str
    stackTrace: str | None = None
    task: str | None = None
    taskNumber: Counter = None


class ExtractionErrorRunFacet(Facet, frozen=True):
    totalTasks: int | float
    failedTasks: int | float
    errors: tuple[ExtractionError, ...]


class DependedJob(Part, frozen=True):
    namespace: Name
    name: Name


class JobDependency(Part, frozen=True):
    """The documentation writes `type` for `dependency_type`."""

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


class TestExecution(Part, frozen=True):
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


class EnvironmentVariable(Part, frozen=True):
    name: str
    value: str | None = None


class EnvironmentVariablesRunFacet(Facet, frozen=True):
    environmentVariables: tuple[EnvironmentVariable, ...]


class ExecutionParameter(Part, frozen=True):
    key: str
    name: str | None = None
    description: str | None = None
    value: str | None = None


class ExecutionParametersRunFacet(Facet, frozen=True):
    parameters: tuple[ExecutionParameter, ...] | None = None


# reading

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
"""The type of a facet by where it stands and its key."""

AnyFacet = TypeVar("AnyFacet", bound=Facet)
Problem = Literal["facet_meta", "facet_shape"]

_DECODERS = {place: Decoder(kind) for place, kind in KINDS.items()}
_ANY_FACET = Decoder(Facet)
_LINEAGE_SHAPE = Decoder(_LineageShape)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_REMEMBERED_TEXTS = 4096
_REMEMBERED_BYTES = 4096


class Inspection(Struct, frozen=True, gc=False):
    """What a facet's text turned out to be: its content, as `read` gives it, and what is wrong with it."""

    facet: Facet | None
    problems: tuple[Problem, ...]


def read(where: Where, key: str, text: bytes) -> Facet | None:
    """The facet a text states; None for a tombstone, a wrong shape, an unknown facet."""
    return inspect(where, key, text).facet


def read_as(kind: type[AnyFacet], where: Where, key: str, text: bytes) -> AnyFacet | None:
    """The same, for a caller that knows which type stands there."""
    facet = read(where, key, text)
    return facet if isinstance(facet, kind) else None


def inspect(where: Where, key: str, text: bytes) -> Inspection:
    """Everything there is to know about a facet's text."""
    if len(text) <= _REMEMBERED_BYTES:
        return _remembered(where, key, text)
    return _inspect(where, key, text)


def is_deleted(text: bytes) -> bool:
    """Whether a facet's text is a tombstone."""
    facet = _any_facet(text)
    return facet is not None and facet.deleted is True


def lineage_carrier(text: bytes) -> Literal["job", "dataset"]:
    """Whose explicit lineage a text states: a job's has entries, a dataset's has none.

    The published schema takes either for the other, so the carrier decides what a facet is checked against.
    """
    try:
        shape = _LINEAGE_SHAPE.decode(text)
    except _UNREADABLE:
        return "dataset"
    return "dataset" if isinstance(shape.entries, msgspec.UnsetType) else "job"


def has_meta(text: bytes) -> bool:
    """Whether a facet's text has the two members every facet must have, or is a tombstone."""
    facet = _any_facet(text)
    return facet is not None and (facet.deleted is True or _has_meta(facet))


def _inspect(where: Where, key: str, text: bytes) -> Inspection:
    decoder = _DECODERS.get((where, key))
    facet = _any_facet(text) if decoder is None else _decoded(decoder, text)
    shaped = facet is not None
    if facet is None:
        facet = _any_facet(text)
    if facet is None:
        return Inspection(None, ("facet_shape",))
    if facet.deleted is True:
        return Inspection(None, ())
    problems: tuple[Problem, ...] = () if _has_meta(facet) else ("facet_meta",)
    if not shaped:
        return Inspection(None, (*problems, "facet_shape"))
    return Inspection(facet if decoder else None, problems)


_remembered = lru_cache(_REMEMBERED_TEXTS)(_inspect)


def _decoded(decoder: "Decoder[Any]", text: bytes) -> Facet | None:
    try:
        facet: Facet = decoder.decode(text)
    except _UNREADABLE:
        return None
    return facet


def _any_facet(text: bytes) -> Facet | None:
    return _decoded(_ANY_FACET, text)


def _has_meta(facet: Facet) -> bool:
    return isinstance(facet.producer, str) and isinstance(facet.schema_url, str)
