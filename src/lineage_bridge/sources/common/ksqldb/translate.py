"""What a ksqlDB server answered, to what is told of topics and queries. Pure.

A stream or table is another name of its topic. A persistent query is a streaming job; its run begins when it is first seen, and goes on
until the query is terminated or replaced.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, RunContent, encode, run_id, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.ksqldb.answers import KsqldbQuery, KsqldbRelation, KsqldbState
from lineage_bridge.sources.common.ksqldb.columns import REGISTERED, columns_into, keys_of, lineage
from lineage_bridge.sources.common.ksqldb.counting import counted
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.statements import topics_of, window_of
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema, topic_columns

EVENTS = EventBuilder("https://lineagebridge.dev/sources/ksqldb")
RUNNING, PAUSED, ERROR, UNRESPONSIVE = "RUNNING", "PAUSED", "ERROR", "UNRESPONSIVE"
_NOTHING: Mapping[str, Any] = {"topics": {}, "queries": {}, "ended": {}}


class KsqldbNames(NamedTuple):
    """How queries and streams are called: the namespaces of both, and what goes before the names of queries.

    `alone`: no other server tells of the same topics. Otherwise each stream says of itself what it is, for a topic would only say what
    the last server has told.
    """

    queries: str
    streams: str
    lead: str = ""
    alone: bool = True


def translate(
    said: KsqldbState,
    before: Snapshot | None,
    around: SharedMetadata,
    now_us: int,
    settings: KsqldbSettings,
    named: KsqldbNames | None = None,
) -> Observation:
    """What is to be told of what was answered. `named`: where it is not the server that names queries and streams."""
    look = _Translation(said, before or _NOTHING, around, now_us, settings, named or _named_by(settings))
    events = [*look.topics(), *look.streams(), *look.queries()]
    snapshot = {
        "cluster": said.cluster,
        "namespace": look.named.queries,
        "lead": look.named.lead,
        "service": said.service,
        "topics": dict(sorted(look.told_topics.items())),
        "streams": dict(sorted(look.told_streams.items())),
        "queries": dict(sorted(look.told_queries.items())),
        "ended": dict(sorted(look.ended.items())),
    }
    warned = [Unseen(f"warnings of {asked}", "; ".join(texts)) for asked, texts in sorted(said.warnings.items())]
    return Observation(snapshot, tuple(events), unseen=(*warned, *look.unseen))


def _named_by(settings: KsqldbSettings) -> KsqldbNames:
    """The names of a server's own queries and streams."""
    space = settings.namespace or f"ksqldb://{urlsplit(settings.url).netloc}"
    return KsqldbNames(space, space)


def group_of(service: str, query: str) -> str:
    """The consumer group of a query."""
    return f"_confluent-ksql-{service}query_{query}"


def shared_metadata(snapshot: Snapshot) -> SharedMetadata:
    """The schemas that streams declare, and whose the consumer groups are.

    ksqlDB writes names that are not quoted in capitals: of topics that no query of it writes, these do not tell what fields are called.
    """
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    for topic, entry in snapshot["topics"].items():
        for part in (KEY, VALUE):
            fields = tuple(map(_unpacked, entry[part]))
            if fields and (entry.get("written", True) or not any(field.name.isupper() for field in fields)):
                schemas[(entry["namespace"], topic), part] = TopicSchema(fields, entry["version"], rank=1)
    jobs, lead, cluster, service = snapshot["namespace"], snapshot.get("lead", ""), snapshot["cluster"], snapshot["service"]
    owners = {(cluster, group_of(service, query)): (jobs, lead + query) for query in snapshot["queries"]}
    return SharedMetadata(schemas=schemas, owners=owners)


