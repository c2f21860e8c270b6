"""Datasets behind JDBC addresses. Sources: the specification's page on naming, OpenLineage's own readers of addresses, and the drivers'
documentation.

Only host, port, instance, database and schema of an address are read. Users, passwords and all other options are never part of a name.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lineage_bridge.openlineage.naming import DEFAULT_PORTS, DRIVERS, DatasetName, parts_of
from lineage_bridge.openlineage.secrets import MASK


class JdbcAddress(NamedTuple):
    """What an address contains of a dataset's name. `hosts`: `host` or `host:port`, separated by commas."""

    scheme: str
    hosts: str
    database: str = ""
    schema: str = ""
    instance: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the database server."""
        return f"{self.scheme}://{self.hosts}{'/' + self.instance if self.instance else ''}" if self.hosts else self.scheme


_SCHEMAS = {"postgres": "public", "mssql": "dbo", "redshift": "public", "crate": "doc", "awsathena": "default", "databricks": "default"}
"""The default schema of databases that have schemas."""

_SCHEMAS_OF_USERS = frozenset(("oracle", "db2", "hana"))
"""Databases in which tables without a schema belong to the user who connects."""

_WRAPPERS = re.compile(r"(?:aws-wrapper|p6spy|otel|log4jdbc|tracing|microsoft):", re.IGNORECASE)
_DRIVER = re.compile(r"jdbc[a-z\-]*:(?:[a-z][\w+.\-]*:){1,3}", re.IGNORECASE)
_PUBLIC = re.compile(r"[^?;(=@]*:?@?[^?;(=@]*(?:[?;&](?:databaseName|database|db|schema|currentSchema)=[\w.\-]+)*[;&]?", re.IGNORECASE)
_JDBC = re.compile(r"jdbc(?:-secretsmanager)?:(?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_WITH_SLASHES = re.compile(r"(?P<driver>[a-z0-9_+.\-]+)(?P<more>(?::[a-z][a-z0-9_+\-]*)*):(?:@)?//(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_WITHOUT_SLASHES = re.compile(
    r"(?P<driver>[a-z0-9_+.\-]+)(?P<more>(?::[a-z][a-z0-9_+\-]*)*?):(?P<host>[\w.\-]+:\d+)(?:[/:](?P<database>[\w.$\-]+))?(?:[;?,].*)?",
    re.IGNORECASE | re.DOTALL,
)
_LOCAL = re.compile(r"(?P<driver>postgresql|mysql|mariadb):(?P<database>\w+)(?:[?;].*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(?:[\w.\-]+|\[[0-9a-f:.%]+\])(?::\d+)?|[0-9a-f]{0,4}(?::[0-9a-f.]{0,15}){3,8}", re.IGNORECASE)
_PORT = re.compile(r"[^:\]]:\d+$|\]:\d+$")
_OPTIONS = re.compile(r"[?;]|:(?=[A-Za-z][\w.]*=)")
_OPTION = re.compile(r"(?:^|[?&;,:/])(?P<key>[\w.]+)=(?P<value>\{[^}]*\}|[^&;]*)")
_MYSQL_HOST = re.compile(r"\bhost\s*=\s*(?P<host>[\w.\-]+)(?:[^()]*?\)?\s*[,(]\s*port\s*=\s*(?P<port>\d+))?", re.IGNORECASE)

_TNS_ADDRESS = re.compile(r"\(\s*ADDRESS\s*=(?P<members>(?:\s*\([^()]*\))+)", re.IGNORECASE)
_TNS_MEMBER = re.compile(r"\(\s*(?P<key>\w+)\s*=\s*(?P<value>[^()\s]+)\s*\)")
_ORACLE = re.compile(r"oracle:(?P<driver>\w+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ORACLE_HOSTS = re.compile(
    r"(?P<hosts>(?:[\w.\-]+|\[[^\]]+\])(?::\d+)?(?:,(?:[\w.\-]+|\[[^\]]+\])(?::\d+)?)*)(?:[:/](?P<service>[^:/?]+).*)?"
)
_LDAP = re.compile(r"ldaps?:(?://)?(?P<host>[\w.\-]+(?::\d+)?)/(?:\S*/)?(?P<service>[^,/\s]+)", re.IGNORECASE)
_REDSHIFT = re.compile(r"([^.:]+)\.[^.:]+\.([a-z0-9\-]+)\.redshift(?:-serverless)?\.amazonaws\.com(?:\.cn)?(:\d+)?", re.IGNORECASE)
_FILE_DATABASES = frozenset(("sqlite", "duckdb"))


def jdbc_dataset(url: str, name: str, schema: str | None = None, user: str = "") -> DatasetName | None:
    """A table behind a JDBC address, named `table` or `schema.table` (or in full); None if the address does not determine the server.

    `schema` and `user` are those of the connection, where another setting has them. The user is the default schema of some databases.
    """
    address = read_jdbc(url)
    if address is None:
        return None
    parts = [part for part in re.sub(r"[\"`\[\]]", "", name).split(".") if part]
    if address.scheme == "bigquery":
        return address.namespace, ".".join([*_lead([address.database, schema or address.schema], parts, 3), *parts])
    full = parts_of(address.scheme)
    own = schema or address.schema or _SCHEMAS.get(address.scheme, "")
    if not own and address.scheme in _SCHEMAS_OF_USERS and user:
        own = user.strip('"') if user.startswith('"') else user.upper()
    lead = [own if address.scheme == "hana" else address.database] if full == 2 else [address.database, own]
    return address.namespace, ".".join([*_lead(lead, parts, full), *parts])


def read_jdbc(url: str) -> JdbcAddress | None:
    """The server, database and schema in a JDBC address; None if it does not contain them, as with an alias of `tnsnames.ora`."""
    match = _JDBC.fullmatch(url.strip())
    if match is None:
        return None
    rest = _WRAPPERS.sub("", match["rest"], count=1)
    driver = rest.partition(":")[0].lower()
    if driver in _FILE_DATABASES:
        return _file(driver, rest.partition(":")[2])
    reader = _READERS.get(driver)
    return _of_server(rest) if reader is None else reader(rest)


def anonymous_jdbc(url: str) -> str:
    """The address with its hosts, database and schema alone if it has a user or options; what was left out is masked."""
    if _PUBLIC.fullmatch(url) and not re.search(r"[^:/]@", url):
        return url
    found = _DRIVER.match(url)
    address = read_jdbc(url)
    if found is None or address is None:
        return f"{found[0] if found else 'jdbc:'}{MASK}"
    if not address.hosts:
        return f"{found[0]}//ProjectId={address.database};{MASK}"
    if address.scheme in _FILE_DATABASES:
        return f"{found[0]}{address.hosts}?{MASK}"
    server = f"{address.hosts}\\{address.instance}" if address.instance else address.hosts
    where = "/".join(part for part in (server, address.database) if part)
    return f"{found[0]}{'@' if address.scheme == 'oracle' else ''}//{where}?{MASK}"


def _file(driver: str, rest: str) -> JdbcAddress | None:
    path = re.split(r"[?;]", rest.removeprefix("file:"), maxsplit=1)[0]
    return None if not path or path.startswith(":") else JdbcAddress(driver, path)


def _of_server(rest: str) -> JdbcAddress | None:
    """`driver://hosts/database`, with options behind `?`, `;` or `:`; some drivers leave out the slashes, or host and slashes."""
    match = _WITH_SLASHES.fullmatch(rest)
    if match is None:
        bare = _WITHOUT_SLASHES.fullmatch(rest)
        local = _LOCAL.fullmatch(rest)
        if bare is None:
            return None if local is None else _address(_scheme(local["driver"], ""), "localhost", local["database"])
        return _address(_scheme(bare["driver"], bare["more"]), bare["host"], bare["database"] or "")
    scheme = _scheme(match["driver"], match["more"])
    text = _without_user(match["rest"])
    if text is None:
        return None
    head, options = _split_options(text)
    authority, _, path = head.partition("/")
    if not authority and scheme in ("postgres", "mysql"):
        authority = "localhost"
    first, _, second = path.partition("/")
    database = options.get("databasename") or options.get("database") or options.get("db") or _plain(first)
    schema = options.get("currentschema") or options.get("schema") or options.get("searchpath") or ""
    if scheme in ("trino", "presto"):
        schema = schema or _plain(second)
    return _address(scheme, authority, database, schema.split(",")[0])


def _scheme(driver: str, more: str) -> str:
    """The scheme of namespaces: by the driver and its variant, else the driver's own name."""
    name = driver.lower()
    return DRIVERS.get(name + more.lower()) or DRIVERS.get(name) or name


