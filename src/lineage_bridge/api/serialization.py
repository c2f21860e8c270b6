"""Converts values of the graph to the JSON that answers contain."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

import msgspec
from msgspec import UNSET, Raw, UnsetType

from lineage_bridge.api.schemas.intake import QuarantineItem, RejectedJob
from lineage_bridge.api.schemas.lineage import RunEvent
from lineage_bridge.api.schemas.names import DatasetRef, DescribedNode, JobRef
from lineage_bridge.api.schemas.nodes import GraphNode, ListedNode, NodeDetails
from lineage_bridge.api.schemas.runs import RunItem
from lineage_bridge.api.schemas.schema_versions import FieldItem, Retyped
from lineage_bridge.graph.contents.schema_versions import FieldChange, Path
from lineage_bridge.graph.contents.stewardship import Stewardship, stewardship
from lineage_bridge.graph.identity.node_ids import display_name
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.liveness import liveness
from lineage_bridge.ingest.event_sender import EventSender
from lineage_bridge.model.events import QuarantineRecord
from lineage_bridge.model.graph import Node, Port
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.model.lineage import Trace
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.openlineage.verdict import EVENT_TYPES
from lineage_bridge.ports.graph_reader import GraphReader, NodeReader
from lineage_bridge.projections.event_shapes import RunRef
from lineage_bridge.projections.job_states import job_state
from lineage_bridge.projections.nodes import node_id_text, tags_of
from lineage_bridge.projections.overview import system_name
from lineage_bridge.projections.shapes import Name
from lineage_bridge.projections.traces.access import Access
from lineage_bridge.projections.views import PRODUCER

_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
KIND_NAMES = {kind: kind.name.lower() for kind in NodeKind}
_KEPT_TIMES = 8_192
_time_text = lru_cache(_KEPT_TIMES)(format_time)


def dataset_name(dataset: Node) -> DatasetRef:
    """The namespace and name of a dataset, as answers contain them."""
    return DatasetRef(dataset.namespace, dataset.name)


def dataset_names(datasets: Iterable[Node]) -> list[DatasetRef]:
    """The namespaces and names of datasets, sorted, as answers contain them."""
    return [DatasetRef(*pair) for pair in sorted({(node.namespace, node.name) for node in datasets})]


def job_name(job: Node) -> JobRef:
    """The namespace and name of a job, as answers contain them."""
    return JobRef(job.namespace, job.name)


def job_names(jobs: Iterable[Node]) -> list[JobRef]:
    """The namespaces and names of jobs, sorted and without repeats, as answers contain them."""
    return [JobRef(*pair) for pair in sorted({(node.namespace, node.name) for node in jobs})]


def node_id_of(node: Node) -> str:
    """The id of a node in answers: 16 hexadecimal digits."""
    return node_id_text(node.id)


def trace_digest(trace: Trace, kept: Mapping[Node, Stewardship], access: tuple[Sequence[Access], int] | None = None) -> str:
    """The SHA-256 of a trace in hexadecimal digits. It covers the question and what was found, by names, but not the proofs, which change
    with each event. With `access`, also who may read and write the datasets and which jobs do, but not when that was observed; and how many
    datasets are left out.
    """
    texts = {node: [node.kind.name, node.namespace, node.name] for node in trace.nodes}

    def named(*nodes: Node) -> list[str]:
        return [text for node in nodes for text in (texts.get(node) or (node.kind.name, node.namespace, node.name))]

    options, coverage = trace.options, trace.coverage
    content = [
        [*named(trace.origin), options.field, options.direction, options.depth, options.indirect, options.through_masking, options.gaps],
        sorted(
            [*named(column.node), column.field, -1 if column.distance is None else column.distance, column.end] for column in trace.columns
        ),
        sorted(
            [
                *texts[flow.source],
                *texts[flow.target],
                *texts[flow.job],
                *(flow.source_field, flow.target_field, flow.origin.name, flow.masked, flow.indirect),
                *(list(flow.transformations), list(flow.descriptions)),
            ]
            for flow in trace.flows
        ),
        [coverage.with_columns, coverage.without_columns],
        sorted([*named(node), list(found.owners), found.retention] for node, found in kept.items()),
        sorted([*named(gap.source, gap.target, gap.job), gap.origin.name, gap.evidence.text] for gap in coverage.gaps),
        [trace.truncated, trace.hidden],
    ]
    if trace.dropped:
        content.append(sorted({column.node.id: named(column.node) for column in trace.columns if column.node.id in trace.dropped}.values()))
    if access is not None:
        content.append([access[1], sorted([*named(item.node), *_named_access(item, named)] for item in access[0])])
    return sha256(msgspec.json.encode(content)).hexdigest()


def _named_access(item: Access, named: Callable[..., list[str]]) -> list[object]:
    rights = [] if item.rights is None else [*map(list, item.rights.lists), sorted(item.rights.names.items()), item.rights.ruled]
    return [rights, named(*item.readers), named(*item.writers), item.hidden, item.cut]


def graph_node(node: Node, *, dropped: bool = False, goes_by: Name | UnsetType = UNSET) -> GraphNode:
    """A node as answers show it, with its kind and id."""
    return GraphNode(node_id_of(node), KIND_NAMES[node.kind], node.namespace, node.name, goes_by, dropped)


def other_name(node: Node, names: Mapping[int, Node]) -> Name | UnsetType:
    """The name of a node in the style of an answer, if it differs from the one that producers wrote. `names` has it by the node's id."""
    named = names[node.id]
    return UNSET if named == node else Name(named.namespace, named.name)


