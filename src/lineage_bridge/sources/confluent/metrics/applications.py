"""Reports applications that write and read, from the metrics of clients and groups, if no other plane reports them. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.confluent.metrics.client import CLIENT, GROUP, KAFKA, PRINCIPAL, TOPIC, Row
from lineage_bridge.sources.confluent.metrics.events import FACET, FORGET_AFTER_US, PRODUCER, MetricsContext

_INTERNAL = re.compile(
    r"connector-(producer|consumer|dlq-producer|adminclient)-.*|(.*[._-])?c?lcc-[a-z0-9]+([._-].*)?"  # connectors
    r"|_?confluent[._-].*|_+schema.*|schema-?registry.*|cluster-?link.*|tableflow.*"  # Confluent itself
    r"|(.*[._-])?p?lksqlc-[a-z0-9]+.*|(.*[._-])?pksqlc-[a-z0-9]+.*|ksql.*"  # ksqlDB
    r"|(.*[._-])?lfcp-[a-z0-9]+.*|flink[._-](sql|statement)[._-].*",  # Flink
    re.IGNORECASE,
)
"""Clients of connectors, statements and queries, which other planes report as jobs."""
_RANDOM_SUFFIX = re.compile(r"[-_.]?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-StreamThread-\d+(-producer)?)?$", re.IGNORECASE)
"""The random suffix that a program appends to its client id at each start."""

State = Mapping[str, Any]


def is_internal(name: str) -> bool:
    """Whether a client or group belongs to Confluent Cloud itself: to a connector, a statement or a query."""
    return _INTERNAL.fullmatch(name) is not None


def producer_events(
    context: MetricsContext, rows: Iterable[Row], before: Mapping[str, Mapping[str, State]], excluded: Collection[str]
) -> tuple[list[Json], dict[str, dict[str, State]]]:
    """Return events about applications that write, which are streaming jobs named after their client ids, and the next snapshot of these
    applications, by cluster and name.

    A producer that writes nothing gets no events; its run stays open. `excluded`: globs of client ids. The snapshot has the `start` of
    the run and when it was last `alive` (microseconds), `topics`, `principals`, and `told`, a digest of what was emitted. Producers
    that wrote nothing for a week are removed.
    """
    written: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for row in rows:
        client, topic = row.labels.get(CLIENT, ""), context.topics.find(row.labels[KAFKA], row.labels[TOPIC])
        if row.value > 0 and topic and client and not is_internal(client) and not any(fnmatchcase(client, glob) for glob in excluded):
            name = _RANDOM_SUFFIX.sub("", client) or client
            topics, principals = written.setdefault((row.labels[KAFKA], name), (set(), set()))
            topics.add(topic[1])
            principals |= {row.labels[PRINCIPAL]} if row.labels.get(PRINCIPAL) else set()
    events: list[Json] = []
    after: dict[str, dict[str, State]] = {
        cluster: {name: state for name, state in states.items() if context.now_us - state["alive"] < FORGET_AFTER_US}
        for cluster, states in before.items()
    }
    for (cluster, name), (topics, principals) in sorted(written.items()):
        previous = after.get(cluster, {}).get(name)
        event, state = _producer_event(context, cluster, name, previous, topics, principals)
        events.append(event)
        after.setdefault(cluster, {})[name] = state
    return events, after


def _producer_event(
    context: MetricsContext, cluster: str, name: str, previous: State | None, topics: set[str], principals: set[str]
) -> tuple[Json, dict[str, Any]]:
    remembered = previous or {"start": context.now_us, "topics": (), "principals": (), "told": ""}
    every_topic = sorted({topic for topic in {*remembered["topics"], *topics} if context.topics.find(cluster, topic)})
    ids = sorted({*remembered["principals"], *principals})
    names = [context.shared.names.get(id_, id_) for id_ in ids]
    fingerprint = digest([every_topic, ids, names])
    state = {"start": remembered["start"], "alive": context.now_us, "topics": every_topic, "principals": ids, "told": fingerprint}
    namespace = context.namespaces[cluster]
    is_changed = fingerprint != remembered["told"]
    event = PRODUCER.run_event(
        "RUNNING" if previous else "START",
        context.now_us,
        run_id("confluent", cluster, "producer", name, remembered["start"]),
        (namespace, f"producer/{name}"),
        job_facets=_producer_facets(context, cluster, name, list(zip(ids, names, strict=True))) if is_changed else {},
        outputs=[PRODUCER.dataset((namespace, topic)) for topic in every_topic] if is_changed else (),
    )
    return event, state


def _producer_facets(context: MetricsContext, cluster: str, client: str, principals: list[tuple[str, str]]) -> dict[str, Json]:
    """Return the facets of a producer's job. `principals`: the names of its principals by their ids."""
    entries = [{"id": id_, "name": name} if name != id_ else {"id": id_} for id_, name in principals]
    facets: dict[str, Json] = {
        "jobType": PRODUCER.job_type("STREAMING", "KAFKA", "PRODUCER", context.heartbeat_s),
        "confluent_producer": PRODUCER.own_facet(
            "1-0-0", "ConfluentProducerJobFacet", cluster_id=cluster, client_id=client, principals=entries
        ),
    }
    if len(principals) == 1:
        facets["ownership"] = PRODUCER.ownership("Job", principals[0][1])
    return facets


