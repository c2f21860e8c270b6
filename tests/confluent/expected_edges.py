"""Every edge that must be found in the organization, derived from its definition alone. Nothing of LineageBridge is imported.

`python -m tests.confluent.expected_edges [organization.json]` prints one edge per line as JSON: the system that reports it, its kind, and

- `flow`: source, target, job, each a namespace and a name
- `column`: source and target with a column, job
- `reads`, `writes`: job, dataset; only where the job has no flow at that dataset
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]
Name = tuple[str, str]
Column = tuple[str, str, str]


class Edge(NamedTuple):
    """An edge that `system` reports. `source` is None if a job only writes, `target` if it only reads."""

    system: str
    what: str
    source: Name | Column | None
    target: Name | Column | None
    job: Name


class Resources:
    """Names of the organization's resources by id."""

    def __init__(self, organization: Json) -> None:
        self.environment = {
            cluster["id"]: cluster["environment"] for cluster in (*organization["kafka_clusters"], *organization["schema_registries"])
        }
        self.named = {(cluster["environment"], cluster["display_name"]): cluster["id"] for cluster in organization["kafka_clusters"]}

    def namespace(self, id_: str) -> str:
        """The namespace of a cluster or registry; for one that is not in the organization, by its id or address."""
        if id_ in self.environment:
            return f"confluent://{self.environment[id_]}/{id_}"
        return id_ if "://" in id_ else f"kafka://{id_}"

    def topic(self, cluster: str, name: str) -> Name:
        return self.namespace(cluster), name

    def database(self, statement: Json) -> str:
        """The namespace of a statement's job: that of its database, given by id or name, or else of its region."""
        database = statement["properties"].get("sql.current-database", "")
        cluster = self.named.get((statement["environment"], database), database)
        return self.namespace(cluster) if cluster else f"confluent://{statement['environment']}/{statement['cloud']}.{statement['region']}"


