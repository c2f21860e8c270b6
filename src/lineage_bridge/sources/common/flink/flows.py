"""Determines what a job reads and writes. It uses, in this order, annotations, the SQL that started the job, DDL, the plan, and metrics.
Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.annotated import annotated
from lineage_bridge.sources.common.flink.annotations import annotation_of
from lineage_bridge.sources.common.flink.datasets import Find, accesses_of, keys_of
from lineage_bridge.sources.common.flink.entries import of_plan, of_statement
from lineage_bridge.sources.common.flink.plan import Plan
from lineage_bridge.sources.common.flink.tables import DeclaredTables, JobStatement, KnownTable
from lineage_bridge.sources.common.flink.values import DatasetAccess, JobEvidence, JobFlows, TableAccesses
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sql.names import written


def flows_of(job: str, plan: Plan, topics: Mapping[int, tuple[str, ...]], evidence: JobEvidence) -> JobFlows:
    """Return the datasets and flows of a job.

    `topics`: for each source's position in the plan, the topics in its metrics, in which `_` stands for `.`.
    """
    origins = _origins(job, plan, evidence.declared)
    origin = origins[0] if len(origins) == 1 else None
    statement, find = (origin.job if origin else None), _finder(origin, evidence.declared)
    read, written_ = statement.tables if statement else (frozenset(), frozenset())
    sources = keys_of(plan.sources, read, plan, find)
    sinks = keys_of(plan.sinks, written_, plan, find)
    inputs = accesses_of(job, sources, plan.sources, read, find, evidence, topics)
    outputs = accesses_of(job, sinks, plan.sinks, written_, find, evidence, {})
    entries = of_statement(statement, inputs, outputs, find) if statement else of_plan(plan, sources, sinks, inputs, outputs)
    tables = [table for path in inputs if (table := find(path)) is not None]
    flows = JobFlows(
        _merged(inputs.values()),
        _merged(outputs.values()),
        entries,
        statement.text if statement else "",
        groups=_groups(tables, evidence.shared),
    )
    annotation = annotation_of(job, evidence.annotations)
    unseen = _statement_unseen(job, origins, evidence.declared)
    if annotation is not None:
        flows, missing = annotated(job, flows, annotation, evidence, plan)
        unseen += missing
    return replace(flows, unseen=(*unseen, *_unknown_sides(job, flows, plan, inputs, outputs)))


def _origins(job: str, plan: Plan, declared: DeclaredTables) -> list[JobStatement]:
    read = [operator.table for operator in plan.sources if operator.table]
    found = declared.origins(job, read, [operator.table for operator in plan.sinks if operator.table])
    return list({access.job.text: access for access in found}.values())


def _finder(origin: JobStatement | None, declared: DeclaredTables) -> Find:
    own = origin.tables if origin else {}
    return lambda path: own.get(path) or declared.table(path)


def _statement_unseen(job: str, origins: list[JobStatement], declared: DeclaredTables) -> list[Unseen]:
    if len(origins) > 1:
        return [Unseen(f"job {job}: statement", f"{len(origins)} statements may have started the job; give each its own pipeline.name")]
    if not origins and job in declared.named:
        return [
            Unseen(
                f"job {job}: statement",
                "the tables of the job's plan are not in the statement with the job's name; check that the job runs this statement",
            )
        ]
    return []


def _merged(found: Iterable[tuple[DatasetAccess, ...]]) -> tuple[DatasetAccess, ...]:
    """Merge several accesses to the same dataset into one."""
    merged: dict[DatasetName, DatasetAccess] = {}
    for accesses in found:
        for access in accesses:
            known = merged.get(access.dataset)
            merged[access.dataset] = known.joined(access) if known else access
    return tuple(merged.values())


def _groups(tables: Iterable[KnownTable], shared: SharedMetadata) -> tuple[tuple[str, str], ...]:
    found = {(cluster.id, table.group) for table in tables if table.group and (cluster := shared.cluster(table.servers)) is not None}
    return tuple(sorted(found))


def _unknown_sides(job: str, flows: JobFlows, plan: Plan, inputs: TableAccesses, outputs: TableAccesses) -> list[Unseen]:
    """Report which datasets remain unknown, with a hint how the user can state them."""
    annotation = flows.annotation
    open_in, open_out = (
        annotation is None or (annotation.inputs is None and not annotation.groups),
        annotation is None or annotation.outputs is None,
    )
    sides = [
        (found, operators) for found, operators, is_open in ((inputs, plan.sources, open_in), (outputs, plan.sinks, open_out)) if is_open
    ]
    tables = sorted({written(key) for found, _ in sides for key, accesses in found.items() if any(access.inferred for access in accesses)})
    bare = sorted({operators[int(key[1])].name for found, operators in sides for key, accesses in found.items() if not accesses})
    unseen = []
    if tables:
        why = (
            f"the datasets of the tables {', '.join(tables)} are unknown; give their DDL in `init_sql` or `statements`, or annotate the job"
        )
        unseen.append(Unseen(f"job {job}: tables", why))
    if bare and not flows.sql:
        why = f"the plan only has operators without tables ({', '.join(bare)}); name the inputs and outputs of {job!r} in `annotations`"
        unseen.append(Unseen(f"job {job}: datasets", why))
    return unseen