def _without_user(rest: str) -> str | None:
    """What follows `//`, without user and password; None if it is ambiguous, because these contain the separators of an address."""
    authority = re.split(r"[/?;]", rest, maxsplit=1)[0]
    tail = rest[len(authority) :]
    path = re.split(r"[?;]", tail, maxsplit=1)[0]
    if "@" in tail and ("@" in authority or ("@" in path and "@" in tail[len(path) :])):
        return None
    if "@" in path:
        return rest.rpartition("@")[2]
    if any("@" in option and "=" not in option.partition("@")[0] for option in re.split(r"[?;&]", tail)):
        return None
    users = {host.rpartition("@")[:2] for host in authority.split(",")}
    bare = authority if len(users) == 1 else authority.rpartition("@")[2]
    return ",".join(host.rpartition("@")[2] for host in bare.split(",")) + tail


def _split_options(text: str) -> tuple[str, Mapping[str, str]]:
    """What precedes the options, and the options by their names in lower case; the first of a name counts."""
    found = _OPTIONS.search(text)
    if found is None:
        return text, {}
    options: dict[str, str] = {}
    for match in _OPTION.finditer(text[found.start() :]):
        options.setdefault(match["key"].lower(), match["value"].strip("{}").strip())
    return text[: found.start()], options


def _plain(text: str) -> str:
    """A database's name; empty for what cannot be one, such as an option."""
    return text if re.fullmatch(r"[\w.$\-]+", text) else ""


