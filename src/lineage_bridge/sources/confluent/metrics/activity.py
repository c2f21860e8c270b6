"""Who writes and reads, as the Metrics API counts it by client and by group: evidence of applications that nothing else tells of. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.confluent.metrics.client import CLIENT, GROUP, KAFKA, PRINCIPAL, TOPIC, Row
from lineage_bridge.sources.confluent.statistics import FACET, FORGOTTEN_US, OUT, Telling

_INTERNAL = re.compile(
    r"connector-(producer|consumer|dlq-producer|adminclient)-.*|(.*[._-])?lcc-[a-z0-9]+([._-].*)?"  # connectors
    r"|_?confluent[._-].*|_+schema.*|schema-?registry.*|cluster-?link.*|tableflow.*"  # Confluent itself
    r"|(.*[._-])?p?lksqlc-[a-z0-9]+.*|(.*[._-])?pksqlc-[a-z0-9]+.*|ksql.*"  # ksqlDB
    r"|(.*[._-])?lfcp-[a-z0-9]+.*|flink[._-](sql|statement)[._-].*",  # Flink
    re.IGNORECASE,
)
"""Clients of what is told as jobs of its own."""
_MADE_UP = re.compile(r"[-_.]?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-StreamThread-\d+(-producer)?)?$", re.IGNORECASE)
"""What a program adds to its name at each start."""

State = Mapping[str, Any]


def is_internal(name: str) -> bool:
    """Whether a client or group is one of Confluent Cloud's own: a connector's, a statement's, a query's."""
    return _INTERNAL.fullmatch(name) is not None


def clients(
    telling: Telling, rows: Iterable[Row], before: Mapping[str, Mapping[str, State]], excluded: Collection[str]
) -> tuple[list[Json], dict[str, dict[str, State]]]:
    """Applications that write, as streaming jobs, by what they call themselves. One that writes nothing is silent: its run stays open.

    Of each is remembered, by cluster and name: `start` of its run and when it was last `alive` (us), `topics`, `principals`, a digest of
    what was `told`. What was silent for a week is forgotten.
    """
    written: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for row in rows:
        client, topic = row.labels.get(CLIENT, ""), telling.topics.of(row.labels[KAFKA], row.labels[TOPIC])
        if row.value > 0 and topic and client and not is_internal(client) and not any(fnmatchcase(client, one) for one in excluded):
            topics, principals = written.setdefault((row.labels[KAFKA], _MADE_UP.sub("", client) or client), (set(), set()))
            topics.add(topic[1])
            principals |= {row.labels[PRINCIPAL]} if row.labels.get(PRINCIPAL) else set()
    events: list[Json] = []
    after: dict[str, dict[str, State]] = {
        cluster: {name: state for name, state in states.items() if telling.now_us - state["alive"] < FORGOTTEN_US}
        for cluster, states in before.items()
    }
    for (cluster, name), (topics, principals) in sorted(written.items()):
        was = after.get(cluster, {}).get(name)
        event, state = _alive(telling, cluster, name, was, topics, principals)
        events.append(event)
        after.setdefault(cluster, {})[name] = state
    return events, after


def _alive(
    telling: Telling, cluster: str, name: str, was: State | None, topics: set[str], principals: set[str]
) -> tuple[Json, dict[str, Any]]:
    known = was or {"start": telling.now_us, "topics": (), "principals": (), "told": ""}
    every = {topic for topic in {*known["topics"], *topics} if telling.topics.of(cluster, topic)}
    who = sorted({*known["principals"], *principals})
    named = [telling.around.names.get(one, one) for one in who]
    now = digest([sorted(every), who, named])
    state = {"start": known["start"], "alive": telling.now_us, "topics": sorted(every), "principals": who, "told": now}
    space = telling.spaces[cluster]
    whole = now != known["told"]
    job_facets: dict[str, Json] = {}
    if whole:
        told = [{"id": one, "name": label} if label != one else {"id": one} for one, label in zip(who, named, strict=True)]
        job_facets = {
            "jobType": OUT.job_type("STREAMING", "KAFKA", "PRODUCER", telling.heartbeat_s),
            "confluent_producer": OUT.own_facet("1-0-0", "ConfluentProducerJobFacet", cluster_id=cluster, client_id=name, principals=told),
        }
        if len(named) == 1:
            job_facets["ownership"] = OUT.ownership("Job", named[0])
    event = OUT.run_event(
        "RUNNING" if was else "START",
        telling.now_us,
        run_id("confluent", cluster, "producer", name, known["start"]),
        (space, f"producer/{name}"),
        job_facets=job_facets,
        outputs=[OUT.dataset((space, topic)) for topic in sorted(every)] if whole else (),
    )
    return event, state


def readers(
    telling: Telling, rows: Iterable[Row], before: Mapping[str, Mapping[str, list[str]]]
) -> tuple[list[Json], dict[str, dict[str, list[str]]]]:
    """Groups of which the lag alone tells what they read, since their cluster does not, and how much is left.

    What was told is remembered by cluster and group: the topics.
    """
    listed = {one.id: one.groups for one in telling.around.clusters if one.groups}

    def is_unknown(cluster: str, group: str) -> bool:
        return cluster not in listed or listed[cluster].get(group) == frozenset()

    lags: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        cluster, group = row.labels[KAFKA], row.labels[GROUP]
        owned = (cluster, group) in telling.around.owners or is_internal(group)
        topic = telling.topics.of(cluster, row.labels[TOPIC])
        if topic and group and not owned and is_unknown(cluster, group):
            lag = lags.setdefault((cluster, group), {})
            lag[topic[1]] = lag.get(topic[1], 0) + row.value
    events: list[Json] = []
    after = {
        cluster: {group: list(read) for group, read in groups.items() if is_unknown(cluster, group)} for cluster, groups in before.items()
    }
    for (cluster, group), lag in sorted(lags.items()):
        job: DatasetName = telling.spaces[cluster], f"consumer-group/{group}"
        known = after.setdefault(cluster, {})
        read = sorted({topic for topic in {*lag, *known.get(group, ())} if telling.topics.of(cluster, topic)})
        facet = telling.facet("Job", job, {"lag": round(sum(lag.values()))})
        if read != known.get(group):
            facets = {FACET: facet} if facet else {}
            if cluster not in listed:
                facets["jobType"] = OUT.job_type("STREAMING", "KAFKA", "CONSUMER_GROUP")
            events.append(OUT.job_event(telling.now_us, job, job_facets=facets, inputs=[OUT.dataset((job[0], one)) for one in read]))
        elif facet:
            events.append(OUT.job_event(telling.now_us, job, job_facets={FACET: facet}))
        known[group] = read
    return events, after
