"""Determines the ids of the metrics that count a job's reads and writes, and the Kafka topics that such ids contain. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_bridge.sources.common.flink.plan import Operator, Plan

Counts = dict[str, float]
"""The counters of one operator by name, summed over its subtasks."""

_READ = ("numRecordsIn", "numRecordsOut", "numBytesIn")
PENDING = "pendingRecords"
"""The gauge of what a source has not read yet. Sources of Kafka have it once they have read something."""
_WRITTEN = ("numRecordsSend", "numBytesSend", "numRecordsIn")
_TOPIC, _PARTITION = ".KafkaSourceReader.topic.", ".partition."


@dataclass(frozen=True)
class JobMetrics:
    """Which metrics count the reads and writes of a job.

    `ids`: for each vertex, the metric ids that were requested. `topics`: for each source's position in the plan, the topics in its
    metrics. `settled`: the vertices whose ids were listed when something had been read, so that no others will follow.
    """

    counts: Mapping[Operator, Counts] = field(default_factory=dict)
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topics: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()


def metrics_of(remembered: Mapping[str, Any] | None) -> JobMetrics:
    """Read the metric ids and topics of a job from its part of the snapshot."""
    known = remembered or {}
    ids = {str(vertex): tuple(ids) for vertex, ids in known.get("ids", {}).items()}
    topics = {int(index): tuple(topics) for index, topics in known.get("topics", ())}
    return JobMetrics({}, ids, topics, frozenset(map(str, known.get("settled", ()))))


def wanted_of(plan: Plan) -> dict[str, dict[str, tuple[Operator, str]]]:
    """Return the metric ids to look for: for each vertex, a mapping from the id to its operator and counter."""
    found: dict[str, dict[str, tuple[Operator, str]]] = {}
    for side, names in ((plan.sources, (*_READ, PENDING)), (plan.sinks, _WRITTEN)):
        for operator in side:
            if operator.name:
                ids = {f"{operator.metrics}.{name}": (operator, name) for name in names}
                found.setdefault(operator.vertex, {}).update(ids)
    return found


def topics_of(plan: Plan, vertex: str, ids: frozenset[str]) -> dict[int, tuple[str, ...]]:
    """Return the topics in the metric ids of a vertex, by the position of the source that reads them."""
    found: dict[int, tuple[str, ...]] = {}
    for index, operator in enumerate(plan.sources):
        head = operator.metrics + _TOPIC
        named = {id_[len(head) :].rpartition(_PARTITION)[0] for id_ in ids if operator.vertex == vertex and id_.startswith(head)}
        if named - {""}:
            found[index] = tuple(sorted(named - {""}))
    return found