def connectors(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Topics to datasets outside of Kafka and back, and topics to the dead-letter topic."""
    for connector in organization["connectors"]:
        job, sink = resources.topic(connector["cluster"], connector["name"]), connector["type"] == "sink"
        for flow in connector["lineage"]["flows"]:
            topic = resources.topic(connector["cluster"], flow["topic"])
            outside = (flow["namespace"], flow["name"]) if flow["namespace"] else None
            source, target = (topic, outside) if sink else (outside, topic)
            yield Edge("connect", "flow" if outside else "reads" if sink else "writes", source, target, job)
            if source and target:
                yield from (Edge("connect", "column", (*source, of), (*target, to), job) for of, to in flow["columns"])
        for flow in connector["lineage"]["flows"] if connector["lineage"]["dead_letters"] else ():
            dead = resources.topic(connector["cluster"], connector["lineage"]["dead_letters"])
            yield Edge("connect", "flow", resources.topic(connector["cluster"], flow["topic"]), dead, job)


def _sql(system: str, lineage: Json, resources: Resources, job: Name) -> Iterator[Edge]:
    """The edges of a statement. With several sinks, a source flows to those that have columns of it."""
    reads, writes = lineage["reads"], lineage["writes"]
    if len(writes) > 1:
        pairs = {(tuple(of[:2]), tuple(to[:2])) for of, to in lineage["columns"]}
    else:
        pairs = {(tuple(of), tuple(to)) for of in reads for to in writes}
    for of, to in sorted(pairs):
        yield Edge(system, "flow", resources.topic(*of), resources.topic(*to), job)
    for of in reads if not writes else ():
        yield Edge(system, "reads", resources.topic(*of), None, job)
    for of, to in lineage["columns"]:
        yield Edge(system, "column", (*resources.topic(*of[:2]), of[2]), (*resources.topic(*to[:2]), to[2]), job)


def ksqldb(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Persistent queries."""
    for cluster in organization["ksqldb_clusters"]:
        for query in cluster["queries"]:
            job = resources.topic(cluster["kafka_cluster"], f"ksqldb/{cluster['id']}/{query['id']}")
            yield from _sql("ksqldb", query["lineage"], resources, job)


def flink(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Statements and materialized tables."""
    for statement in organization["statements"]:
        yield from _sql("flink", statement["lineage"], resources, (resources.database(statement), f"flink/{statement['name']}"))
    for table in organization["materialized_tables"]:
        yield from _sql("flink", table["lineage"], resources, (resources.namespace(table["cluster"]), f"flink/{table['name']}"))


def groups(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Groups other than those of connectors and queries, with the internal topics of Kafka Streams groups."""
    for group in organization["consumer_groups"]:
        if group["lineage"]["owner"]:
            continue
        job = resources.topic(group["cluster"], f"consumer-group/{group['group_id']}")
        for topic in group["lineage"]["reads"] if group["type"] != "STREAMS" else ():
            yield Edge("groups", "reads", resources.topic(group["cluster"], topic), None, job)
        for part in group["subtopologies"]:
            for of in (*part["source_topics"], *part["repartition_source_topics"]):
                for to in (*part["repartition_sink_topics"], *part["state_changelog_topics"]):
                    yield Edge("groups", "flow", resources.topic(group["cluster"], of), resources.topic(group["cluster"], to), job)


def links(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Topics to their mirrors."""
    for link in organization["cluster_links"]:
        job = resources.topic(link["cluster"], f"cluster-link/{link['link_name']}")
        for mirror in link["mirrors"]:
            source = resources.topic(link["source_cluster_id"], mirror["source_topic_name"])
            yield Edge("links", "flow", source, resources.topic(link["cluster"], mirror["mirror_topic_name"]), job)


def exporters(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Subjects to their copies in another registry."""
    for exporter in organization["exporters"]:
        job = resources.topic(exporter["registry"], f"schema-link/{exporter['name']}")
        for of, to in exporter["lineage"]:
            yield Edge("exporters", "flow", resources.topic(*of), resources.topic(*to), job)


def tableflow(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Topics to their tables, and these to each catalog that has them, with the columns of the value and the key."""
    topics = {(topic["cluster"], topic["topic_name"]): topic for topic in organization["topics"]}
    for tableflow_topic in organization["tableflow_topics"]:
        columns_of = topics[tableflow_topic["cluster"], tableflow_topic["display_name"]]
        columns = {path: path for path in _paths(columns_of["columns"])}
        columns |= {path: f"_key.{path}" for path in _paths(columns_of["key_columns"]) if columns and path not in columns}
        topic, job = (
            resources.topic(tableflow_topic["cluster"], tableflow_topic["display_name"]),
            resources.topic(tableflow_topic["cluster"], f"tableflow/{tableflow_topic['display_name']}"),
        )
        yield Edge("tableflow", "flow", topic, job, job)
        yield from (Edge("tableflow", "column", (*topic, of), (*job, to), job) for to, of in columns.items())
        for table in tableflow_topic["lineage"]["tables"]:
            yield Edge("tableflow", "flow", job, _table(table), job)
            yield from (Edge("tableflow", "column", (*job, to), (*_table(table), to), job) for to in columns)


def _paths(columns: list[Json], lead: str = "") -> Iterator[str]:
    """The dotted paths of columns without inner columns."""
    for column in columns:
        path = f"{lead}{column['name']}"
        yield from _paths(column["fields"], path + ".") if "fields" in column else [path]


def _table(table: Json) -> Name:
    """A table by the name that the standard gives it in its catalog."""
    if table["kind"] == "AwsGlue":
        if table["account"]:
            return f"arn:aws:glue:{table['region']}:{table['account']}", f"table/{table['database']}/{table['table']}"
        return f"aws://{table['region']}/{table['database']}", table["table"]
    name = f"{table['catalog']}.{table['schema']}.{table['table']}"
    if table["kind"] == "Unity":
        return f"unitycatalog://{_host(table['workspace'])}", name
    return f"snowflake://{_host(table['endpoint']).removesuffix('.snowflakecomputing.com')}", name


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def producers(organization: Json, resources: Resources) -> Iterator[Edge]:
    """Applications that write, as the metrics count them; clients of connectors and of ksqlDB are not applications."""
    for producer in organization["producers"]:
        for topic in producer["topics"]:
            job = resources.topic(producer["cluster"], f"producer/{producer['client_id']}")
            yield Edge("producers", "writes", None, resources.topic(producer["cluster"], topic), job)


SYSTEMS = (connectors, ksqldb, flink, groups, links, exporters, tableflow, producers)


def expected(organization: Json) -> set[Edge]:
    """All edges of the organization."""
    resources = Resources(organization)
    return {edge for system in SYSTEMS for edge in system(organization, resources)}


def main() -> None:
    """Print the edges of the organization in a file, or of the one that is built."""
    if len(sys.argv) > 1:
        organization = json.loads(Path(sys.argv[1]).read_text())
    else:
        from tests.confluent.organization.build import build

        organization = build()
    for edge in sorted(expected(organization), key=str):
        sys.stdout.write(json.dumps(edge._asdict()) + "\n")


if __name__ == "__main__":
    main()
