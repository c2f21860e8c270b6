"""Names the source that would report a missing fact: what a job reads and writes, how far it is behind, who may read a dataset. Pure."""

from typing import Final, Literal

from lineage_bridge.graph.identity.node_ids import CONFLUENT, TOPIC, dataset_type, job_type, system_of
from lineage_bridge.model.graph import Node

Side = Literal["input", "output"]
PRODUCER: Final = "producer"
"""In place of a kind of source: only the job's own OpenLineage events can tell, in `inputStatistics` and `outputStatistics`."""
_KINDS: Final = {
    "consumer_group": "kafka",
    "streams_application": "kafka",
    "connector": "connect",
    "flink_job": "flink",
    "ksqldb_query": "ksqldb",
}
_LAGS: Final = {"consumer_group": "kafka", "streams_application": "kafka", "connector": "kafka", "flink_job": "flink"}
_LAGS_OF_CONFLUENT: Final = frozenset({"consumer_group", "streams_application"})
_OF_TOPICS: Final = frozenset({"consumer_group", "streams_application", "connector"})
"""The types of jobs of which sources count only the records of topics."""
_OF_INPUTS: Final = frozenset({"consumer_group", "streams_application"})


def collector(job: Node, dataset: Node, side: Side, job_type_facet: str | None) -> str:
    """The kind of source that can report how much a job reads from, or writes to, a dataset; PRODUCER if no source can."""
    type_ = job_type(job.namespace, job.name, job_type_facet)
    kind = _KINDS.get(type_)
    if kind is None or (type_ in _OF_TOPICS and dataset_type(dataset.namespace, dataset.name) != TOPIC):
        return PRODUCER
    if type_ in _OF_INPUTS and side == "output":
        return PRODUCER
    if CONFLUENT in (system_of(job.namespace), system_of(dataset.namespace)):
        return "confluent"
    return "msk-connect" if job.namespace.startswith("msk-connect://") else kind


def lag_collector(job: Node, dataset: Node, job_type_facet: str | None) -> str:
    """The kind of source that would report how far a job is behind at a topic; empty if there is none, or the dataset is not a topic."""
    type_ = job_type(job.namespace, job.name, job_type_facet)
    if type_ not in _LAGS or dataset_type(dataset.namespace, dataset.name) != TOPIC:
        return ""
    if CONFLUENT in (system_of(job.namespace), system_of(dataset.namespace)):
        return "confluent" if type_ in _LAGS_OF_CONFLUENT else ""
    return _LAGS[type_]


def rights_collector(dataset: Node) -> str:
    """The kind of source that would report who may read and write a dataset; empty if no source would."""
    if dataset_type(dataset.namespace, dataset.name) != TOPIC:
        return ""
    return "confluent" if system_of(dataset.namespace) == CONFLUENT else "kafka"


def rights_not_observed(dataset: Node, *, ruled: bool) -> tuple[str, ...]:
    """Which rights no source observes where the rules for a dataset are known: those of "super_users"; by "role_bindings" of Confluent
    Cloud, or by "policies" that are not rules of the cluster; and, without any rule for the dataset (not `ruled`), by a "default" of the
    cluster, which may let everybody use it.
    """
    if system_of(dataset.namespace) == CONFLUENT:
        return ("role_bindings",)
    return ("super_users", "policies") if ruled else ("super_users", "policies", "default")
