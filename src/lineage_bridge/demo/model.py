"""The types of the demo: systems, datasets, columns and their sources, jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineage_bridge.demo.facets import facets
from lineage_bridge.openlineage.event_builder import Json


@dataclass(frozen=True)
class Column:
    """A column: name, type in the notation of its system, description, and the kind of personal data in it ("" for none)."""

    name: str
    type: str
    description: str = ""
    personal: str = ""


@dataclass(frozen=True)
class System:
    """A system with datasets: OpenLineage namespace, readable name, type of its datasets, bytes of a typical row."""

    namespace: str
    title: str
    kind: str
    row_bytes: int


@dataclass(frozen=True)
class Dataset:
    """A dataset by its OpenLineage name, with its description."""

    system: System
    name: str
    owner: str
    description: str
    columns: tuple[Column, ...]

    @property
    def node(self) -> Json:
        """The namespace and name of the dataset."""
        return {"namespace": self.system.namespace, "name": self.name}

    def described(self, lineage: Json | None = None) -> Json:
        """The dataset with all its facets, including column lineage for an output."""
        described = _facets(self)
        return {**self.node, "facets": described if lineage is None else {**described, "columnLineage": lineage}}

    def read(self, rows: int) -> Json:
        """The dataset as an input from which `rows` rows were read since the start of the run."""
        statistics = facets.input_statistics(rows, rows * self.system.row_bytes)
        return {**self.node, "inputFacets": {"inputStatistics": statistics}}

    def written(self, rows: int) -> Json:
        """The dataset as an output to which `rows` rows were written since the start of the run."""
        statistics = facets.output_statistics(rows, rows * self.system.row_bytes)
        return {**self.node, "outputFacets": {"outputStatistics": statistics}}


@dataclass(frozen=True)
class Source:
    """An input column, and how an output column (or every row of the output) depends on it.

    `how` is a transformation subtype of the columnLineage facet. With IDENTITY, TRANSFORMATION and AGGREGATION, the output contains the
    input's value (DIRECT); with all others, the input only influences the output (INDIRECT).
    """

    dataset: Dataset
    column: str
    how: str = "IDENTITY"
    description: str = ""
    masking: bool = False


@dataclass(frozen=True)
class Job:
    """A job by its OpenLineage name, with its facets, its engine (name, version), and its outputs' column lineage."""

    namespace: str
    name: str
    facets: Json
    engine: tuple[str, str]
    inputs: tuple[Dataset, ...] = ()
    outputs: tuple[tuple[Dataset, Json], ...] = ()

    @property
    def node(self) -> Json:
        """The namespace and name of the job."""
        return {"namespace": self.namespace, "name": self.name}

    def described_inputs(self) -> list[Json]:
        """The inputs with their facets."""
        return [dataset.described() for dataset in self.inputs]

    def described_outputs(self) -> list[Json]:
        """The outputs with their facets, including column lineage."""
        return [dataset.described(columns) for dataset, columns in self.outputs]


def copied(dataset: Dataset, *columns: str) -> dict[str, list[Source]]:
    """Make output columns that are copies of the input's columns of the same names."""
    return {column: [Source(dataset, column)] for column in columns}


def lineage(fields: Mapping[str, Sequence[Source]], rows: Sequence[Source] = ()) -> Json:
    """Make the columnLineage facet of an output: the sources of each column, and the sources that influence every row."""
    named = {name: [_input_field(source) for source in sources] for name, sources in fields.items()}
    return facets.column_lineage(named, [_input_field(source) for source in rows])


def _input_field(source: Source) -> Json:
    direct = source.how in {"IDENTITY", "TRANSFORMATION", "AGGREGATION"}
    transformation: Json = {
        "type": "DIRECT" if direct else "INDIRECT",
        "subtype": source.how,
        "description": source.description,
        "masking": source.masking,
    }
    return {**source.dataset.node, "field": source.column, "transformations": [transformation]}


def _facets(dataset: Dataset) -> Json:
    described: Json = {
        "schema": facets.schema(_field(column) for column in dataset.columns),
        "dataSource": facets.data_source(dataset.system.title, dataset.system.namespace),
        "documentation": facets.documentation("Dataset", dataset.description),
        "datasetType": facets.dataset_type(dataset.system.kind),
        "ownership": facets.ownership("Dataset", dataset.owner),
    }
    personal = [column for column in dataset.columns if column.personal]
    if personal:
        described["tags"] = facets.dataset_tags(
            {"key": "pii", "value": column.personal, "source": "CATALOG", "field": column.name} for column in personal
        )
    return described


def _field(column: Column) -> Json:
    field: Json = {"name": column.name, "type": column.type}
    return {**field, "description": column.description} if column.description else field
