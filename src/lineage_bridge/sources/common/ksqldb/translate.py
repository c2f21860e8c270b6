"""Converts the answers of a ksqlDB server to events. Pure.

A stream or table is another name of its topic. A persistent query is a streaming job; its run begins when it is first seen, and continues
until the query is terminated or replaced.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.ksqldb.answers import KsqldbState
from lineage_bridge.sources.common.ksqldb.poll import KsqldbNames, KsqldbPoll, group_of
from lineage_bridge.sources.common.ksqldb.queries import QueryEvents
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.streams import StreamEvents, unpack_field
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema

_NO_SNAPSHOT: Mapping[str, Any] = {"topics": {}, "queries": {}, "ended": {}}


def translate(
    state: KsqldbState,
    before: Snapshot | None,
    shared: SharedMetadata,
    now_us: int,
    settings: KsqldbSettings,
    names: KsqldbNames | None = None,
) -> Observation:
    """Return the events of a ksqlDB server, and its next snapshot. `names`: how queries and streams are named; by default, the names follow
    from the server's settings alone.
    """
    poll = KsqldbPoll(state, before or _NO_SNAPSHOT, shared, now_us, settings, names or _own_names(settings))
    streams, queries = StreamEvents(poll), QueryEvents(poll)
    events = (*streams.topic_events(), *streams.stream_events(), *queries.query_events())
    snapshot = {
        "cluster": state.cluster,
        "namespace": poll.names.queries,
        "lead": poll.names.lead,
        "service": state.service,
        "topics": dict(sorted(streams.topics_after.items())),
        "streams": dict(sorted(streams.streams_after.items())),
        "queries": dict(sorted(queries.queries_after.items())),
        "ended": dict(sorted(queries.ended.items())),
    }
    return Observation(snapshot, events, unseen=(*_unseen(poll), *queries.unseen))


def _unseen(poll: KsqldbPoll) -> Iterator[Unseen]:
    for statement, texts in sorted(poll.state.warnings.items()):
        yield Unseen(f"warnings of {statement}", "; ".join(texts))
    for kind, name, why in poll.state.unreadable:
        yield Unseen(f"{kind} {name or 'without a name'}", why)
    if not poll.is_complete:
        yield Unseen("state of the server", f"the server's state is {poll.state.status}, so its listings may be incomplete")


def _own_names(settings: KsqldbSettings) -> KsqldbNames:
    """The names of the queries and streams of a server that is observed by itself, not as a part of Confluent Cloud."""
    namespace = settings.namespace or f"ksqldb://{urlsplit(settings.url).netloc}"
    return KsqldbNames(namespace, namespace)


def shared_metadata(snapshot: Snapshot) -> SharedMetadata:
    """Return the metadata for other sources: the schemas that streams declare, and the consumer groups, each with the job that owns it.

    ksqlDB converts unquoted names to upper case, so declarations with such names are not used for topics that no query writes.
    """
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    for topic, entry in snapshot["topics"].items():
        for part in (KEY, VALUE):
            fields = tuple(map(unpack_field, entry[part]))
            if fields and (entry.get("written", True) or not any(field.name.isupper() for field in fields)):
                schemas[(entry["namespace"], topic), part] = TopicSchema(fields, entry["version"], rank=1)
    jobs, lead, cluster, service = snapshot["namespace"], snapshot.get("lead", ""), snapshot["cluster"], snapshot["service"]
    owners = {(cluster, group_of(service, query)): (jobs, lead + query) for query in snapshot["queries"]}
    return SharedMetadata(schemas=schemas, owners=owners)
