"""Node ids as LineageBridge's users write them: `system:type:scope:name`. Converts names to node ids and back. Pure.

    confluent:kafka_topic:env-abc:lkc-123/orders       confluent://env-abc/lkc-123, orders
    databricks:uc_table:workspace-1:main.sales.orders  databricks://workspace-1, main.sales.orders
    aws:glue_table:us-west-2:sales/orders              aws://us-west-2/sales, orders
    google:google_table:project:sales.orders           google://project/sales, orders
    external:external_dataset:s3~3A//bucket:orders     s3://bucket, orders

If a namespace has no short form, the scope is the whole namespace. A colon in a scope, a tilde and a control character are written as `~`
and two hexadecimal digits. When an id is parsed, its type only distinguishes datasets from jobs. So an id stays valid if the type of its
node turns out to be another one later.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage.facets import JobTypeJobFacet, read_as

CONFLUENT, DATABRICKS, AWS, GOOGLE, EXTERNAL = SYSTEMS = ("confluent", "databricks", "aws", "google", "external")
TOPIC, TABLEFLOW, CATALOG, SCHEMA, OTHER = DATASET_TYPES = ("kafka_topic", "tableflow_table", "catalog_table", "schema", "external_dataset")
JOB_TYPES: Final = (
    "connector",
    "connector_task",
    "ksqldb_query",
    "flink_job",
    "consumer_group",
    "streams_application",
    "producer",
    "tableflow_sync",
    "cluster_link",
    "schema_link",
    "notebook",
    "catalog_query",
    "spark_job",
    "airflow_task",
    "dbt_job",
    "job",
)
CATALOGS: Final = {DATABRICKS: "UNITY_CATALOG", AWS: "AWS_GLUE", GOOGLE: "GOOGLE_DATA_LINEAGE"}
"""The type of catalog by system."""
_CATALOG_WORDS = {DATABRICKS: "uc_table", AWS: "glue_table", GOOGLE: "google_table"}
CATALOG_TYPES: Final = tuple(_CATALOG_WORDS.values())
"""The types that ids have in place of `catalog_table`."""
_SYSTEM_OF: Final = (
    (CONFLUENT, r"confluent://.*|kafka://lkc-[^/]*|kafka://[^/]*\.confluent\.cloud(?::\d+)?"),
    (DATABRICKS, r"(?:databricks|unitycatalog|unity-catalog)://.*"),
    (AWS, r"aws://.*|arn:aws.*|glue://.*"),
    (GOOGLE, r"google://.*|bigquery(?:://)?"),
)
_SYSTEMS = tuple((system, re.compile(pattern, re.DOTALL)) for system, pattern in _SYSTEM_OF)
_PREFIXES: Final = {
    "flink_job": "flink/",
    "ksqldb_query": "ksqldb/",
    "consumer_group": "consumer-group/",
    "producer": "producer/",
    "tableflow_sync": "tableflow/",
    "tableflow_table": "tableflow/",
    "cluster_link": "cluster-link/",
    "schema_link": "schema-link/",
}
"""The prefixes of names in Confluent's namespaces, by type."""
_INTEGRATIONS: Final = {
    ("KAFKA_CONNECT", "TASK"): "connector_task",
    ("KAFKA_CONNECT", ""): "connector",
    ("DEBEZIUM", ""): "connector",
    ("KSQLDB", ""): "ksqldb_query",
    ("FLINK", ""): "flink_job",
    ("KAFKA", "CONSUMER_GROUP"): "consumer_group",
    ("KAFKA", "STREAMS_APPLICATION"): "streams_application",
    ("KAFKA", "PRODUCER"): "producer",
    ("CONFLUENT", "CLUSTER_LINK"): "cluster_link",
    ("CONFLUENT", "TABLEFLOW"): "tableflow_sync",
    ("SPARK", ""): "spark_job",
    ("AIRFLOW", ""): "airflow_task",
    ("DBT", ""): "dbt_job",
}
"""The job type by the (integration, jobType) of the jobType facet, both in upper case. An empty jobType is any."""
STATED: Final = "LINEAGEBRIDGE"
"""The integration of a jobType facet whose jobType is one of JOB_TYPES, in upper case."""
_SCHEMES: Final = {"kafka-connect": "connector", "msk-connect": "connector", "flink": "flink_job", "ksqldb": "ksqldb_query"}

Name = tuple[str, str]
"""Namespace and name."""


class NodeId(NamedTuple):
    """The system, type and id of a node. `sure` is false if another name could have the same id and would be found first when the id is
    parsed.
    """

    system: str
    type: str
    id: str
    sure: bool


class NodeIdCandidates(NamedTuple):
    """The names that a node id may denote: the `exact` ones in order, then the `tiers`, as (namespace glob, name) pairs."""

    kind: NodeKind
    exact: tuple[Name, ...]
    tiers: tuple[tuple[Name, ...], ...]