def _address(scheme: str, authority: str, database: str = "", schema: str = "", instance: str = "") -> JdbcAddress | None:
    """The address of these hosts, each with its port; None if one of them is no host."""
    listed = [(match["host"], match["port"]) for match in _MYSQL_HOST.finditer(authority)] if "(" in authority else []
    hosts = [f"{host}:{port}" if port else host for host, port in listed] or authority.replace("--", ",").split(",")
    hosts = [host.strip().lower() for host in hosts]
    if not all(_HOST.fullmatch(host) for host in hosts):
        return None
    if scheme == "redshift":
        hosts = [_REDSHIFT.sub(r"\1.\2\3", host) for host in hosts]
    if not instance:
        hosts = [_with_port(host, DEFAULT_PORTS.get(scheme)) for host in hosts]
    return JdbcAddress(scheme, ",".join(hosts), database, schema, instance)


def _with_port(host: str, port: int | None) -> str:
    return host if port is None or _PORT.search(host) else f"{host}:{port}"


def _oracle(rest: str) -> JdbcAddress | None:
    """A descriptor, `host:port:sid`, `//host:port/service`, or a name in an LDAP directory, after `user/password@`."""
    match = _ORACLE.fullmatch(rest)
    if match is None:
        return None
    text = match["rest"]
    if "(" in text and (found := _TNS_ADDRESS.search(text)):
        return _descriptor(text[found.start() :])
    if found := _LDAP.search(text):
        return _address("oracle", found["host"], found["service"])
    end = next((at for at, sign in enumerate(text) if sign == "?" and "@" in text[:at]), len(text))
    location = text[:end].rpartition("@")[2]
    if "@" not in text or "@" in text[end:] or "tns_admin" in text[end:].lower():
        return None
    protocol = re.match(r"\w*://", location)
    location = location[protocol.end() :] if protocol else location.removeprefix("//")
    is_alias = match["driver"].lower() != "thin" and protocol is None and not re.search(r"[:/.]", location)
    hosts = None if is_alias else _ORACLE_HOSTS.fullmatch(location)
    return None if hosts is None else _address("oracle", hosts["hosts"], hosts["service"] or "")


