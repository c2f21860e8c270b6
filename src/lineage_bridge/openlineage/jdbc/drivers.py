"""Parses JDBC addresses of all drivers, including forms that only one driver has.

Sources: OpenLineage's own readers of addresses and the drivers' documentation.
"""

import re
from collections.abc import Callable

from lineage_bridge.openlineage.jdbc.address import HAS_PORT, JdbcAddress, address_of, plain_name, read_server, split_options
from lineage_bridge.openlineage.naming import DRIVERS

FILE_DATABASES = frozenset(("sqlite", "duckdb"))
"""Databases that are files."""
_LONGEST = 8_192
"""The longest address that is read, in characters."""
_WRAPPERS = re.compile(r"(?:aws-wrapper|p6spy|otel|log4jdbc|tracing|microsoft|datadirect|weblogic|cdata):", re.IGNORECASE)
_JDBC = re.compile(r"jdbc(?:-secretsmanager)?:(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_TNS_ADDRESS = re.compile(r"\(\s*ADDRESS\s*=(?P<members>(?:\s*\([^()]*\))+)", re.IGNORECASE)
_TNS_MEMBER = re.compile(r"\(\s*(?P<key>\w+)\s*=\s*(?P<value>[^()\s]+)\s*\)")
_ORACLE = re.compile(r"oracle:(?P<driver>\w+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ORACLE_HOSTS = re.compile(
    r"(?P<hosts>(?:[\w.\-]+|\[[^\]]+\])(?::\d+)?(?:,(?:[\w.\-]+|\[[^\]]+\])(?::\d+)?)*)(?:[:/](?P<service>[^:/?;,\s]+).*)?"
)
_LDAP = re.compile(r"ldaps?:(?://)?(?P<host>[\w.\-]+(?::\d+)?)/(?:\S*/)?(?P<service>[^,/\s]+)", re.IGNORECASE)


def read_jdbc(url: str) -> JdbcAddress | None:
    """Read the server, database and schema in a JDBC address. None if the address does not contain them, as with an alias of
    `tnsnames.ora`.
    """
    match = _JDBC.fullmatch(url.strip()) if len(url) <= _LONGEST else None
    if match is None:
        return None
    rest = _WRAPPERS.sub("", match["rest"], count=1)
    driver = rest.partition(":")[0].lower()
    if driver in FILE_DATABASES:
        return _file(driver, rest.partition(":")[2])
    reader = _READERS.get(driver)
    return read_server(rest) if reader is None else reader(rest)


def _file(driver: str, rest: str) -> JdbcAddress | None:
    path = re.split(r"[?;]", rest.removeprefix("file:"), maxsplit=1)[0]
    return None if not path or path.startswith(":") else JdbcAddress(driver, path)


def _oracle(rest: str) -> JdbcAddress | None:
    """Read an address of Oracle: a descriptor, `host:port:sid`, `//host:port/service` or a name in an LDAP directory, after
    `user/password@`.
    """
    match = _ORACLE.fullmatch(rest)
    if match is None:
        return None
    text = match["rest"]
    if "(" in text and (found := _TNS_ADDRESS.search(text)):
        return _descriptor(text[found.start() :])
    if found := _LDAP.search(text):
        return address_of("oracle", found["host"], found["service"])
    end = next((at for at, sign in enumerate(text) if sign == "?" and "@" in text[:at]), len(text))
    location = text[:end].rpartition("@")[2]
    if "@" not in text or "@" in text[end:] or "tns_admin" in text[end:].lower():
        return None
    protocol = re.match(r"\w*://", location)
    location = location[protocol.end() :] if protocol else location.removeprefix("//")
    is_alias = match["driver"].lower() != "thin" and protocol is None and not re.search(r"[:/.]", location)
    hosts = None if is_alias else _ORACLE_HOSTS.fullmatch(location)
    return None if hosts is None else address_of("oracle", hosts["hosts"], hosts["service"] or "")


def _descriptor(text: str) -> JdbcAddress | None:
    hosts = []
    for address in _TNS_ADDRESS.finditer(text):
        members = {match["key"].upper(): match["value"] for match in _TNS_MEMBER.finditer(address["members"])}
        if "HOST" in members:
            hosts.append(f"{members['HOST']}:{members['PORT']}" if "PORT" in members else members["HOST"])
    data = {match["key"].upper(): match["value"] for match in _TNS_MEMBER.finditer(text)}
    service = data.get("SERVICE_NAME") or data.get("SID") or data.get("INSTANCE_NAME") or ""
    return address_of("oracle", ",".join(hosts), service) if hosts else None


def _sql_server(rest: str) -> JdbcAddress | None:
    """Read an address of SQL Server: host, instance and port stand before the options or among them."""
    start, _, after = rest.partition("//")
    scheme = DRIVERS.get(start.rstrip(":").lower(), "")
    head, options = split_options(after)
    if options.get("socketfactoryclass", "").startswith("com.google.cloud."):
        return None
    host, _, path = head.rpartition("@")[2].partition("/")
    server, _, instance = host.partition("\\")
    instance, _, port = instance.partition(":") if instance else ("", "", "")
    name, _, own_port = server.partition(":") if not server.startswith("[") else (server, "", "")
    name = name or options.get("servername", "")
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    port = own_port or port or options.get("portnumber", "")
    database = options.get("databasename") or options.get("database") or plain_name(path)
    instance = instance or options.get("instancename") or options.get("instance", "")
    return address_of(scheme, f"{name}:{port}" if port else name, database, "", "" if port else plain_name(instance)) if scheme else None


def _teradata(rest: str) -> JdbcAddress | None:
    """Read an address of Teradata: `//host/OPTION=value,...`."""
    host, _, after = rest.partition("//")[2].partition("/")
    pairs = (pair.partition("=") for pair in after.split(","))
    options = {key.strip().upper(): value.strip() for key, sign, value in pairs if sign}
    port = options.get("DBS_PORT", "")
    host = host.rpartition("@")[2]
    return address_of("teradata", f"{host}:{port}" if port and not HAS_PORT.search(host) else host, options.get("DATABASE", ""))


def _snowflake(rest: str) -> JdbcAddress | None:
    """Read an address of Snowflake. The host contains the account; options name the database and the schema."""
    address = read_server(rest)
    if address is None:
        return None
    return address._replace(hosts=re.sub(r"(?:\.snowflakecomputing\.(?:com|cn))?(?::\d+)?$", "", address.hosts))


def _bigquery(rest: str) -> JdbcAddress | None:
    """Read an address of BigQuery. Options name the project and the default dataset. All projects are in the same namespace."""
    options = split_options("?" + rest.partition("//")[2])[1]
    return JdbcAddress("bigquery", "", options["projectid"], options.get("defaultdataset", "")) if options.get("projectid") else None


def _athena(rest: str) -> JdbcAddress | None:
    """Read an address of Athena: the host or an option names the region. Names have the form `catalog.schema.table`."""
    head, options = split_options(
        "?" + rest.partition("//")[2] if "=" in rest.partition("//")[2].partition(";")[0] else rest.partition("//")[2]
    )
    found = re.match(r"athena\.([a-z0-9\-]+)\.amazonaws\.com", head, re.IGNORECASE)
    region = found[1] if found else options.get("awsregion") or options.get("region") or ""
    if not re.fullmatch(r"[a-z0-9\-]+", region):
        return None
    catalog, schema = options.get("catalog") or "AwsDataCatalog", options.get("schema") or options.get("database") or ""
    return JdbcAddress("awsathena", f"athena.{region}.amazonaws.com", catalog, schema)


def _databricks(rest: str) -> JdbcAddress | None:
    """Read an address of Databricks. Tables of the workspace are those of Unity Catalog if the catalog is known."""
    address = read_server(rest)
    if address is None or (address.scheme == "spark" and "databricks" not in address.hosts):
        return address
    options = split_options(rest.partition("//")[2])[1]
    catalog, schema = options.get("conncatalog", ""), options.get("connschema") or address.database
    hosts = address.hosts.removesuffix(":443")
    return JdbcAddress("unitycatalog" if catalog else "databricks", hosts, catalog, schema)


_READERS: dict[str, Callable[[str], JdbcAddress | None]] = {
    "oracle": _oracle,
    "sqlserver": _sql_server,
    "jtds": _sql_server,
    "teradata": _teradata,
    "snowflake": _snowflake,
    "bigquery": _bigquery,
    "awsathena": _athena,
    "athena": _athena,
    "databricks": _databricks,
    "spark": _databricks,
}