def system_of(namespace: str) -> str:
    """The system to which a namespace belongs, such as `kafka`."""
    return next((system for system, pattern in _SYSTEMS if pattern.fullmatch(namespace)), EXTERNAL)


def dataset_type(namespace: str, name: str) -> str:
    """The type of a dataset in node ids, such as `kafka_topic`."""
    system = system_of(namespace)
    if system in CATALOGS and (namespace.startswith("arn:aws:glue:") or not namespace.startswith("arn:")):
        return CATALOG
    if system == CONFLUENT and namespace.startswith("confluent://"):
        return SCHEMA if re.search(r"/lsrc-[^/]*\Z", namespace) else TABLEFLOW if name.startswith(_PREFIXES[TABLEFLOW]) else TOPIC
    return TOPIC if namespace.startswith("kafka://") else OTHER


def job_type(namespace: str, name: str, facet: str | None) -> str:
    """The type of a job in node ids, from the text of its jobType facet, its name, or its namespace."""
    stated = read_as(JobTypeJobFacet, "job", "jobType", facet.encode()) if facet else None
    integration, type_text = ((stated.integration or "").upper(), (stated.jobType or "").upper()) if stated else ("", "")
    if integration == STATED and type_text.lower() in JOB_TYPES:
        return type_text.lower()
    type_ = _INTEGRATIONS.get((integration, type_text)) or _INTEGRATIONS.get((integration, ""))
    if type_:
        return type_
    scheme = namespace.partition("://")[0]
    if scheme == CONFLUENT:
        return next((type_ for type_, start in _PREFIXES.items() if type_ in JOB_TYPES and name.startswith(start)), "connector")
    return _SCHEMES.get(scheme, "job")


def make_node_id(kind: NodeKind, namespace: str, name: str, job_type_facet: str | None = None) -> NodeId:
    """The system, type and id of the node with this name."""
    type_ = dataset_type(namespace, name) if kind == NodeKind.DATASET else job_type(namespace, name, job_type_facet)
    system = system_of(namespace)
    type_text = _CATALOG_WORDS[system] if type_ == CATALOG else type_
    scope, qualified, sure = _short(system, namespace, name) or (namespace, name, True)
    return NodeId(system, type_, f"{system}:{type_text}:{_escaped(scope, ':')}:{_escaped(qualified)}", sure)


def with_whole_namespace(node_id: NodeId, namespace: str, name: str) -> NodeId:
    """Build the node id whose scope is the whole namespace, which is unique."""
    system, type_text = node_id.id.split(":")[:2]
    return node_id._replace(id=f"{system}:{type_text}:{_escaped(namespace, ':')}:{_escaped(name)}", sure=True)


def qualified_name(id_: str) -> str:
    """The name within the scope, parsed from a node id that `make_node_id` returned."""
    return _plain(id_.split(":", 3)[3])


def display_name(type_: str, name: str) -> str:
    """The name of a node without the prefix that states its type."""
    return name.removeprefix(_PREFIXES.get(type_, ""))


def prefixed(type_: str, name: str) -> str:
    """The name of a node with the prefix that states its type in Confluent's namespaces."""
    start = _PREFIXES.get(type_, "")
    return name if name.startswith(start) else start + name


def environment(namespace: str) -> tuple[str | None, str | None]:
    """The ids of the environment and the cluster that a Confluent namespace names; None if it names none."""
    match = _CONFLUENT.fullmatch(namespace)
    return (match[1], match[2]) if match else (None, None)


def parse_node_id(text: str) -> NodeIdCandidates | None:
    """The names that a node id may denote; None if the text is not a node id."""
    parts = text.split(":", 3)
    if len(parts) < 4 or parts[0] not in SYSTEMS:
        return None
    system, type_, scope, name = parts[0], parts[1], _plain(parts[2]), _plain(parts[3])
    if type_ in DATASET_TYPES or type_ in CATALOG_TYPES:
        kind = NodeKind.DATASET
    elif type_ in JOB_TYPES:
        kind = NodeKind.JOB
    else:
        return None
    if _is_namespace(system, scope):
        return NodeIdCandidates(kind, ((scope, name),), ())
    return NodeIdCandidates(kind, tuple(dict.fromkeys(_exact(system, type_, scope, name))), tuple(_tiers(system, type_, scope, name)))


# short forms: convert a namespace and name to a scope and qualified name, and back

