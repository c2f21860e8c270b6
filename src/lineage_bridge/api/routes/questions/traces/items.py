"""Converts what traces find to the JSON that answers contain."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from msgspec import UNSET

from lineage_bridge.api import position_tokens
from lineage_bridge.api.schemas.nodes import GraphNode, TransformationItem
from lineage_bridge.api.schemas.traces.access import AccessItem, PrincipalItem
from lineage_bridge.api.schemas.traces.answers import (
    HeldDataset,
    KeptDataset,
    ProofAnswer,
    TraceAnswer,
    TraceColumn,
    TraceCoverage,
    TraceFlow,
    TraceGap,
    TraceSuggestion,
    TraceSuggestions,
)
from lineage_bridge.api.serialization import graph_node, node_id_of, other_name, time_text, trace_digest
from lineage_bridge.graph.contents.stewardship import Stewardship
from lineage_bridge.graph.relations import Origin
from lineage_bridge.model.graph import Node
from lineage_bridge.model.lineage import Gap, Proof, Trace, TracedFlow
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import ProgressReader
from lineage_bridge.projections.overview import system_name
from lineage_bridge.projections.traces.access import Access
from lineage_bridge.projections.traces.held import Held
from lineage_bridge.projections.traces.suggestions import Suggestions

_ORIGINS = {origin: origin.name.lower() for origin in Origin}


def trace_answer(progress: ProgressReader, trace: Trace, kept: Mapping[Node, Stewardship], names: Mapping[int, Node]) -> TraceAnswer:
    """The answer about a trace, with the owners and the retention of its datasets. Members that are only included on request are absent.
    `names` are the names of its nodes in the style of the answer, by node id.
    """
    every = sorted(trace.nodes, key=lambda node: (node.kind, node.namespace, node.name))
    proofs: dict[Proof, ProofAnswer] = {}

    def shown(node: Node) -> GraphNode:
        return graph_node(node, dropped=node.id in trace.dropped, goes_by=other_name(node, names))

    return TraceAnswer(
        origin=shown(trace.origin),
        field=trace.options.field,
        direction=trace.options.direction,
        depth=trace.options.depth,
        nodes=list(map(shown, every)),
        columns=[
            TraceColumn(node_id_of(c.node), c.field, UNSET if c.distance is None else c.distance, c.end or UNSET) for c in trace.columns
        ],
        flows=[_flow(flow, proofs) for flow in trace.flows],
        kept=[KeptDataset(node_id_of(node), list(found.owners), found.retention) for node, found in kept.items()],
        coverage=TraceCoverage(trace.coverage.with_columns, trace.coverage.without_columns, [_gap(gap) for gap in trace.coverage.gaps]),
        truncated=trace.truncated,
        hidden=trace.hidden,
        resolution=trace.resolution,
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        digest=trace_digest(trace, kept),
        hidden_ended=trace.ended,
    )


def held_datasets(found: Iterable[Held]) -> list[HeldDataset]:
    """Where the values of a trace are, in the same order."""
    return [
        HeldDataset(
            node=node_id_of(held.node),
            system=system_name(held.node.namespace),
            fields=list(held.fields),
            left_out=held.left_out or UNSET,
            last_written=time_text(held.last_written),
        )
        for held in found
    ]


def dataset_access(found: Access) -> AccessItem:
    """Who may read and write a dataset, and which jobs do."""
    rights = found.rights

    def principals(some: Sequence[str]) -> list[PrincipalItem]:
        return [PrincipalItem(id_, rights.names.get(id_, "") if rights else "") for id_ in some]

    return AccessItem(
        node=node_id_of(found.node),
        may_read=UNSET if rights is None else principals(rights.may_read),
        may_write=UNSET if rights is None else principals(rights.may_write),
        not_read=[] if rights is None else principals(rights.not_read),
        not_write=[] if rights is None else principals(rights.not_write),
        no_rules=rights is not None and not rights.ruled,
        not_observed=list(found.others),
        observed=time_text(found.observed),
        collector=found.collector or UNSET,
        readers=[graph_node(job) for job in found.readers],
        writers=[graph_node(job) for job in found.writers],
        hidden=found.hidden,
        cut=found.cut,
    )


def trace_suggestions(found: Suggestions) -> TraceSuggestions:
    """Columns of the same name behind the gaps of a trace."""
    return TraceSuggestions(
        [
            TraceSuggestion(node_id_of(item.near), item.near_field, node_id_of(item.node), item.field, node_id_of(item.gap.job))
            for item in found.items
        ],
        found.cut,
    )


def _flow(flow: TracedFlow, proofs: dict[Proof, ProofAnswer]) -> TraceFlow:
    """A flow as answers show it. `proofs` keeps the proofs as answers show them, because one event states many flows."""
    proof = flow.proof
    if proof and proof not in proofs:
        proofs[proof] = ProofAnswer(proof.event.hex(), format_time(proof.time), str(UUID(bytes=proof.asserted_by)))
    return TraceFlow(
        source=node_id_of(flow.source),
        source_field=flow.source_field,
        target=node_id_of(flow.target),
        target_field=flow.target_field,
        job=node_id_of(flow.job),
        origin=_ORIGINS[flow.origin],
        transformations=[TransformationItem(*change) for change in flow.transformations],
        masked=flow.masked,
        indirect=flow.indirect,
        descriptions=list(flow.descriptions),
        proof=proofs[proof] if proof else UNSET,
    )


def _gap(gap: Gap) -> TraceGap:
    return TraceGap(
        node_id_of(gap.source),
        node_id_of(gap.target),
        node_id_of(gap.job),
        _ORIGINS[gap.origin],
        gap.evidence.text,
    )
