"""Readers of those configurations that templates cannot express. Each is a function that finds the external objects and topics of a
connector.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from lineage_bridge.openlineage import naming
from lineage_bridge.sources.common.connect.catalogue.brokers import (
    geode_sink,
    geode_source,
    job_types,
    jobs_of_sources,
    queue_topics,
    topics_and_queue_sink,
    topics_and_queue_source,
    topics_in_json,
)
from lineage_bridge.sources.common.connect.catalogue.camel import camel_datasets
from lineage_bridge.sources.common.connect.catalogue.iceberg import iceberg_sink
from lineage_bridge.sources.common.connect.catalogue.kcql import kcql_queues_sink, kcql_queues_source, kcql_sink, kcql_source
from lineage_bridge.sources.common.connect.catalogue.objects import find_objects
from lineage_bridge.sources.common.connect.catalogue.queries import query_inputs
from lineage_bridge.sources.common.connect.catalogue.table_topics import table_topics
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView, literal
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject
from lineage_bridge.sources.common.connect.secrets import without_user
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed

SourceReader = Callable[[ConnectorView, Mapping[str, EvidenceKind]], list[FoundObject]]
SinkReader = Callable[[ConnectorView, str, str], list[FoundObject]]
"""Finds the objects that a topic's records go to, from the consumed topic's name and the name that the connector sees."""

_CAPTURE = re.compile(r"neo4j\.cdc\.topic\.(.+?)\.(?:patterns|key-strategy|value-strategy)\b")
_MEMBERS, _MEMBER = re.compile(r"\{[^{}]*\}"), re.compile(r"""["'](\w+)["']\s*:\s*["']([^"']*)["']""")
_GENERATOR = re.compile(r"gen(?:k|kp|v|vp)\.([^.]+)")


def jdbc_source(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the tables that the JDBC source reads: all selected tables, or those in its query. The topic of a query is the prefix alone.

    The schema pattern only selects tables; it does not affect a query.
    """
    query = view.setting("query")
    if not view.config.get("query") and not view.config.get("query.masked"):
        return find_objects(view, candidates)
    topic = view.text("{topic.prefix|kafka.topic}")
    tables = query_inputs(query, view.text(view.connector.jdbc) or "")
    own = replace(view, connector=msgspec.structs.replace(view.connector, schema=""))
    named = ((table, own.dataset(table)) for table in tables)
    found = [FoundObject(table if name else None, topic, EvidenceKind.LISTED, name) for table, name in named]
    return found or [FoundObject(None, topic, EvidenceKind.LISTED)]


def mongodb_source(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the collections that the MongoDB source reads. Its namespace map has the topic of a collection, of a whole database, or
    (`*`) of all others.
    """
    names = topics_in_json(view, "topic.namespace.map")
    dotted = [] if view.config.get("collection") else [space for space in names if "." in space]
    found = [*(FoundObject(space, None, EvidenceKind.LISTED) for space in dotted), *find_objects(view, candidates)]
    if not found and "*" in names:
        found = [FoundObject(None, None, EvidenceKind.LISTED)]
    return [entry._replace(topic=_mapped_topic(view, names, entry.object or "") or entry.topic) for entry in found]


def _mapped_topic(view: ConnectorView, names: Mapping[str, str], space: str) -> str | None:
    database, _, collection = space.partition(".")
    beside = f"{names[database]}{view.setting('topic.separator', default='.')}{collection}" if database in names else None
    topic = names.get(space) or beside or names.get("*")
    return view.text(view.connector.topic, object=topic) if topic else None


def topic_patterns(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics of a source of files by patterns of file names (`topic:regex`). All files are below one folder. Without patterns,
    the topic has the folder's name.
    """
    topics = [pair.partition(":")[0].strip() for pair in view.list_of(["topic.regex.list"])]
    if topics:
        return [FoundObject("", topic, EvidenceKind.LISTED) for topic in topics]
    return find_objects(view, candidates) or [FoundObject("", None, EvidenceKind.LISTED)]


def mirror(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics that MirrorMaker copies from another cluster. The replication policy determines the names of the copies."""
    policy = view.setting("replication.policy.class", default="DefaultReplicationPolicy")
    alias, separator = view.setting("source.cluster.alias", default="source"), view.setting("replication.policy.separator", default=".")
    called = policy.rpartition(".")[2]
    prefix = "" if called.startswith("Identity") else alias + separator
    if prefix and not (alias and separator):
        return []
    if view.is_unreadable(["topics"]):
        candidates = {topic: how for topic, how in candidates.items() if how is EvidenceKind.OBSERVED}
    if not called.startswith(("Identity", "DefaultReplicationPolicy")):
        return _mirrored_by_another_policy(view, candidates, prefix)
    patterns, excluded = listed(view.setting("topics", default=".*")) or [".*"], view.list_of(["topics.exclude", "topics.blacklist"])
    names: list[tuple[str, EvidenceKind]] = [(name, EvidenceKind.LISTED) for name in map(literal, patterns) if name is not None]
    for task in view.evidence.tasks:
        names += [(partition.rpartition("-")[0], EvidenceKind.TASK) for partition in listed(task.get("task.assigned.partitions", ""))]
    names += [
        (topic, EvidenceKind.OFFSETS) for topic in ((entry.get("partition") or {}).get("topic") for entry in view.evidence.offsets) if topic
    ]
    seen = ((topic, how) for topic, how in candidates.items() if topic.startswith(prefix) and (prefix or how is EvidenceKind.OBSERVED))
    names += [(topic.removeprefix(prefix), how) for topic, how in seen]
    chosen = [name for name in names if _matches(patterns, name[0]) and not (_matches(excluded, name[0]) or name[0].endswith(".internal"))]
    return [FoundObject(topic, prefix + topic, how) for topic, how in chosen]


def _mirrored_by_another_policy(view: ConnectorView, candidates: Mapping[str, EvidenceKind], prefix: str) -> list[FoundObject]:
    """Find the copied topics under a policy that is unknown: those observed, with the prefix or without it. A listed topic without an
    observed copy keeps its name, marked `maybe`.
    """
    patterns, excluded = listed(view.setting("topics", default=".*")) or [".*"], view.list_of(["topics.exclude", "topics.blacklist"])
    observed = sorted(topic for topic, how in candidates.items() if how is EvidenceKind.OBSERVED)
    names = [(topic.removeprefix(prefix), topic) for topic in observed]
    found = [
        FoundObject(name, topic, EvidenceKind.OBSERVED)
        for name, topic in names
        if _matches(patterns, name) and not (_matches(excluded, name) or name.endswith(".internal"))
    ]
    seen = {entry.object for entry in found}
    unseen = [name for name in map(literal, patterns) if name is not None and name not in seen]
    return [*found, *(FoundObject(name, name, EvidenceKind.LISTED, maybe=True) for name in unseen)]


def replicator(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics that Confluent Replicator copies from another cluster. A format in the configuration determines the names of the
    copies.
    """
    form = view.setting("topic.rename.format", default="${topic}")
    if view.is_unreadable(["topic.whitelist"]):
        return []
    if not form:
        return [FoundObject(topic, None, EvidenceKind.LISTED) for topic in view.list_of(["topic.whitelist"])]
    names = [(topic, EvidenceKind.LISTED) for topic in view.list_of(["topic.whitelist"])]
    pattern = re.compile(re.escape(form).replace(re.escape("${topic}"), "(.+)")) if "${topic}" in form else None
    for topic, how in candidates.items():
        match = pattern.fullmatch(topic) if pattern else None
        if match and view.setting("topic.regex") and _matches([view.setting("topic.regex")], match[1]):
            names.append((match[1], how))
    return [FoundObject(topic, form.replace("${topic}", topic), how) for topic, how in names]


def neo4j_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the database that the Neo4j source reads. Its topics are in the keys of the change-capture settings, or in the setting of a
    query.
    """
    keys = (_CAPTURE.match(key) for key in view.config)
    topics = sorted({key[1] for key in keys if key} | set(view.list_of(["topic", "neo4j.query.topic"])))
    return [FoundObject(view.text(view.connector.object), topic, EvidenceKind.LISTED) for topic in topics]


def generators(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the topics of MSK's data generator and of Voluble: one topic for each name for which a generator is configured."""
    topics = {match[1] for match in map(_GENERATOR.match, view.config) if match}
    return [FoundObject(topic, topic, EvidenceKind.LISTED) for topic in sorted(topics)]


def file_pulse(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the files in a folder or a cloud bucket that the FilePulse source reads."""
    for scheme, key in (("s3", "aws.s3.bucket.name"), ("gs", "gcs.bucket.name")):
        if bucket := view.setting(key):
            name = naming.dataset(f"{scheme}://{bucket}", view.setting(key.replace("bucket.name", "bucket.prefix")))
            return [FoundObject(bucket, view.setting("topic") or None, EvidenceKind.LISTED, name)]
    return find_objects(view, candidates)


def camel_source(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the endpoint that Camel reads."""
    names: list[naming.DatasetName | None] = [*camel_datasets(view.config, "source")] or [None]
    topics = view.list_of(["topics", "camel.source.kafka.topic"])
    return [FoundObject(None, topic, EvidenceKind.LISTED, name) for topic in topics for name in names]


def camel_sink(view: ConnectorView, topic: str, _seen: str) -> list[FoundObject]:
    """Find the endpoint that Camel writes."""
    names: list[naming.DatasetName | None] = [*camel_datasets(view.config, "sink")] or [None]
    return [FoundObject(None, topic, EvidenceKind.LISTED, name) for name in names]


def addresses(view: ConnectorView, _candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find feeds or folders by their URLs, which are separated by spaces or commas. A source writes all of them to one topic."""
    urls = re.split(r"[\s,]+", without_user(view.setting(*view.connector.objects)))
    return [FoundObject(url, view.setting("topic") or None, EvidenceKind.LISTED) for url in urls if url]


def column_mappings(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the tables of a topic in the mappings of DataStax' sink: `topic.<topic>.<keyspace>.<table>.mapping` names the table, and
    maps its columns.

    Without a mapping, the template of the class, if it has one, names the object of the topic.
    """
    pattern = re.compile(rf"topic\.(?:{re.escape(topic)}|{re.escape(seen)})\.([^.]+)\.([^.]+)\.mapping")
    mapped = [f"{match[1]}.{match[2]}" for match in map(pattern.fullmatch, sorted(view.config)) if match]
    found = [FoundObject(name, None, EvidenceKind.LISTED) for name in mapped]
    made = view.text(view.connector.object, topic=seen) if view.connector.object and seen and not found else None
    return [FoundObject(made, None, EvidenceKind.PREDICTED)] if made else found


def couchbase_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the Couchbase collections that a topic's records are written to: those that the configuration lists, else the default
    collection.
    """
    pairs = dict(pair.partition("=")[::2] for pair in view.list_of(["couchbase.topic.to.collection"]))
    chosen = pairs.get(seen) or pairs.get(topic) or view.setting("couchbase.default.collection", default="_default._default")
    bucket = view.setting("couchbase.bucket", "connection.bucket")
    full = chosen if chosen.count(".") == 2 else f"{bucket}.{chosen}" if bucket and chosen else None
    return [FoundObject(None if view.is_unreadable(["couchbase.topic.to.collection"]) else full, None, EvidenceKind.LISTED)]


def kusto_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the tables of a topic in the mapping of Azure Data Explorer's sink: a list of objects with `topic`, `db` and `table`, often
    in single quotes.
    """
    mapped = (
        dict(_MEMBER.findall(text)) for text in _MEMBERS.findall(view.setting("kusto.tables.topics.mapping", "kusto.tables.topics_mapping"))
    )
    chosen = [pair for pair in mapped if pair.get("topic") in (topic, seen) and pair.get("db") and pair.get("table")]
    return [FoundObject(f"{pair['db']}/{pair['table']}", None, EvidenceKind.LISTED) for pair in chosen]


def positional(view: ConnectorView, topic: str, _seen: str) -> list[FoundObject]:
    """Find the object of a topic by its position: the first listed topic has the first object, and so on. A single object is that of
    all topics. Without objects, the server decides.
    """
    things, topics = view.list_of(view.connector.objects), view.list_of(["topics"])
    if len(things) > 1 and topic in topics and topics.index(topic) < len(things):
        things = [things[topics.index(topic)]]
    return [FoundObject(thing, None, EvidenceKind.LISTED) for thing in things]


SOURCE_READERS: dict[str, SourceReader] = {
    "addresses": addresses,
    "camel": camel_source,
    "file-pulse": file_pulse,
    "generators": generators,
    "geode": geode_source,
    "jdbc": jdbc_source,
    "job-types": job_types,
    "jobs-of-sources": jobs_of_sources,
    "kcql": kcql_source,
    "kcql-queues": kcql_queues_source,
    "mirror": mirror,
    "mongodb": mongodb_source,
    "neo4j": neo4j_source,
    "queue-topics": queue_topics,
    "replicator": replicator,
    "table-topics": table_topics,
    "topic-patterns": topic_patterns,
    "topics-and-queue": topics_and_queue_source,
}
"""Readers of source connectors, by their names in the catalogue."""

SINK_READERS: dict[str, SinkReader] = {
    "camel": camel_sink,
    "column-mappings": column_mappings,
    "couchbase": couchbase_sink,
    "geode": geode_sink,
    "iceberg": iceberg_sink,
    "kcql": kcql_sink,
    "kcql-queues": kcql_queues_sink,
    "kusto": kusto_sink,
    "positional": positional,
    "topics-and-queue": topics_and_queue_sink,
}
"""Readers of sink connectors, by their names in the catalogue."""


def _matches(patterns: list[str], topic: str) -> bool:
    return any(found is not None and found.fullmatch(topic) for found in map(compile_java, patterns))
