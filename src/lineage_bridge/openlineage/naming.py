"""OpenLineage names of datasets, from their addresses in other systems. Source: the specification's page on naming."""

import re
from urllib.parse import urlsplit

DatasetName = tuple[str, str]
"""Namespace and name."""

DEFAULT_PORTS = {
    "postgres": 5432,
    "mysql": 3306,
    "mssql": 1433,
    "oracle": 1521,
    "db2": 50000,
    "clickhouse": 8123,
    "mongodb": 27017,
    "elasticsearch": 9200,
    "cassandra": 9042,
    "trino": 443,
    "hive": 10000,
    "oceanbase": 2881,
    "teradata": 1025,
    "crate": 5432,
    "redshift": 5439,
    "activemq": 61616,
    "hana": 30015,
    "ibmmq": 1414,
    "influxdb": 8086,
    "informix": 9088,
    "mariadb": 3306,
    "milvus": 19530,
    "mqtt": 1883,
    "neo4j": 7687,
    "netezza": 5480,
    "opensearch": 9200,
    "rabbitmq": 5672,
    "redis": 6379,
    "sftp": 22,
    "singlestore": 3306,
    "splunk": 8088,
    "sqlserver": 1433,
    "vertica": 5433,
    "vitess": 15991,
}
"""The default port of a system, by the scheme of its namespaces. Kafka has none."""

DRIVERS = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlserver": "mssql",
    "jtds:sqlserver": "mssql",
    "jtds:sybase": "sybase",
    "oracle:thin": "oracle",
    "db2": "db2",
    "clickhouse": "clickhouse",
    "ch": "clickhouse",
    "oceanbase": "oceanbase",
    "crate": "crate",
    "redshift": "redshift",
    "trino": "trino",
    "hive2": "hive",
    "snowflake": "snowflake",
    "teradata": "teradata",
    "awsathena": "awsathena",
    "athena": "awsathena",
    "cassandra": "cassandra",
    "informix-sqli": "informix",
    "netezza": "netezza",
    "sap": "hana",
    "singlestore": "singlestore",
    "memsql": "singlestore",
    "pgsql": "postgres",
    "vertica": "vertica",
    "gs": "griddb",
}
"""The scheme of namespaces for each driver in a JDBC URL."""

_TWO_PARTS = frozenset(("mysql", "clickhouse", "hive", "oceanbase", "teradata", "cassandra", "singlestore", "hana", "netezza", "vertica"))
"""Schemes whose databases contain tables directly, without schemas."""

_OBJECT_STORES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs"}
_KEYS = {"abfss", "wasbs"}
_SRV = "mongodb+srv"
"""MongoDB's scheme for a host whose DNS records have the servers and their ports: the host itself has no port."""
_IN_PATHS = {"adl", "hdfs", "abfs", "abfss", "wasb", "wasbs", "oss", "cos", "obs", "dbfs"}

_IN_CAPITALS = frozenset(("db2", "hana", "oracle", "snowflake"))
_IN_SMALL_LETTERS = frozenset(("postgres", "redshift"))
"""Databases that store names in capitals or in small letters, unless a statement quotes them."""
_PLAIN = re.compile(r"[A-Z_][A-Z0-9_$]*")
"""An identifier that Snowflake stores alike with and without quotes."""
_ARN = re.compile(r"arn:aws:(?!glue:)[a-z0-9-]+:(?P<partition>cn|us-gov)-[a-z0-9-]+:")
_PARTITIONS = {"cn": "aws-cn", "us-gov": "aws-us-gov"}
"""The partitions of Amazon's regions outside `aws`, by how the names of their regions begin."""


def parts_of(scheme: str) -> int:
    """How many parts the full name of a table has in a system, such as 3 for PostgreSQL: database, schema and table."""
    return 2 if scheme in _TWO_PARTS else 3


def first_server(bootstrap: str) -> str:
    """The first `host:port` of a list of brokers, without the listener's protocol."""
    server = bootstrap.split(",", maxsplit=1)[0].strip()
    return server.split("://", 1)[-1]


def kafka(bootstrap: str, topic: str) -> DatasetName:
    """The dataset of a topic. Its namespace has the first of the given brokers."""
    return f"kafka://{first_server(bootstrap)}", topic


def table(scheme: str, host: str, *parts: str) -> DatasetName:
    """The dataset of a table on a database server; `host` is `host` or `host:port`."""
    return f"{scheme}://{_with_port(host, scheme)}", ".".join(parts)


def dataset(namespace: str, name: str) -> DatasetName:
    """The dataset with this namespace and name, after adding the default port.

    In an object store, the name is a key without surrounding slashes; in a file system, a path that begins with a slash. An ARN contains
    the AWS partition of its region, except for Glue, where it is always `aws`, as OpenLineage's integrations write it.
    """
    if region := _ARN.match(namespace):
        return f"arn:{_PARTITIONS[region['partition']]}:{namespace[len('arn:aws:') :]}", name
    scheme, _, authority = namespace.partition("://")
    if scheme in _OBJECT_STORES or scheme in _KEYS:
        return f"{_OBJECT_STORES.get(scheme, scheme)}://{authority}", _folders(name).strip("/") or "/"
    if scheme in _IN_PATHS:
        return namespace, "/" + _folders(name).strip("/")
    if scheme == "file":
        return namespace, _folders(name).rstrip("/") or "/"
    if scheme == _SRV:
        return f"mongodb://{authority}", name
    return f"{scheme}://{_with_port(authority, scheme)}" if authority and "/" not in authority else namespace, name


def path(uri: str) -> DatasetName | None:
    """The dataset at a URI or absolute path of a file or folder; None for any other text."""
    try:
        parsed = urlsplit(uri)
    except ValueError:
        return None
    scheme = parsed.scheme.lower()
    if scheme in _OBJECT_STORES:
        return f"{_OBJECT_STORES[scheme]}://{parsed.netloc}", parsed.path.strip("/") or "/"
    if scheme in _IN_PATHS:
        return f"{scheme}://{parsed.netloc}", parsed.path.rstrip("/") or "/"
    if scheme == "file" or (not scheme and uri.startswith("/")):
        return "file" if not parsed.netloc else f"file://{parsed.netloc}", parsed.path.rstrip("/") or "/"
    return None


def as_stored(scheme: str, name: str) -> str:
    """Return a name that a statement does not quote in the case in which the database with this scheme stores it."""
    return name.upper() if scheme in _IN_CAPITALS else name.lower() if scheme in _IN_SMALL_LETTERS else name


def snowflake_identifier(part: str) -> str:
    """Return an identifier as Snowflake stores it. Quotes are only kept if the identifier would denote something else without them."""
    if not part.startswith('"'):
        return part.upper()
    inner = part[1:-1]
    return inner if _PLAIN.fullmatch(inner) else part


def _folders(key: str) -> str:
    """Remove empty folders from a key."""
    return re.sub(r"/{2,}", "/", key)


def _with_port(host: str, scheme: str) -> str:
    port = DEFAULT_PORTS.get(scheme)
    return host if port is None or re.search(r":\d+$", host) else f"{host}:{port}"
