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
    "trino": 8080,
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
    "cassandra": "cassandra",
    "informix-sqli": "informix",
    "netezza": "netezza",
    "sap": "hana",
    "singlestore": "singlestore",
    "vertica": "vertica",
}
"""The driver in a JDBC URL, to the scheme of namespaces."""

_SCHEMAS = {"postgres": "public", "mssql": "dbo", "redshift": "public", "crate": "doc"}
"""The default schema of databases that have schemas."""

_TWO_PARTS = frozenset(("mysql", "clickhouse", "hive", "oceanbase", "teradata", "cassandra", "singlestore", "hana", "netezza", "vertica"))
"""Schemes whose databases contain tables directly, without schemas."""

_JDBC = re.compile(r"jdbc:(?P<kind>[a-z0-9-]+(?::(?:thin|sqlserver))?):(?P<rest>.+)", re.IGNORECASE)
_OBJECT_STORES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs"}
_KEYS = {"abfss", "wasbs"}
_IN_PATHS = {"hdfs", "abfs", "abfss", "wasb", "wasbs", "oss", "cos", "obs", "dbfs"}


def parts_of(scheme: str) -> int:
    """How many parts the full name of a table has."""
    return 2 if scheme in _TWO_PARTS else 3


def first_server(bootstrap: str) -> str:
    """The first `host:port` of a list of brokers, without the listener's protocol."""
    server = bootstrap.split(",", maxsplit=1)[0].strip()
    return server.split("://", 1)[-1]


def kafka(bootstrap: str, topic: str) -> DatasetName:
    """A topic, by the first of the brokers named."""
    return f"kafka://{first_server(bootstrap)}", topic


def table(scheme: str, host: str, *parts: str) -> DatasetName:
    """A table of a database server; `host` is `host` or `host:port`."""
    return f"{scheme}://{_with_port(host, scheme)}", ".".join(parts)


def jdbc(url: str, name: str, schema: str | None = None) -> DatasetName | None:
    """A table behind a JDBC URL, named `table` or `schema.table` (or in full); None for a URL without a database."""
    match = _JDBC.fullmatch(url.strip())
    scheme = DRIVERS.get(match["kind"].lower()) if match else None
    if match is None or scheme is None:
        return None
    host, database, schema = _address(scheme, match["rest"], schema)
    parts = name.replace('"', "").replace("`", "").replace("[", "").replace("]", "").split(".")
    if scheme == "snowflake":
        return f"snowflake://{host.removesuffix('.snowflakecomputing.com')}", ".".join([*_lead([database, schema or ""], parts, 3), *parts])
    full = parts_of(scheme)
    lead = [database] if full == 2 else [database, schema or _SCHEMAS.get(scheme, "")]
    return table(scheme, host, *_lead(lead, parts, full), *parts)


def dataset(namespace: str, name: str) -> DatasetName:
    """A dataset from a composed namespace and name: the default port is added.

    In an object store the name is a key without surrounding slashes, in a file system a path that begins with a slash.
    """
    scheme, _, authority = namespace.partition("://")
    if scheme in _OBJECT_STORES or scheme in _KEYS:
        return f"{_OBJECT_STORES.get(scheme, scheme)}://{authority}", _folders(name).strip("/") or "/"
    if scheme in _IN_PATHS:
        return namespace, "/" + _folders(name).strip("/")
    if scheme == "file":
        return namespace, _folders(name).rstrip("/") or "/"
    return f"{scheme}://{_with_port(authority, scheme)}" if authority and "/" not in authority else namespace, name


def path(uri: str) -> DatasetName | None:
    """A file or folder by its URI or absolute path; None for anything else."""
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


def _folders(key: str) -> str:
    """A key without empty folders in it."""
    return re.sub(r"/{2,}", "/", key)


def _with_port(host: str, scheme: str) -> str:
    port = DEFAULT_PORTS.get(scheme)
    return host if port is None or re.search(r":\d+$", host) else f"{host}:{port}"


def _lead(lead: list[str], parts: list[str], full: int) -> list[str]:
    """The missing leading parts of a name, as far as they are known."""
    missing = max(0, full - len(parts))
    return [part for part in lead[:missing] if part]


def _address(scheme: str, rest: str, schema: str | None) -> tuple[str, str, str | None]:
    """Host with port, database and schema, from the part of a JDBC URL after `jdbc:kind:`."""
    options = {key.lower(): value for key, value in re.findall(r"[?&;]([\w.]+)=([^&;]*)", rest)}
    bare = re.split(r"[?;]", rest, maxsplit=1)[0]
    if scheme == "oracle":
        match = re.fullmatch(r"@(?://)?(?P<host>[^:/]+(?::\d+)?)[:/](?P<service>.+)", bare)
        return (match["host"], match["service"], schema) if match else (bare.lstrip("@/"), "", schema)
    authority, _, where = bare.removeprefix("//").partition("/")
    host = authority.split("@")[-1].split(",")[0]
    database = options.get("databasename") or options.get("database") or options.get("db") or where.split("/")[0]
    return host, database, schema or options.get("currentschema") or options.get("schema")
