"""Flink as Confluent Cloud reports it: regions, compute pools, statements, materialized tables."""

from tests.confluent.organization.resources import PROD, REGIONS, environments, kafka_clusters
from tests.confluent.organization.topics import Topics
from tests.confluent.organization.values import NOW, Json, Secrets, load, number, time, token, uid

NAMES = {cluster["id"]: cluster["display_name"] for cluster in kafka_clusters()}
CATALOGS = {environment["id"]: environment["display_name"] for environment in environments()}
MOVING = ("RUNNING", "DEGRADED", "STOPPED")
DETAILS = {
    "FAILED": "Cast failed: invalid number 'gold'",
    "DEGRADED": "Statement is waiting for resources",
    "STOPPED": "This statement was stopped manually.",
}
EXCEPTION = {
    "name": "org.apache.flink.table.api.TableRuntimeException",
    "message": "Cast failed: invalid number 'gold'\n\tat org.apache.flink.Cast.apply(Cast.java:12)",
    "timestamp": NOW,
}


def pools() -> list[Json]:
    """Compute pools: one for each region of an environment, and a second one in the first."""
    pools_ = []
    for environment, regions in REGIONS.items():
        for at, region in enumerate((*regions, regions[0])):
            cloud, _, region_name = region.partition(".")
            name = f"pool-{region_name}" if at < 2 else "pool-heavy"
            pools_.append(
                {
                    "id": f"lfcp-{token(f'pool {environment} {at}')}",
                    "environment": environment,
                    "display_name": name,
                    "cloud": cloud.upper(),
                    "region": region_name,
                    "max_cfu": 10 if at < 2 else 50,
                    "current_cfu": 3,
                    "phase": "PROVISIONED",
                }
            )
    return pools_


def _parse_topic(cluster: str, text: str) -> tuple[str, str]:
    other, slash, topic = text.partition("/")
    return (other, topic) if slash and other.startswith("lkc-") else (cluster, text)


def sql_lineage(cluster: str, reads: str, writes: str, columns: str) -> Json:
    """What a statement reads, writes, and the pairs of columns (cluster, topic, column): from, to."""
    read = [_parse_topic(cluster, topic) for topic in reads.split()]
    written = [_parse_topic(cluster, topic) for topic in writes.split()]
    pairs, out = [], []
    for assignment in columns.split():
        name, _, origins = assignment.partition("=")
        sink, _, name = name.rpartition(">")
        target = (*(_parse_topic(cluster, sink) if sink else written[0]), name)
        out.append(list(target))
        for origin in filter(None, origins.split(",")):
            source = next(topic for topic in sorted(read, key=lambda topic: -len(topic[1])) if _starts(origin, topic, cluster))
            column = origin.removeprefix(source[0] + "/").removeprefix(source[1] + ".")
            pairs.append([[*source, column], list(target)])
    return {"reads": [list(topic) for topic in read], "writes": [list(topic) for topic in written], "columns": pairs, "written": out}


def _starts(origin: str, topic: tuple[str, str], cluster: str) -> bool:
    lead, slash, rest = origin.partition("/")
    there, text = (lead, rest) if slash else (cluster, origin)
    return there == topic[0] and text.startswith(topic[1] + ".")


def add_written(topics: Topics, lineage: Json) -> None:
    """The topics that are written, with the columns that are written; a column has the type of the first that it comes from."""
    for cluster, topic in lineage["writes"]:
        value: list[str] = []
        key: list[str] = []
        for *target, column in lineage["written"]:
            if target == [cluster, topic]:
                origin = next((source for source, to in lineage["columns"] if to == [cluster, topic, column]), None)
                kind = _type(topics, *origin) if origin else "long"
                (key if column.startswith("_key.") else value).append(f"{column.removeprefix('_key.')}:{kind}")
        topics.add(cluster, topic, " ".join(value), " ".join(key), "AVRO")


def add_key_names(topics: Topics, lineage: Json) -> None:
    """Rename columns that are in a topic's key to their names there."""
    for origin, _ in lineage["columns"]:
        keys = [column["name"] for column in topics.topics[origin[0], origin[1]]["key_columns"]]
        if origin[2] in keys:
            origin[2] = f"_key.{origin[2]}"


def _type(topics: Topics, cluster: str, topic: str, path: str) -> str:
    schema = topics.topics.get((cluster, topic))
    level = [*schema["columns"], *schema["key_columns"]] if schema else []
    kind = "string"
    for part in path.removeprefix("_key.").split("."):
        found: Json = next((entry for entry in level if entry["name"] == part), {"type": "string"})
        kind, level = found["type"], found.get("fields", [])
    return "string" if kind == "record" else kind


