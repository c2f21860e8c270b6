"""Node ids as LineageBridge's users write them: `system:type:scope:name`, made of a name and read back to one. Pure.

    confluent:kafka_topic:env-abc:lkc-123/orders       confluent://env-abc/lkc-123, orders
    databricks:uc_table:workspace-1:main.sales.orders  databricks://workspace-1, main.sales.orders
    aws:glue_table:us-west-2:sales/orders              aws://us-west-2/sales, orders
    google:google_table:project:sales.orders           google://project/sales, orders
    external:external_dataset:s3~3A//bucket:orders     s3://bucket, orders

Where a namespace fits no short form, it is the scope, whole. `~` and two hexadecimal digits stand for a colon in a scope, a tilde, a
control character. The type tells a dataset from a job, and nothing else: an id is good for as long as its name, whatever is learnt of the
type later.
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
"""System to the type of its catalog."""
_CATALOG_WORDS = {DATABRICKS: "uc_table", AWS: "glue_table", GOOGLE: "google_table"}
CATALOG_TYPES: Final = tuple(_CATALOG_WORDS.values())
"""What ids write for `catalog_table`."""
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
"""How names of this type begin in Confluent's namespaces."""
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
"""(integration, job type) of a job's jobType facet, or (integration, any)."""
STATED: Final = "LINEAGEBRIDGE"
"""The integration of a job whose type was given in these words: its job type is the word, in upper case."""
_SCHEMES: Final = {"kafka-connect": "connector", "msk-connect": "connector", "flink": "flink_job", "ksqldb": "ksqldb_query"}

Name = tuple[str, str]
"""Namespace and name."""


class Called(NamedTuple):
    """What a node is called: its system, type and node id. `sure` is false where the id may be that of a longer-known name too."""

    system: str
    type: str
    id: str
    sure: bool


class Wanted(NamedTuple):
    """What a node id may mean: names to try in their order; else, tier by tier, a name in all namespaces that a glob matches."""

    kind: NodeKind
    exact: tuple[Name, ...]
    tiers: tuple[tuple[Name, ...], ...]


def system_of(namespace: str) -> str:
    """The system a namespace belongs to."""
    return next((system for system, pattern in _SYSTEMS if pattern.fullmatch(namespace)), EXTERNAL)


def dataset_type(namespace: str, name: str) -> str:
    """The type of a dataset."""
    system = system_of(namespace)
    if system in CATALOGS and (namespace.startswith("arn:aws:glue:") or not namespace.startswith("arn:")):
        return CATALOG
    if system == CONFLUENT and namespace.startswith("confluent://"):
        return SCHEMA if re.search(r"/lsrc-[^/]*\Z", namespace) else TABLEFLOW if name.startswith(_PREFIXES[TABLEFLOW]) else TOPIC
    return TOPIC if namespace.startswith("kafka://") else OTHER


def job_type(namespace: str, name: str, facet: str | None) -> str:
    """The type of a job, by the text of its jobType facet, its name, or its namespace."""
    said = read_as(JobTypeJobFacet, "job", "jobType", facet.encode()) if facet else None
    integration, word = ((said.integration or "").upper(), (said.jobType or "").upper()) if said else ("", "")
    if integration == STATED and word.lower() in JOB_TYPES:
        return word.lower()
    known = _INTEGRATIONS.get((integration, word)) or _INTEGRATIONS.get((integration, ""))
    if known:
        return known
    scheme = namespace.partition("://")[0]
    if scheme == CONFLUENT:
        return next((type_ for type_, start in _PREFIXES.items() if type_ in JOB_TYPES and name.startswith(start)), "connector")
    return _SCHEMES.get(scheme, "job")


def called(kind: NodeKind, namespace: str, name: str, job_type_facet: str | None = None) -> Called:
    """What the node of a name is called."""
    type_ = dataset_type(namespace, name) if kind == NodeKind.DATASET else job_type(namespace, name, job_type_facet)
    system = system_of(namespace)
    word = _CATALOG_WORDS[system] if type_ == CATALOG else type_
    scope, qualified, sure = _short(system, namespace, name) or (namespace, name, True)
    return Called(system, type_, f"{system}:{word}:{_escaped(scope, ':')}:{_escaped(qualified)}", sure)


def spelt_out(called: Called, namespace: str, name: str) -> Called:
    """The same with the id that holds the whole namespace."""
    system, word = called.id.split(":")[:2]
    return called._replace(id=f"{system}:{word}:{_escaped(namespace, ':')}:{_escaped(name)}", sure=True)


def qualified_name(id_: str) -> str:
    """The name within the scope, of an id that `called` made."""
    return _plain(id_.split(":", 3)[3])


def display_name(type_: str, name: str) -> str:
    """The name without what tells its type."""
    return name.removeprefix(_PREFIXES.get(type_, ""))


def prefixed(type_: str, name: str) -> str:
    """The name with what tells its type in Confluent's namespaces."""
    start = _PREFIXES.get(type_, "")
    return name if name.startswith(start) else start + name


def environment(namespace: str) -> tuple[str | None, str | None]:
    """The ids of environment and cluster that a Confluent namespace names."""
    match = _CONFLUENT.fullmatch(namespace)
    return (match[1], match[2]) if match else (None, None)


def parse(text: str) -> Wanted | None:
    """What a node id may mean; None for a text that is none."""
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
        return Wanted(kind, ((scope, name),), ())
    return Wanted(kind, tuple(dict.fromkeys(_exact(system, type_, scope, name))), tuple(_tiers(system, type_, scope, name)))


# short forms: a namespace and name as scope and qualified name, and back

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
    """Scope, qualified name, and whether they are of this name alone; None where there is no short form."""
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
    """The names that scope and qualified name may have been made of, in the order they are tried."""
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
    """Where else a name is looked for: with the cluster left out, or with an environment in the place of workspace, region or project."""
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
    """Whether a scope is a whole namespace: no short one has a colon."""
    return system == EXTERNAL or ":" in scope or scope == "bigquery"


# writing: what would end a part, or a line, is escaped

_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_SPECIAL = re.compile(r"[~\x00-\x1f\x7f]")
_SPECIAL_IN_SCOPE = re.compile(r"[~:\x00-\x1f\x7f]")


def _escaped(text: str, end: str = "") -> str:
    return (_SPECIAL_IN_SCOPE if end else _SPECIAL).sub(lambda match: f"~{ord(match[0]):02X}", text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _literal(text: str) -> str:
    """A text as a glob that matches it alone."""
    return re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", text)
