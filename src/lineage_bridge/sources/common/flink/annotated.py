"""Replaces the datasets that were found for a job by those that a user's annotation states. Pure."""

from dataclasses import replace

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.annotations import JobAnnotation, dataset_of
from lineage_bridge.sources.common.flink.plan import Operator, Plan
from lineage_bridge.sources.common.flink.values import DatasetAccess, JobEvidence, JobFlows, OutputFlow
from lineage_bridge.sources.common.observer import Unseen


def annotated(job: str, flows: JobFlows, annotation: JobAnnotation, evidence: JobEvidence, plan: Plan) -> tuple[JobFlows, list[Unseen]]:
    """Replace the datasets that were found by those in the annotation. Column lineage is kept if both of its datasets remain."""
    shared, missing = evidence.shared, list[Unseen]()

    def named(texts: tuple[str, ...]) -> list[DatasetName]:
        found = [(text, dataset_of(text, shared, evidence.kafka)) for text in texts]
        hint = "its Kafka cluster is unknown; set `kafka`, or write kafka://host:port/topic"
        missing.extend(Unseen(f"job {job}: {text}", hint) for text, name in found if name is None)
        return [name for _, name in found if name is not None]

    owned = [(cluster, group) for cluster in shared.clusters for group in annotation.groups if group in cluster.groups]
    read = None if annotation.inputs is None and not owned else named(annotation.inputs or ())
    if read is not None:
        read += [(cluster.namespace, topic) for cluster, group in owned for topic in sorted(cluster.groups[group])]
    wrote = None if annotation.outputs is None else named(annotation.outputs)
    inputs = flows.inputs if read is None else _replaced(flows.inputs, read, plan.sources)
    outputs = flows.outputs if wrote is None else _replaced(flows.outputs, wrote, plan.sinks)
    groups = tuple(sorted({*flows.groups, *((cluster.id, group) for cluster, group in owned)}))
    entries = flows.entries if read is None and wrote is None else _kept(flows.entries, inputs, outputs)
    return replace(flows, inputs=inputs, outputs=outputs, entries=entries, groups=groups, annotation=annotation), missing


def _replaced(found: tuple[DatasetAccess, ...], names: list[DatasetName], operators: tuple[Operator, ...]) -> tuple[DatasetAccess, ...]:
    """Return the datasets of the annotation, each with the operators that count its records. If one operator and one dataset remain
    unmatched, they are matched to each other.
    """
    known = {access.dataset: access for access in found}
    kept = [known.get(name, DatasetAccess(name)) for name in dict.fromkeys(names)]
    counted = {operator for access in kept for operator in access.operators}
    free = tuple(operator for operator in operators if operator not in counted)
    bare = [access for access in kept if not access.operators]
    if len(bare) == len(free) == 1:
        return tuple(replace(access, operators=free) if access is bare[0] else access for access in kept)
    return tuple(kept)


def _kept(entries: tuple[OutputFlow, ...], inputs: tuple[DatasetAccess, ...], outputs: tuple[DatasetAccess, ...]) -> tuple[OutputFlow, ...]:
    """Return the flows between annotated datasets. An input without a flow is assumed to flow into all outputs."""
    read = dict.fromkeys(access.dataset for access in inputs)
    known = {entry.target: entry for entry in entries}
    used = {name for entry in entries for name in entry.inputs}
    kept = []
    for name in dict.fromkeys(access.dataset for access in outputs):
        entry = known.get(name)
        if entry is None:
            kept.append(OutputFlow(name, tuple(read)))
            continue
        fields = {column: tuple(origin for origin in origins if origin[0] in read) for column, origins in entry.fields.items()}
        sources = tuple(name for name in read if name in entry.inputs or name not in used)
        kept.append(
            OutputFlow(
                name,
                sources,
                {key: some for key, some in fields.items() if some},
                tuple(column for column in entry.deciding if column[0] in read),
            )
        )
    return tuple(kept)
