"""Finds which inputs of a job flow into which outputs, from its SQL statement or its plan. Pure."""

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.datasets import Find
from lineage_bridge.sources.common.flink.plan import Plan
from lineage_bridge.sources.common.flink.values import Column, OutputFlow, TableAccesses
from lineage_bridge.sql.jobs import StartedJob
from lineage_bridge.sql.names import Name


def of_plan(plan: Plan, sources: list[Name], sinks: list[Name], inputs: TableAccesses, outputs: TableAccesses) -> tuple[OutputFlow, ...]:
    """Return the flows that follow from the plan: from each source to the sinks that it reaches. `sources` and `sinks`: the keys of its
    operators.
    """
    inputs_of_sink: dict[DatasetName, dict[DatasetName, None]] = {}
    for index, key in enumerate(sinks):
        read = [access.dataset for source, sink in plan.pairs if sink == index for access in inputs[sources[source]]]
        for access in outputs[key]:
            inputs_of_sink.setdefault(access.dataset, {}).update(dict.fromkeys(read))
    return tuple(OutputFlow(target, tuple(read)) for target, read in inputs_of_sink.items())


def of_statement(statement: StartedJob, inputs: TableAccesses, outputs: TableAccesses, find: Find) -> tuple[OutputFlow, ...]:
    """Return the flows that the SQL statement of a job states, with the datasets' own names of columns."""

    def column(name: Name, column: str) -> str:
        table = find(statement.paths[name])
        return table.column(column) if table else column

    def read(name: Name) -> list[DatasetName]:
        return [access.dataset for access in inputs.get(statement.paths[name], ())]

    entries: dict[DatasetName, OutputFlow] = {}
    for table, sources in statement.reads.items():
        fields: dict[str, list[Column]] = {}
        for flow in statement.lineage.columns:
            if flow.out_table == table:
                came = [(name, column(flow.in_table, flow.in_column), flow.subtype.name) for name in read(flow.in_table)]
                fields.setdefault(column(table, flow.out_column), []).extend(came)
        indirect = [flow for flow in statement.lineage.indirect if flow.out_table == table]
        deciding = [(name, column(flow.in_table, flow.in_column), flow.kind) for flow in indirect for name in read(flow.in_table)]
        datasets = tuple(dict.fromkeys(name for source in sources for name in read(source)))
        for access in outputs.get(statement.paths[table], ()):
            columns = {name: tuple(dict.fromkeys(origins)) for name, origins in fields.items()}
            entry = OutputFlow(access.dataset, datasets, columns, tuple(dict.fromkeys(deciding)))
            entries[access.dataset] = _both(entries.get(access.dataset), entry)
    return tuple(entries.values())


def _both(first: OutputFlow | None, other: OutputFlow) -> OutputFlow:
    """Merge the flows of two statements into the same output."""
    if first is None:
        return other
    fields = {
        name: tuple(dict.fromkeys((*first.fields.get(name, ()), *other.fields.get(name, ())))) for name in {**first.fields, **other.fields}
    }
    inputs = tuple(dict.fromkeys((*first.inputs, *other.inputs)))
    return OutputFlow(first.target, inputs, fields, tuple(dict.fromkeys((*first.deciding, *other.deciding))))
