"""Flink as Confluent Cloud tells it: regions, compute pools, statements, materialized tables."""

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
    made = []
    for environment, regions in REGIONS.items():
        for at, region in enumerate((*regions, regions[0])):
            cloud, _, place = region.partition(".")
            name = f"pool-{place}" if at < 2 else "pool-heavy"
            made.append(
                {
                    "id": f"lfcp-{token(f'pool {environment} {at}')}",
                    "environment": environment,
                    "display_name": name,
                    "cloud": cloud.upper(),
                    "region": place,
                    "max_cfu": 10 if at < 2 else 50,
                    "current_cfu": 3,
                    "phase": "PROVISIONED",
                }
            )
    return made


def _place(cluster: str, text: str) -> tuple[str, str]:
    other, slash, topic = text.partition("/")
    return (other, topic) if slash and other.startswith("lkc-") else (cluster, text)


def meaning(cluster: str, reads: str, writes: str, columns: str) -> Json:
    """What a statement reads, writes, and the pairs of columns (cluster, topic, column): from, to."""
    read = [_place(cluster, one) for one in reads.split()]
    written = [_place(cluster, one) for one in writes.split()]
    pairs, out = [], []
    for told in columns.split():
        name, _, origins = told.partition("=")
        sink, _, name = name.rpartition(">")
        target = (*(_place(cluster, sink) if sink else written[0]), name)
        out.append(list(target))
        for origin in filter(None, origins.split(",")):
            place = next(one for one in sorted(read, key=lambda one: -len(one[1])) if _starts(origin, one, cluster))
            column = origin.removeprefix(place[0] + "/").removeprefix(place[1] + ".")
            pairs.append([[*place, column], list(target)])
    return {"reads": [list(one) for one in read], "writes": [list(one) for one in written], "columns": pairs, "written": out}


def _starts(origin: str, place: tuple[str, str], cluster: str) -> bool:
    lead, slash, rest = origin.partition("/")
    there, text = (lead, rest) if slash else (cluster, origin)
    return there == place[0] and text.startswith(place[1] + ".")


def add_written(topics: Topics, means: Json) -> None:
    """The topics that are written, with the columns that are written; a column has the type of the first that it comes from."""
    for cluster, topic in means["writes"]:
        value: list[str] = []
        key: list[str] = []
        for *place, column in means["written"]:
            if place == [cluster, topic]:
                origin = next((one for one, to in means["columns"] if to == [cluster, topic, column]), None)
                kind = _type(topics, *origin) if origin else "long"
                (key if column.startswith("_key.") else value).append(f"{column.removeprefix('_key.')}:{kind}")
        topics.add(cluster, topic, " ".join(value), " ".join(key), "AVRO")


def add_key_names(topics: Topics, means: Json) -> None:
    """A column that lies in a topic's key is named as such."""
    for origin, _ in means["columns"]:
        keys = [one["name"] for one in topics.topics[origin[0], origin[1]]["key_columns"]]
        if origin[2] in keys:
            origin[2] = f"_key.{origin[2]}"


def _type(topics: Topics, cluster: str, topic: str, path: str) -> str:
    known = topics.topics.get((cluster, topic))
    level = [*known["columns"], *known["key_columns"]] if known else []
    kind = "string"
    for part in path.removeprefix("_key.").split("."):
        found: Json = next((one for one in level if one["name"] == part), {"type": "string"})
        kind, level = found["type"], found.get("fields", [])
    return "string" if kind == "record" else kind


def flink_statements(topics: Topics, secrets: Secrets) -> list[Json]:
    """All statements; the topics that they write are added."""
    return [_statement(one, topics, secrets) for one in load("statements")["statement"]]


def _statement(told: Json, topics: Topics, secrets: Secrets) -> Json:
    one = {
        "cluster": "",
        "phase": "RUNNING",
        "kind": "INSERT_INTO",
        "principal": "sa-fl1nk0",
        "reads": "",
        "writes": "",
        "columns": "",
        **told,
    }
    environment, phase, name = one["environment"], one["phase"], one["name"]
    means = meaning(one["cluster"], one["reads"], one["writes"], one["columns"])
    add_written(topics, means)
    add_key_names(topics, means)
    cloud, _, region = one["region"].partition(".")
    by_name = number(f"by name {name}", 2) == 0
    properties = {"sql.current-catalog": CATALOGS[environment] if by_name else environment, "sql.local-time-zone": "UTC"}
    if one["cluster"]:
        properties["sql.current-database"] = NAMES[one["cluster"]] if by_name else one["cluster"]
    created = time(f"{environment} {name}")
    text = one["text"]
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
        "principal": one["principal"],
        "stopped": phase == "STOPPED",
        "phase": phase,
        "detail": DETAILS.get(phase, ""),
        "traits": {
            "sql_kind": one["kind"],
            "is_bounded": False,
            "is_append_only": "GROUP BY" not in text,
            "upsert_columns": None,
            "schema": {},
            "connection_refs": [],
        },
        "latest_offsets": _offsets(topics, name, means) if phase in MOVING and one["kind"] != "SELECT" else {},
        "exceptions": [EXCEPTION] if phase == "FAILED" else [],
        "means": means,
    }


def _pool(environment: str, region: str) -> str:
    return next(str(pool["id"]) for pool in pools() if (pool["environment"], pool["region"]) == (environment, region))


def _offsets(topics: Topics, name: str, means: Json) -> Json:
    """Topic to what was read of each partition."""
    made = {}
    for cluster, topic in means["reads"]:
        count = topics.topics[cluster, topic]["partitions_count"]
        made[topic] = ";".join(f"partition:{at},offset:{number(f'{name} {topic} {at}', 10000)}" for at in range(count))
    return made


def materialized_tables(topics: Topics) -> list[Json]:
    """All materialized tables; the topic of each bears its name."""
    return [_materialized(one, topics) for one in load("statements")["materialized"]]


def _materialized(told: Json, topics: Topics) -> Json:
    name, cluster = told["name"], told["cluster"]
    means = meaning(cluster, told["reads"], name, told["columns"])
    add_written(topics, means)
    cloud, _, region = told["region"].partition(".")
    return {
        "environment": told["environment"],
        "cloud": cloud,
        "region": region,
        "name": name,
        "cluster": cluster,
        "uid": uid(f"materialized {name}"),
        "created_at": time(f"materialized {name}"),
        "query": told["query"],
        "columns": [{"name": one[2], "type": _type(topics, *one), "kind": "Physical"} for one in means["written"]],
        "stopped": False,
        "phase": "RUNNING",
        "version": 1,
        "principal": "sa-fl1nk0",
        "compute_pool_id": _pool(told["environment"], region),
        "means": means,
    }
