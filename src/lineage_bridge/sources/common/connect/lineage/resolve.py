"""Derives a connector's external datasets, its topics, and the flows between them from its configuration and other evidence."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue, catalogue
from lineage_bridge.sources.common.connect.catalogue.family import SOURCE, ConnectorClass
from lineage_bridge.sources.common.connect.catalogue.templates import holes
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView
from lineage_bridge.sources.common.connect.lineage.connection import (
    Connection,
    ConnectorEvidence,
    ConnectorFlow,
    EvidenceKind,
    ExternalDataset,
    TopicUse,
    merge_evidence,
)
from lineage_bridge.sources.common.connect.lineage.flows import TracedFlows, trace_sink, trace_source
from lineage_bridge.sources.common.connect.lineage.programs import without_code
from lineage_bridge.sources.common.connect.lineage.side_topics import side_topics
from lineage_bridge.sources.common.connect.transforms.chain import Chain, read_chain

NOTHING_ELSE = ConnectorEvidence()
_SERVER, _SERVERS_OF_OLD = "topic.prefix", ("database.server.name", "mongodb.name")
_AFTER_ONLY = "after.state.only"
_AFTER_ONLY_BY_DEFAULT = frozenset(("PostgresCdcSource", "MySqlCdcSource", "SqlServerCdcSource"))
"""Confluent Cloud's first generation of Debezium connectors: their records are rows unless a setting says otherwise."""


def resolve(config: Mapping[str, str], evidence: ConnectorEvidence = NOTHING_ELSE, classes: Catalogue | None = None) -> Connection:
    """Determine a connector's external datasets, topics and flows. `classes`: the catalogue, including a user's own mappings."""
    settings = without_code({**config, **evidence.settings})
    connector = _as_configured((catalogue() if classes is None else classes).find(settings, evidence.direction), settings)
    view = ConnectorView(connector, _as_observed(connector, settings, evidence), evidence)
    chain = read_chain(without_code(config))
    side = side_topics(view, chain)
    is_source = connector.direction == SOURCE
    traced = (trace_source if is_source else trace_sink)(view, chain, frozenset(use.name for _, use in side))
    more = (EvidenceKind.INFERRED,) if connector.inferred else ()
    return Connection(
        connector,
        chain,
        _merged_datasets(traced.datasets, more),
        _merged_topics([*(use for way, use in side if way != "out"), *([] if is_source else traced.topics)]),
        _merged_topics([*(use for way, use in side if way != "in"), *(traced.topics if is_source else [])]),
        _merged_flows(traced.flows, more),
        _unknown(view, chain, traced),
    )


def _as_configured(connector: ConnectorClass, settings: Mapping[str, str]) -> ConnectorClass:
    """Return the family with the shape that the settings select: a Debezium connector in Confluent Cloud that writes rows instead of
    envelopes has the shape `row`.
    """
    named = settings.get("connector.class", "").strip()
    if connector.shape != "debezium" or named not in connector.managed:
        return connector
    setting = settings.get(_AFTER_ONLY, "true" if named in _AFTER_ONLY_BY_DEFAULT else "")
    return replace(connector, shape="row") if setting.strip().lower() == "true" else connector


def _as_observed(connector: ConnectorClass, settings: Mapping[str, str], evidence: ConnectorEvidence) -> Mapping[str, str]:
    """Return the settings without Debezium's newer setting for the server's name, if the names of used topics show that the older
    setting is in effect.
    """
    prefix, *names = (settings.get(key, "").strip() for key in (_SERVER, *_SERVERS_OF_OLD))
    name = next(filter(None, names), "")
    if _SERVER not in holes(connector.topic) or not prefix or not name:
        return settings
    used = evidence.observed_topics
    if not any(topic.startswith(f"{name}.") for topic in used) or any(topic.startswith(f"{prefix}.") for topic in used):
        return settings
    return {key: value for key, value in settings.items() if key != _SERVER}


def _merged_datasets(found: Iterable[ExternalDataset], more: tuple[EvidenceKind, ...]) -> tuple[ExternalDataset, ...]:
    """Merge repeated datasets: return one entry per dataset, with all evidence for it."""
    merged: dict[DatasetName, ExternalDataset] = {}
    for dataset in found:
        earlier = merged.get(dataset.dataset, dataset)
        evidence = merge_evidence((*earlier.evidence, *dataset.evidence, *more))
        merged[dataset.dataset] = dataset._replace(evidence=evidence, symlinks=tuple(sorted({*earlier.symlinks, *dataset.symlinks})))
    return tuple(merged[name] for name in sorted(merged))


def _merged_topics(found: Iterable[TopicUse]) -> tuple[TopicUse, ...]:
    """Merge repeated topics: return one entry per topic and role, with all evidence for it."""
    merged: dict[tuple[str, str, bool], tuple[EvidenceKind, ...]] = {}
    for use in found:
        key = (use.name, use.role, use.is_pattern)
        merged[key] = merge_evidence((*merged.get(key, ()), *use.evidence))
    return tuple(TopicUse(*key, evidence) for key, evidence in sorted(merged.items()))


def _merged_flows(found: Iterable[ConnectorFlow], more: tuple[EvidenceKind, ...]) -> tuple[ConnectorFlow, ...]:
    """Merge repeated flows: return one entry per dataset and topic. The result is certain if one of the merged flows is certain. Flows
    without a dataset come first.
    """
    merged: dict[tuple[DatasetName, str, str, bool], ConnectorFlow] = {}
    for flow in found:
        key = (flow.outside or ("", ""), flow.topic, flow.before, flow.is_pattern)
        earlier = merged.get(key, flow)
        evidence = merge_evidence((*earlier.evidence, *flow.evidence, *more))
        merged[key] = flow._replace(evidence=evidence, maybe=earlier.maybe and flow.maybe)
    return tuple(merged[key] for key in sorted(merged))


def _unknown(view: ConnectorView, chain: Chain, traced: TracedFlows) -> tuple[str, ...]:
    """Return texts about what could not be determined about a connector, and why."""
    reasons = [f"the class {view.setting('connector.class') or '(none)'} is not known"] if view.connector.inferred else []
    reasons += [f"the transform {alias} is not known: fields after it are unknown" for alias in chain.unknown]
    has_none = not traced.datasets or any(flow.outside is None for flow in traced.flows)
    if has_none and (missing := view.missing()):
        reasons.append(f"datasets cannot be named without {', '.join(missing)}")
    elif not traced.datasets and (view.connector.namespace or view.connector.jdbc or view.connector.path or view.connector.reader):
        reasons.append("no external object is listed or was observed")
    reasons += [f"the data decides the topics {topic.name}" for topic in traced.topics if topic.is_pattern]
    if not traced.topics:
        reasons.append("no topic is listed or was observed")
    return tuple(sorted(set(reasons)))