class _Translation:
    """One look at a server: what is told, and what is to be remembered."""

    def __init__(
        self,
        said: KsqldbState,
        before: Mapping[str, Any],
        around: SharedMetadata,
        now_us: int,
        settings: KsqldbSettings,
        named: KsqldbNames,
    ) -> None:
        self.said, self.before, self.around, self.now_us, self.settings, self.named = said, before, around, now_us, settings, named
        self.space = around.namespace(said.cluster, settings.kafka)
        self.names = {name: (self.space, one.topic) for name, one in said.relations.items()}
        self.told_topics: dict[str, Any] = {}
        self.told_streams: dict[str, str] = {}
        self.told_queries: dict[str, Any] = {}
        self.ended: dict[str, int] = dict(before["ended"])
        self.unseen: list[Unseen] = []
        self.read: dict[str, dict[str, int]] = {}
        cluster = around.cluster(said.cluster)
        for (group, topic), offset in cluster.read.items() if cluster else ():
            self.read.setdefault(group, {})[topic] = offset
        self.is_whole = said.status in ("", RUNNING)
        if not self.is_whole:
            why = f"ksqlDB says that it is {said.status}: what it does not list may be there all the same"
            self.unseen.append(Unseen("state of the server", why))

    def _job(self, query: str) -> DatasetName:
        return self.named.queries, self.named.lead + query

    # topics

    def topics(self) -> Iterator[Json]:
        """What is new of topics with streams or tables."""
        by_topic = self.said.by_topic
        for topic, here in sorted(by_topic.items()):
            facets = self._facets(topic, here)
            keys, values = _declared(here)
            self.told_topics[topic] = {
                "namespace": self.space,
                KEY: list(map(_packed, keys)),
                VALUE: list(map(_packed, values)),
                "version": "; ".join(f"ksqlDB {one.kind.lower()} {one.name}" for one in here),
                "written": any(one.writers for one in here),
                "facets": sorted(facets),
                "told": _hash({key: facet for key, facet in facets.items() if key != "schema"}),
                "schema": _hash(facets["schema"]) if "schema" in facets else "",
            }
            was = self.before["topics"].get(topic)
            now = self.told_topics[topic]
            if was is None or any(was[key] != now[key] for key in ("told", "namespace")) or now["schema"] not in ("", was["schema"]):
                yield from self._told((self.space, topic), facets)
        for topic, was in sorted(self.before["topics"].items()):
            if topic not in by_topic and not self.is_whole:
                self.told_topics[topic] = was
            elif topic not in by_topic:
                gone = {key: EVENTS.deleted_facet() for key in was["facets"] if key != "schema" or not self._is_registered(topic)}
                yield from self._told((was["namespace"], topic), gone)

    def streams(self) -> Iterator[Json]:
        """What is new of streams and tables that say of themselves what they are."""
        before = self.before.get("streams", {})
        for name, one in sorted(self.said.relations.items()) if not self.named.alone else ():
            facets = _names_of([(self.space, one.topic)], [one])
            self.told_streams[name] = _hash(facets)
            if before.get(name) != self.told_streams[name]:
                yield from self._told((self.named.streams, name), facets)
        for name in sorted(before.keys() - self.told_streams.keys()):
            if not self.is_whole:
                self.told_streams[name] = before[name]
            else:
                yield from self._told((self.named.streams, name), dict.fromkeys(("symlinks", "ksqldb"), EVENTS.deleted_facet()))

    def _told(self, name: DatasetName, facets: Mapping[str, Json]) -> Iterator[Json]:
        if facets:
            yield EVENTS.dataset_event(self.now_us, name, facets)

    def _facets(self, topic: str, here: list[KsqldbRelation]) -> dict[str, Json]:
        facets = _names_of([(self.named.streams, one.name) for one in here], here) if self.named.alone else {}
        if not self._is_registered(topic):
            facets["schema"] = EVENTS.schema(schema_fields(topic_columns(*_declared(here))))
        return facets

    def _is_registered(self, topic: str) -> bool:
        """Whether a registry tells the topic's schema: its word is neither contradicted nor taken back."""
        known = (self.around.schemas.get(((self.space, topic), part)) for part in (KEY, VALUE))
        return any(schema and schema.rank == REGISTERED for schema in known)

    # queries

    def queries(self) -> Iterator[Json]:
        """What happened to queries."""
        for name, query in sorted(self.said.queries.items()):
            yield from self._query(name, query, self.before["queries"].get(name))
        for name, was in sorted(self.before["queries"].items()):
            if name not in self.said.queries and not self.is_whole:
                self.told_queries[name] = was
            elif name not in self.said.queries:
                self.ended[name] = was["generation"] + 1
                if was["state"] != ERROR:
                    yield EVENTS.run_event("ABORT", self.now_us, was["run"], self._job(name))
        # Names that ksqlDB makes up do not come again.
        self.ended = {name: count for name, count in self.ended.items() if name in self.said.queries or not _is_made_up(name)}

    def _query(self, name: str, query: KsqldbQuery, was: Mapping[str, Any] | None) -> Iterator[Json]:
        job, state = self._job(name), self._state(query)
        if state is None:
            if was is not None:
                self.told_queries[name] = was
            return
        content = self._content(name, query)
        shape = _hash({"text": query.text, "inputs": content.inputs, "outputs": content.outputs})
        generation = was["generation"] if was else self.ended.get(name, 0)
        if was is not None and was["shape"] != shape:
            generation += 1
            if was["state"] != ERROR:
                yield EVENTS.run_event("COMPLETE", self.now_us - 2, was["run"], job)
            was = None
        run = str(run_id("ksqldb", self.said.service or self.named.queries, name, _hash({"text": query.text}), generation))
        health = {"state": state, "hosts": dict(sorted(query.hosts.items()))}
        counts, *amounts = counted(query, self.said, self._offsets(name), was["counts"] if was else None)
        entry = {
            "run": run,
            "shape": shape,
            "generation": generation,
            "state": state,
            "health": _hash(health),
            "told": _hash(content._asdict()),
            "counts": counts,
        }
        self.told_queries[name] = entry
        if was is None:
            yield EVENTS.run_event("START", self.now_us - 1, run, job, **content._asdict())
            if state in (ERROR, PAUSED):
                facets = self._health(state, query, health)
                yield EVENTS.run_event("FAIL" if state == ERROR else "RUNNING", self.now_us, run, job, run_facets=facets)
        elif state != ERROR or was["state"] != ERROR:
            yield self._beat(job, query, was, entry, content, health, amounts)

    def _beat(
        self,
        job: DatasetName,
        query: KsqldbQuery,
        was: Mapping[str, Any],
        entry: Mapping[str, Any],
        content: RunContent,
        health: Mapping[str, Any],
        amounts: list[dict[str, Json]],
    ) -> Json:
        """What a run that was seen before does: only what is new of it, and its amounts."""
        state = entry["state"]
        told = content if was["told"] != entry["told"] else content.names_only()
        facets = told.run_facets
        if was["health"] != entry["health"] or state == ERROR:
            facets = {**facets, **self._health(state, query, health)}
        inputs, outputs = told.inputs, told.outputs
        if state == RUNNING:
            inputs, outputs = _with(inputs, "inputFacets", amounts[0]), _with(outputs, "outputFacets", amounts[1])
        told = told._replace(run_facets=facets, inputs=inputs, outputs=outputs)
        return EVENTS.run_event("FAIL" if state == ERROR else "RUNNING", self.now_us, entry["run"], job, **told._asdict())

    def _offsets(self, query: str) -> Mapping[str, int]:
        """What a query's group has committed, by topic: as ksqlDB tells it, else the broker."""
        group = group_of(self.said.service, query)
        return self.said.committed.get(group) or self.read.get(group, {})

    def _state(self, query: KsqldbQuery) -> str | None:
        """The state of a query: it has failed where no host runs it. None if no host tells."""
        told = {host: state for host, state in query.hosts.items() if state != UNRESPONSIVE}
        if query.hosts and not told:
            self.unseen.append(Unseen(f"query {query.id}: state", f"{', '.join(sorted(query.hosts))} does not answer the other hosts"))
            return None
        self.unseen += [
            Unseen(f"query {query.id}: host {host}", "it does not answer the other hosts") for host in sorted(query.hosts.keys() - told)
        ]
        states = set(told.values()) or {query.state}
        if states <= {ERROR}:
            return ERROR
        return PAUSED if states <= {PAUSED, ERROR} else RUNNING

    def _health(self, state: str, query: KsqldbQuery, health: Mapping[str, Any]) -> dict[str, Json]:
        facets = {"ksqldb_state": EVENTS.own_facet("1-0-0", "KsqldbStateRunFacet", **health)}
        if ERROR in (state, *query.hosts.values()) and query.errors:
            facets["errorMessage"] = EVENTS.error_message(mask_text(query.errors[-1]), mask_text("\n".join(query.errors)))
        elif state == ERROR:
            facets["errorMessage"] = EVENTS.error_message("the query is in state ERROR; ksqlDB does not say why", "")
        return facets

    def _content(self, name: str, query: KsqldbQuery) -> RunContent:
        """What a query does."""
        said, group = self.said, group_of(self.said.service, name)
        topology = topics_of(query.topology, group)
        near = {one: said.relations[one] for one in (*query.sources, *query.sinks) if one in said.relations}
        found = lineage(query.text, near)
        read = {self.names[one] for one in query.sources if one in self.names} | {(self.space, topic) for topic in topology.read}
        named = {one: self.names[one] for one in query.sinks if one in self.names}
        written = (set(named.values()) | {(self.space, topic) for topic in topology.written}) - read
        members = {"internal": list(topology.internal), "properties": _masked(query.properties)}
        job: dict[str, Json] = {
            "jobType": EVENTS.job_type("STREAMING", "KSQLDB", "QUERY", self.settings.heartbeat_s),
            "sql": EVENTS.sql(mask_text(query.text), "ksqldb"),
            "ksqldb_query": EVENTS.own_facet(
                "1-0-0",
                "KsqldbQueryJobFacet",
                query=name,
                service=said.service,
                group=group,
                sources=list(query.sources),
                sinks=list(query.sinks),
                **{key: value for key, value in members.items() if value},
            ),
        }
        if window := window_of(query.window, query.text):
            job["ksqldb_window"] = EVENTS.own_facet("1-0-0", "KsqldbWindowJobFacet", **window)
        run: dict[str, Json] = {"processing_engine": EVENTS.processing_engine("ksqlDB", said.version)}
        if found.errors:
            errors: list[Json] = [{"errorMessage": f"line {one.line}, column {one.column}: {one.message}"} for one in found.errors]
            run["extractionError"] = EVENTS.extraction_error(1, 1, errors)
        outputs = []
        for topic in sorted(written):
            sinks = [one for one, dataset in named.items() if dataset == topic]
            into, deciding = columns_into(sinks[0], found, said.relations, self.names, self.around) if sinks else ({}, [])
            facets = {"columnLineage": EVENTS.column_lineage(into, deciding)} if into or deciding else {}
            outputs.append(EVENTS.dataset(topic, facets))
        return RunContent(run, job, [EVENTS.dataset(topic) for topic in sorted(read)], outputs)