def described_node(nodes: NodeReader, node: Node) -> DescribedNode:
    """A node as answers show it, with its current facets."""
    return DescribedNode(node.namespace, node.name, _facets(nodes, node))


def listed_node(nodes: NodeReader, node: Node, details: NodeDetails | UnsetType) -> ListedNode:
    """A node as lists show it, with its current facets."""
    return ListedNode(node.namespace, node.name, _facets(nodes, node), details)


def _facets(nodes: NodeReader, node: Node) -> dict[str, Raw]:
    return {key: Raw(text.encode()) for key, text in nodes.facets(node).items()}


def time_text(us: int | None) -> str | UnsetType:
    """A time as answers write it (RFC 3339)."""
    return UNSET if us is None else _time_text(us)


def run_item(record: RunRecord, now_us: int | None = None) -> RunItem:
    """A run as answers show it, with what it read and wrote. If a time is given, also the liveness of a streaming run by its heartbeats."""
    state = None if now_us is None or record.heartbeat_us is None else liveness(record.last, now_us, record.heartbeat_us)
    return RunItem(
        run_id=record.run_id,
        job=job_name(record.job),
        state=record.state,
        last_seen=format_time(record.last),
        inputs=dataset_names(record.inputs),
        outputs=dataset_names(record.outputs),
        raw_id=record.raw_id or UNSET,
        started_at=time_text(record.started),
        ended_at=time_text(record.ended),
        started_inferred=record.started_inferred,
        conflict=record.conflict,
        parent_run_id=record.parent_run_id or UNSET,
        parent_job=_job(record.parent_job),
        unobserved=not record.observed,
        streaming=record.streaming,
        named_parent_job=_job(record.named_parent_job),
        root_run_id=record.root_run_id or UNSET,
        root_job=_job(record.root_job),
        nominal_start=time_text(record.nominal[0]),
        nominal_end=time_text(record.nominal[1]),
        liveness=state.value if state else UNSET,
        failures=[*record.failures] or UNSET,
    )


def _job(node: Node | None) -> JobRef | UnsetType:
    return job_name(node) if node else UNSET


def run_event(record: RunRecord, names: Mapping[int, Node]) -> RunEvent:
    """The OpenLineage event that summarizes a run. `names` gives the names of its job and datasets by node id."""
    return RunEvent(
        event_time=_time_text(record.ended if record.ended is not None else record.last),
        job=job_name(names[record.job.id]),
        inputs=[*dataset_names(names[node.id] for node in record.inputs)],
        outputs=[*dataset_names(names[node.id] for node in record.outputs)],
        producer=PRODUCER,
        schema_url=_SPEC + "RunEvent",
        event_type=record.state if record.state in EVENT_TYPES else UNSET,
        run=RunRef(record.run_id),
    )


