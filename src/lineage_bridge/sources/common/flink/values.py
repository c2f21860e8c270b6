"""Values for the datasets and flows of a job."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.annotations import JobAnnotation
from lineage_bridge.sources.common.flink.plan import Operator
from lineage_bridge.sources.common.flink.tables import DeclaredTables
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sql.names import Name

Column = tuple[DatasetName, str, str]
"""A column of a dataset, and how it is used: IDENTITY, TRANSFORMATION, AGGREGATION; or FILTER, JOIN, GROUP_BY, WINDOW, SORT, CONDITIONAL"""


@dataclass(frozen=True)
class DatasetAccess:
    """A dataset that a job reads or writes. `operators`: the operators that count its records. `inferred`: only the name of its table in
    the plan is known.
    """

    dataset: DatasetName
    tables: tuple[str, ...] = ()
    connector: str = ""
    fields: tuple[SchemaField, ...] = ()
    inferred: bool = False
    operators: tuple[Operator, ...] = ()

    def joined(self, other: "DatasetAccess") -> "DatasetAccess":
        """Merge this access with one of the same dataset under another table name."""
        tables = (*self.tables, *(table for table in other.tables if table not in self.tables))
        return replace(self, tables=tables, fields=self.fields or other.fields, operators=(*self.operators, *other.operators))


@dataclass(frozen=True)
class OutputFlow:
    """The flows into an output. `fields`: sources by column; `deciding`: columns that affect all its rows or values."""

    target: DatasetName
    inputs: tuple[DatasetName, ...]
    fields: Mapping[str, tuple[Column, ...]] = field(default_factory=dict)
    deciding: tuple[Column, ...] = ()


@dataclass(frozen=True)
class JobFlows:
    """Everything known about a job's datasets. `groups`: the job's own consumer groups, as pairs of cluster id and group."""

    inputs: tuple[DatasetAccess, ...] = ()
    outputs: tuple[DatasetAccess, ...] = ()
    entries: tuple[OutputFlow, ...] = ()
    sql: str = ""
    annotation: JobAnnotation | None = None
    groups: tuple[tuple[str, str], ...] = ()
    unseen: tuple[Unseen, ...] = ()


@dataclass(frozen=True)
class JobEvidence:
    """The evidence that does not come from the job itself. `kafka`: servers of topics named without a cluster; `namespace`: namespace
    of the jobs.
    """

    declared: DeclaredTables
    annotations: tuple[JobAnnotation, ...]
    shared: SharedMetadata
    kafka: str
    namespace: str


TableAccesses = dict[Name, tuple[DatasetAccess, ...]]
"""Tables, or positions of operators without a table, to their datasets."""