def _names_of(others: list[DatasetName], here: list[KsqldbRelation]) -> dict[str, Json]:
    """The facets of a topic or stream that say what it is otherwise."""
    return {
        "symlinks": EVENTS.symlinks(others, "TABLE"),
        "ksqldb": EVENTS.own_facet("1-0-0", "KsqldbDatasetFacet", streams=[_stream(one) for one in here]),
    }


def _with(side: list[Json], key: str, statistics: Mapping[str, Json]) -> list[Json]:
    return [{**one, key: statistics[str(one["name"])]} if one["name"] in statistics else one for one in side]


def _declared(here: list[KsqldbRelation]) -> tuple[tuple[SchemaField, ...], tuple[SchemaField, ...]]:
    """The fields of a topic's keys and values, as its streams and tables declare them: of one name, the first counts."""
    keys = next((found for one in here if (found := keys_of(one))), ())
    values: dict[str, SchemaField] = {}
    for one in here:
        for field in one.values:
            values.setdefault(field.name, field)
    return keys, tuple(values.values())


def _stream(one: KsqldbRelation) -> Json:
    told: Json = {
        "name": one.name,
        "type": one.kind,
        "keyFormat": one.key_format,
        "valueFormat": one.value_format,
        "windowType": one.window,
        "timestamp": one.timestamp,
        "partitions": one.partitions,
        "replication": one.replication,
        "statement": mask_text(one.statement),
    }
    return {key: value for key, value in told.items() if value}


def _masked(properties: Mapping[str, Any]) -> dict[str, str]:
    """Settings of a query, without what is secret in them."""
    return {key: mask_text(f"{key}={value}").partition("=")[2] for key, value in sorted(properties.items())}


def _is_made_up(query: str) -> bool:
    return query.startswith(("CSAS_", "CTAS_", "CST_", "INSERTQUERY_")) and query.rpartition("_")[2].isdigit()


def _hash(value: Mapping[str, Any]) -> str:
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()


def _packed(field: SchemaField) -> list[Any]:
    return [field.name, field.type, [_packed(inner) for inner in field.fields or ()]]


def _unpacked(packed: list[Any]) -> SchemaField:
    name, kind, inner = packed
    return SchemaField(name=name, type=kind, fields=tuple(map(_unpacked, inner)) or None)