def job_event(job: Node, ports: Iterable[Port], now_us: int) -> RunEvent:
    """The OpenLineage event that summarizes a job without a run: its declared inputs and outputs."""
    all_ports = list(ports)
    seen = [port.last for port in all_ports if port.last is not None]
    return RunEvent(
        event_time=format_time(max(seen, default=now_us)),
        job=job_name(job),
        inputs=[*dataset_names(port.dataset for port in all_ports if port.side == Side.INPUT)],
        outputs=[*dataset_names(port.dataset for port in all_ports if port.side == Side.OUTPUT)],
        producer=PRODUCER,
        schema_url=_SPEC + "JobEvent",
    )


def dataset_event(dataset: Node, sources: Iterable[Node], seen_us: int) -> RunEvent:
    """The OpenLineage event that summarizes the lineage that a dataset declares for itself."""
    own = dataset_name(dataset)
    return RunEvent(
        event_time=format_time(seen_us),
        inputs=[*dataset_names(sources)],
        outputs=[own],
        producer=PRODUCER,
        schema_url=_SPEC + "DatasetEvent",
        dataset=own,
    )


def node_details(entry: InventoryEntry, newest: RunRecord | None, now_us: int) -> NodeDetails:
    """The details of a node as answers show them. For a job they include the state of its newest run; for a dataset, when it was last
    written and read.
    """
    is_job = entry.node.kind == NodeKind.JOB
    run = newest if newest and newest.observed else None
    kept = stewardship(entry.facets)
    return NodeDetails(
        system=system_name(entry.node.namespace),
        node_type=entry.node_id.type,
        display_name=display_name(entry.node_id.type, entry.node.name),
        state=job_state(run, now_us) if is_job else UNSET,
        last_seen=time_text(run.last if run else None),
        tags=tags_of(entry) or UNSET,
        owners=list(kept.owners) or UNSET,
        retention=kept.retention or UNSET,
        freshness=kept.freshness or UNSET,
        last_written=UNSET if is_job else time_text(entry.last_written),
        last_read=UNSET if is_job else time_text(entry.last_read),
    )


def details_of(reader: GraphReader, nodes: Iterable[Node], now_us: int) -> dict[int, NodeDetails]:
    """The details of nodes as answers show them, by node id; of jobs with the state at this time (UTC microseconds)."""
    entries = reader.inventory.described(nodes)
    jobs = {entry.node.id: entry.node for entry in entries.values() if entry.node.kind == NodeKind.JOB}
    newest = reader.runs.latest_of(jobs.values(), with_datasets=False)
    return {id_: node_details(entry, newest.get(entry.node.id), now_us) for id_, entry in entries.items()}


def quarantine_item(record: QuarantineRecord, sender: EventSender) -> QuarantineItem:
    """A rejected event as answers show it, with its sender."""
    job = RejectedJob(sender.namespace or UNSET, sender.name or UNSET)
    return QuarantineItem(
        event_id=record.event.hex(),
        code=record.code,
        path=record.path,
        message=record.message,
        arrived_at=format_time(record.arrival),
        channel=record.channel,
        size=record.size,
        sample=record.sample,
        job=job if sender.namespace or sender.name else UNSET,
        producer=sender.producer or UNSET,
        principal=record.principal or UNSET,
    )


def field_items(found: Iterable[tuple[Path, str | None]]) -> list[FieldItem]:
    """Fields of a schema, by their paths and types, as answers show them."""
    return [FieldItem(list(path), UNSET if type_ is None else type_) for path, type_ in found]


def retyped(found: Iterable[FieldChange]) -> list[Retyped]:
    """Fields whose type changed, as answers show them."""
    return [Retyped(list(c.path), UNSET if c.before is None else c.before, UNSET if c.after is None else c.after) for c in found]
