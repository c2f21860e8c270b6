"""A stand-in for the Flink API of one region, filled from the stand-in's organization, and its schemas as shared metadata."""

from dataclasses import dataclass, field
from typing import Any

from tests.sources.http import Reply, Request

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema
from lineage_bridge.sources.confluent.organization import ComputePool, Environment, KafkaCluster, Organization

Json = dict[str, Any]
PAGE = 10


@dataclass
class Flink:
    """A region's statements and tables by name, in the API's form. Those in `hidden` are not listed, and lookups of them are refused."""

    statements: dict[str, Json] = field(default_factory=dict)
    tables: dict[str, Json] = field(default_factory=dict)
    exceptions: dict[str, list[Json]] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    base: str = ""

    def __call__(self, request: Request) -> Reply:
        kind, *rest = request.parts[6:]
        resources = self.statements if kind == "statements" else self.tables
        if rest and rest[0] in self.hidden:
            return Reply(403, {"errors": [{"detail": "Forbidden"}]})
        if rest and rest[0] not in resources:
            return Reply(404, {"errors": [{"detail": "Not found"}]})
        if rest[1:] == ["exceptions"]:
            return Reply(200, {"data": self.exceptions.get(rest[0], []), "metadata": {}})
        if rest:
            return Reply(200, resources[rest[0]])
        at = int(request.query.get("page_token", 0))
        shown = [credential for name, credential in resources.items() if name not in self.hidden]
        following = f"{self.base}/{'/'.join(request.parts)}?page_size={PAGE}&page_token={at + PAGE}" if at + PAGE < len(shown) else ""
        return Reply(200, {"metadata": {"next": following}, "data": shown[at : at + PAGE]})

    def submit(self, name: str, text: str, phase: str = "RUNNING", *, at: int = 0, **more: Any) -> Json:
        """Add a statement in env-1 and lkc-1, created at minute `at`; `more` are members of its status, or `properties`."""
        properties = more.pop("properties", {"sql.current-catalog": "env-1", "sql.current-database": "lkc-1"})
        self.statements[name] = {
            "name": name,
            "metadata": {"uid": f"{name}-{at}", "created_at": f"2026-05-01T08:{at:02}:00Z", "updated_at": f"2026-05-01T08:{at:02}:30Z"},
            "spec": {"statement": text, "properties": properties, "compute_pool_id": "lfcp-1", "principal": "sa-1", "stopped": False},
            "status": {"phase": phase, "detail": "", "traits": {}, **more},
        }
        return self.statements[name]


def flink_region(organization: Json, environment: str, cloud: str, region: str) -> Flink:
    """The statements and tables of a region of the organization."""
    here = (environment, cloud, region)
    flink = Flink()
    for statement in organization["statements"]:
        if (statement["environment"], statement["cloud"], statement["region"]) == here:
            flink.statements[statement["name"]] = {
                "name": statement["name"],
                "metadata": {key: statement[key] for key in ("uid", "created_at", "updated_at", "labels")},
                "spec": {key: statement[key] for key in ("statement", "properties", "compute_pool_id", "principal", "stopped")},
                "status": {key: statement[key] for key in ("phase", "detail", "traits", "latest_offsets")},
            }
            flink.exceptions[statement["name"]] = statement["exceptions"]
    for table in organization["materialized_tables"]:
        if (table["environment"], table["cloud"], table["region"]) == here:
            spec = {key: table[key] for key in ("query", "columns", "stopped", "principal", "compute_pool_id")}
            flink.tables[table["name"]] = {
                "name": table["name"],
                "metadata": {"uid": table["uid"], "created_at": table["created_at"]},
                "spec": {**spec, "kafka_cluster_id": table["cluster"]},
                "status": {"phase": table["phase"], "version": table["version"]},
            }
    return flink


def discovered(organization: Json) -> Organization:
    """The organization as discovery has it, as far as Flink needs it."""
    return Organization(
        organization["organization"]["id"],
        tuple(Environment(environment["id"], environment["display_name"]) for environment in organization["environments"]),
        tuple(KafkaCluster(cluster["id"], cluster["environment"], cluster["display_name"]) for cluster in organization["kafka_clusters"]),
        compute_pools=tuple(
            ComputePool(pool["id"], pool["environment"], pool["display_name"], pool["cloud"].lower(), pool["region"])
            for pool in organization["compute_pools"]
        ),
    )


def registered(organization: Json) -> SharedMetadata:
    """The columns of all topics."""
    spaces = {cluster["id"]: f"confluent://{cluster['environment']}/{cluster['id']}" for cluster in organization["kafka_clusters"]}
    schemas = {
        ((spaces[topic["cluster"]], topic["topic_name"]), part): TopicSchema(tuple(map(_field, topic[columns])))
        for topic in organization["topics"]
        for part, columns in ((KEY, "key_columns"), (VALUE, "columns"))
        if topic[columns]
    }
    return SharedMetadata(schemas=schemas, names={"sa-fl1nk0": "flink-jobs"})


def _field(column: Json) -> SchemaField:
    inner = tuple(map(_field, column.get("fields", ())))
    return SchemaField(name=column["name"], type="record" if inner else column["type"], fields=inner or None)