def flink_statements(topics: Topics, secrets: Secrets) -> list[Json]:
    """All statements; the topics that they write are added."""
    return [_statement(definition, topics, secrets) for definition in load("statements")["statement"]]


def _statement(members: Json, topics: Topics, secrets: Secrets) -> Json:
    definition = {
        "cluster": "",
        "phase": "RUNNING",
        "kind": "INSERT_INTO",
        "principal": "sa-fl1nk0",
        "reads": "",
        "writes": "",
        "columns": "",
        **members,
    }
    environment, phase, name = definition["environment"], definition["phase"], definition["name"]
    lineage = sql_lineage(definition["cluster"], definition["reads"], definition["writes"], definition["columns"])
    add_written(topics, lineage)
    add_key_names(topics, lineage)
    cloud, _, region = definition["region"].partition(".")
    by_name = number(f"by name {name}", 2) == 0
    properties = {"sql.current-catalog": CATALOGS[environment] if by_name else environment, "sql.local-time-zone": "UTC"}
    if definition["cluster"]:
        properties["sql.current-database"] = NAMES[definition["cluster"]] if by_name else definition["cluster"]
    created = time(f"{environment} {name}")
    text = definition["text"]
    return {
        "environment": environment,
        "cloud": cloud,
        "region": region,
        "name": name,
        "uid": uid(f"statement {environment} {region} {name}"),
        "created_at": created,
        "updated_at": NOW if phase == "RUNNING" else created,
        "labels": {"user.confluent.io/team": "shop"} if environment == PROD else {},
        "statement": text.replace("SECRET", secrets.create(f"statement {name}")) if "'SECRET'" in text else text,
        "properties": properties,
        "compute_pool_id": _pool(environment, region),
        "principal": definition["principal"],
        "stopped": phase == "STOPPED",
        "phase": phase,
        "detail": DETAILS.get(phase, ""),
        "traits": {
            "sql_kind": definition["kind"],
            "is_bounded": False,
            "is_append_only": "GROUP BY" not in text,
            "upsert_columns": None,
            "schema": {},
            "connection_refs": [],
        },
        "latest_offsets": _latest_offsets(topics, name, lineage, phase) if definition["kind"] != "SELECT" else {},
        "exceptions": [EXCEPTION] if phase == "FAILED" else [],
        "lineage": lineage,
    }


def _pool(environment: str, region: str) -> str:
    return next(str(pool["id"]) for pool in pools() if (pool["environment"], pool["region"]) == (environment, region))


def _latest_offsets(topics: Topics, name: str, lineage: Json, phase: str) -> Json:
    offsets = _offsets(topics, name, lineage) if phase in MOVING else {}
    return _end_offsets(offsets) if phase == "STOPPED" else offsets


def _offsets(topics: Topics, name: str, lineage: Json) -> Json:
    """Topic to what was read of each partition."""
    offsets = {}
    for cluster, topic in lineage["reads"]:
        count = topics.topics[cluster, topic]["partitions_count"]
        offsets[topic] = ";".join(f"partition:{at},offset:{number(f'{name} {topic} {at}', 10000)}" for at in range(count))
    return offsets


def _end_offsets(offsets: Json) -> Json:
    """The offsets of a stopped statement: the largest number of 64 bits and one, for each partition."""
    return {topic: ";".join(f"{text.partition(',')[0]},offset:{2**63}" for text in texts.split(";")) for topic, texts in offsets.items()}


def materialized_tables(topics: Topics) -> list[Json]:
    """All materialized tables; the topic of each has its name."""
    return [_materialized(definition, topics) for definition in load("statements")["materialized"]]


def _materialized(definition: Json, topics: Topics) -> Json:
    name, cluster = definition["name"], definition["cluster"]
    lineage = sql_lineage(cluster, definition["reads"], name, definition["columns"])
    add_written(topics, lineage)
    cloud, _, region = definition["region"].partition(".")
    return {
        "environment": definition["environment"],
        "cloud": cloud,
        "region": region,
        "name": name,
        "cluster": cluster,
        "uid": uid(f"materialized {name}"),
        "created_at": time(f"materialized {name}"),
        "query": definition["query"],
        "columns": [{"name": column[2], "type": _type(topics, *column), "kind": "Physical"} for column in lineage["written"]],
        "stopped": False,
        "phase": "RUNNING",
        "version": 1,
        "principal": "sa-fl1nk0",
        "compute_pool_id": _pool(definition["environment"], region),
        "lineage": lineage,
    }
