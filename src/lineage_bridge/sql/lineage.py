"""The lineage of a SQL script: tables, column flows and errors."""

from dataclasses import dataclass, field

from lineage_bridge.sql.columns.values import Subtype
from lineage_bridge.sql.names import Name, written


@dataclass(frozen=True)
class ColumnFlow:
    """A source column that an output column contains. `confidence` is between 0 and 1."""

    in_table: Name
    in_column: str
    out_table: Name
    out_column: str
    subtype: Subtype
    confidence: float


@dataclass(frozen=True)
class IndirectFlow:
    """A source column that selects the rows or values of an output."""

    in_table: Name
    in_column: str
    out_table: Name
    kind: str


@dataclass(frozen=True)
class Fault:
    """An error in a script, and its line and column, both counted from 1."""

    line: int
    column: int
    message: str


@dataclass
class Lineage:
    """The lineage of a script: tables read and written, column flows, and the objects that it defines, all in the script's order. Views
    do not count as tables.
    """

    inputs: dict[Name, None] = field(default_factory=dict)
    outputs: dict[Name, None] = field(default_factory=dict)
    columns: dict[ColumnFlow, None] = field(default_factory=dict)
    indirect: dict[IndirectFlow, None] = field(default_factory=dict)
    declares: dict[Name, None] = field(default_factory=dict)
    models: dict[Name, None] = field(default_factory=dict)
    datasets: dict[Name, tuple[str, str]] = field(default_factory=dict)
    errors: list[Fault] = field(default_factory=list)

    def add(self, other: "Lineage") -> None:
        """Add the lineage of another statement."""
        self.inputs.update(other.inputs)
        self.outputs.update(other.outputs)
        self.columns.update(other.columns)
        self.indirect.update(other.indirect)
        self.declares.update(other.declares)
        self.models.update(other.models)
        self.datasets.update(other.datasets)
        self.errors += other.errors

    def as_json(self) -> dict[str, object]:
        """The lineage as `lineage-bridge sql --json` prints it."""
        return {
            "inputs": [written(name) for name in self.inputs],
            "outputs": [written(name) for name in self.outputs],
            "columns": [
                {
                    "in_table": written(flow.in_table),
                    "in_column": flow.in_column,
                    "out_table": written(flow.out_table),
                    "out_column": flow.out_column,
                    "subtype": flow.subtype.name,
                    "confidence": flow.confidence,
                }
                for flow in self.columns
            ],
            "indirect": [
                {"in_table": written(flow.in_table), "in_column": flow.in_column, "out_table": written(flow.out_table), "kind": flow.kind}
                for flow in self.indirect
            ],
            "declares": [written(name) for name in self.declares],
            "models": [written(name) for name in self.models],
            "datasets": {written(name): {"namespace": dataset[0], "name": dataset[1]} for name, dataset in self.datasets.items()},
            "errors": [{"line": fault.line, "column": fault.column, "message": fault.message} for fault in self.errors],
        }