_CONFLUENT = re.compile(r"confluent://([^/:]+)/([^/]+)")
_WORKSPACE = re.compile(r"databricks://([^:]+)")
_UNITY = re.compile(r"unitycatalog://([^:]+)")
_DATABASE = re.compile(r"aws://([^/:]+)/([^/]+)")
_REGION = re.compile(r"aws://([^/:]+)")
_ACCOUNT = re.compile(r"arn:aws:glue:([^/:]+):([^/:]+)")
_GLUE_TABLE = re.compile(r"table/([^/]+)/(.+)", re.DOTALL)
_PROJECT = re.compile(r"google://([^/:]+)/([^/.]+)")
_BIGQUERY = re.compile(r"([^.:]+)\.([^.]+\..+)", re.DOTALL)


def _short(system: str, namespace: str, name: str) -> tuple[str, str, bool] | None:
    """The short scope and name of a node, and whether no other node can have the same; None if the namespace has no short form."""
    if system == AWS:
        return _short_glue(namespace, name)
    if system == GOOGLE:
        return _short_google(namespace, name)
    if match := _CONFLUENT.fullmatch(namespace):
        return match[1], f"{match[2]}/{name}", True
    if match := _WORKSPACE.fullmatch(namespace) or _UNITY.fullmatch(namespace):
        return match[1], name, namespace.startswith("databricks://")
    return None


def _short_google(namespace: str, name: str) -> tuple[str, str, bool] | None:
    match = _PROJECT.fullmatch(namespace)
    if match and match[1] != "bigquery":
        return match[1], f"{match[2]}.{name}", True
    match = _BIGQUERY.fullmatch(name) if namespace == "bigquery" else None
    return (match[1], match[2], False) if match and match[1] != "bigquery" else None


def _short_glue(namespace: str, name: str) -> tuple[str, str, bool] | None:
    if match := _DATABASE.fullmatch(namespace):
        return match[1], f"{match[2]}/{name}", True
    table = _GLUE_TABLE.fullmatch(name)
    if table and (match := _ACCOUNT.fullmatch(namespace)):
        return f"{match[1]}/{match[2]}", f"{table[1]}/{table[2]}", True
    if table and (match := _REGION.fullmatch(namespace)):
        return match[1], f"{table[1]}/{table[2]}", False
    return None


def _exact(system: str, type_: str, scope: str, name: str) -> Iterator[Name]:
    """The names that give exactly this scope and name, in the order in which to try them."""
    first, slash, rest = name.partition("/")
    if system == CONFLUENT and slash:
        yield f"confluent://{scope}/{first}", rest
        yield f"confluent://{scope}/{first}", _PREFIXES.get(type_, "") + rest
    elif system == DATABRICKS:
        yield f"databricks://{scope}", name
        yield f"unitycatalog://{scope}", name
    elif system == AWS and slash:
        region, account, id_ = scope.partition("/")
        if account:
            yield f"arn:aws:glue:{region}:{id_}", f"table/{name}"
        else:
            yield f"aws://{region}/{first}", rest
            yield f"aws://{region}", f"table/{name}"
    elif system == GOOGLE:
        dataset, dot, table = name.partition(".")
        if dot:
            yield f"google://{scope}/{dataset}", table
        yield "bigquery", f"{scope}.{name}"


def _tiers(system: str, type_: str, scope: str, name: str) -> Iterator[tuple[Name, ...]]:
    """Names to look up if no node has an exact name: an id may lack the cluster, or name an environment instead of the workspace."""
    if system == CONFLUENT:
        here = f"confluent://{_literal(scope)}/*"
        yield tuple((here, spelling) for spelling in dict.fromkeys((name, _PREFIXES.get(type_, "") + name)))
        if type_ == OTHER:
            yield (("*", name),)
    elif system == DATABRICKS:
        yield ("databricks://*", name), ("unitycatalog://*", name)
    elif system == AWS:
        table = name.removeprefix("glue://")
        database, _, rest = table.partition("/")
        region = _literal(scope.partition("/")[0])
        yield ((f"arn:aws:glue:{region}:*", f"table/{table}"),)
        yield ("arn:aws:glue:*", f"table/{table}"), (f"aws://*/{_literal(database)}", rest), ("aws://*", f"table/{table}")
    elif system == GOOGLE:
        yield (("bigquery", name),)


def _is_namespace(system: str, scope: str) -> bool:
    """Whether a scope is a whole namespace: only those contain a colon."""
    return system == EXTERNAL or ":" in scope or scope == "bigquery"


# writing: escape characters that would end a part of the id, or the line

_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_SPECIAL = re.compile(r"[~\x00-\x1f\x7f]")
_SPECIAL_IN_SCOPE = re.compile(r"[~:\x00-\x1f\x7f]")


def _escaped(text: str, end: str = "") -> str:
    return (_SPECIAL_IN_SCOPE if end else _SPECIAL).sub(lambda match: f"~{ord(match[0]):02X}", text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _literal(text: str) -> str:
    """Escape a text as a glob that matches only this text."""
    return re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", text)