def reader_events(
    context: MetricsContext, rows: Iterable[Row], before: Mapping[str, Mapping[str, list[str]]]
) -> tuple[list[Json], dict[str, dict[str, list[str]]]]:
    """Return events about groups whose topics only the lag metric reports, with their lag, and the next snapshot of these groups.

    The snapshot contains the topics by cluster and group.
    """
    listed = {cluster.id: cluster.groups for cluster in context.shared.clusters if cluster.groups}

    def is_unknown(cluster: str, group: str) -> bool:
        return cluster not in listed or listed[cluster].get(group) == frozenset()

    lags: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        cluster, group = row.labels[KAFKA], row.labels[GROUP]
        owned = (cluster, group) in context.shared.owners or is_internal(group)
        topic = context.topics.find(cluster, row.labels[TOPIC])
        if topic and group and not owned and is_unknown(cluster, group):
            lag = lags.setdefault((cluster, group), {})
            lag[topic[1]] = lag.get(topic[1], 0) + row.value
    events: list[Json] = []
    after = {
        cluster: {group: list(topics) for group, topics in groups.items() if is_unknown(cluster, group)}
        for cluster, groups in before.items()
    }
    for (cluster, group), lag in sorted(lags.items()):
        remembered = after.setdefault(cluster, {})
        topics = sorted({topic for topic in {*lag, *remembered.get(group, ())} if context.topics.find(cluster, topic)})
        events += _reader_event(
            context, cluster, group, topics, lag, is_changed=topics != remembered.get(group), is_listed=cluster in listed
        )
        remembered[group] = topics
    return events, after


def _reader_event(
    context: MetricsContext, cluster: str, group: str, topics: list[str], lag: Mapping[str, float], *, is_changed: bool, is_listed: bool
) -> list[Json]:
    """Return the event about a group that reads. `is_listed`: whether the groups plane reports the group, but not its topics."""
    job: DatasetName = context.namespaces[cluster], f"consumer-group/{group}"
    facet = context.facet("Job", job, {"lag": round(sum(lag.values()))})
    facets: dict[str, Json] = {FACET: facet} if facet else {}
    if is_changed:
        if not is_listed:
            facets["jobType"] = PRODUCER.job_type("STREAMING", "KAFKA", "CONSUMER_GROUP")
        inputs = [PRODUCER.dataset((job[0], topic)) for topic in topics]
        return [PRODUCER.job_event(context.now_us, job, job_facets=facets, inputs=inputs)]
    return [PRODUCER.job_event(context.now_us, job, job_facets=facets)] if facets else []