def _descriptor(text: str) -> JdbcAddress | None:
    hosts = []
    for address in _TNS_ADDRESS.finditer(text):
        members = {match["key"].upper(): match["value"] for match in _TNS_MEMBER.finditer(address["members"])}
        if "HOST" in members:
            hosts.append(f"{members['HOST']}:{members['PORT']}" if "PORT" in members else members["HOST"])
    data = {match["key"].upper(): match["value"] for match in _TNS_MEMBER.finditer(text)}
    service = data.get("SERVICE_NAME") or data.get("SID") or data.get("INSTANCE_NAME") or ""
    return _address("oracle", ",".join(hosts), service) if hosts else None


def _sql_server(rest: str) -> JdbcAddress | None:
    """Host, instance and port before the options, or all of them among the options."""
    start, _, after = rest.partition("//")
    scheme = DRIVERS.get(start.rstrip(":").lower(), "")
    head, options = _split_options(after)
    host, _, path = head.rpartition("@")[2].partition("/")
    server, _, instance = host.partition("\\")
    instance, _, port = instance.partition(":") if instance else ("", "", "")
    name, _, own_port = server.partition(":") if not server.startswith("[") else (server, "", "")
    name = name or options.get("servername", "")
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    port = own_port or port or options.get("portnumber", "")
    database = options.get("databasename") or options.get("database") or _plain(path)
    instance = instance or options.get("instancename") or options.get("instance", "")
    return _address(scheme, f"{name}:{port}" if port else name, database, "", "" if port else _plain(instance)) if scheme else None


def _teradata(rest: str) -> JdbcAddress | None:
    """`//host/OPTION=value,...`."""
    host, _, after = rest.partition("//")[2].partition("/")
    pairs = (pair.partition("=") for pair in after.split(","))
    options = {key.strip().upper(): value.strip() for key, sign, value in pairs if sign}
    port = options.get("DBS_PORT", "")
    host = host.rpartition("@")[2]
    return _address("teradata", f"{host}:{port}" if port and not _PORT.search(host) else host, options.get("DATABASE", ""))


def _snowflake(rest: str) -> JdbcAddress | None:
    """The account in the host, and database and schema among the options."""
    address = _of_server(rest)
    if address is None:
        return None
    return address._replace(hosts=re.sub(r"(?:\.snowflakecomputing\.(?:com|cn))?(?::\d+)?$", "", address.hosts))


def _bigquery(rest: str) -> JdbcAddress | None:
    """The project and the default dataset among the options; all projects have one namespace."""
    options = _split_options("?" + rest.partition("//")[2])[1]
    return JdbcAddress("bigquery", "", options["projectid"], options.get("defaultdataset", "")) if options.get("projectid") else None


def _athena(rest: str) -> JdbcAddress | None:
    """The region in the host or among the options; `catalog.schema.table`."""
    head, options = _split_options(
        "?" + rest.partition("//")[2] if "=" in rest.partition("//")[2].partition(";")[0] else rest.partition("//")[2]
    )
    found = re.match(r"athena\.([a-z0-9\-]+)\.amazonaws\.com", head, re.IGNORECASE)
    region = found[1] if found else options.get("awsregion") or options.get("region") or ""
    if not re.fullmatch(r"[a-z0-9\-]+", region):
        return None
    catalog, schema = options.get("catalog") or "AwsDataCatalog", options.get("schema") or options.get("database") or ""
    return JdbcAddress("awsathena", f"athena.{region}.amazonaws.com", catalog, schema)


def _databricks(rest: str) -> JdbcAddress | None:
    """A workspace; its tables are those of Unity Catalog if the catalog is known."""
    address = _of_server(rest)
    if address is None or (address.scheme == "spark" and "databricks" not in address.hosts):
        return address
    options = _split_options(rest.partition("//")[2])[1]
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


def _lead(lead: list[str], parts: list[str], full: int) -> list[str]:
    """The missing leading parts of a name, as far as they are known."""
    missing = max(0, full - len(parts))
    return [part for part in lead[:missing] if part]
