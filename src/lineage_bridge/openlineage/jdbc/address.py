"""The parts of a JDBC address, and how most drivers write them: `driver://hosts/database` with options."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from lineage_bridge.openlineage.naming import DEFAULT_PORTS, DRIVERS


class JdbcAddress(NamedTuple):
    """The parts of a JDBC address that appear in names of datasets. `hosts`: `host` or `host:port`, separated by commas."""

    scheme: str
    hosts: str
    database: str = ""
    schema: str = ""
    instance: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the database server."""
        return f"{self.scheme}://{self.hosts}{'/' + self.instance if self.instance else ''}" if self.hosts else self.scheme


_WITH_SLASHES = re.compile(r"(?P<driver>[a-z0-9_+.\-]+)(?P<more>(?::[a-z][a-z0-9_+\-]*)*):(?:@)?//(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_WITHOUT_SLASHES = re.compile(
    r"(?P<driver>[a-z0-9_+.\-]+)(?P<more>(?::[a-z][a-z0-9_+\-]*)*?):(?P<host>[\w.\-]+:\d+)(?:[/:](?P<database>[\w.$\-]+))?(?:[;?,].*)?",
    re.IGNORECASE | re.DOTALL,
)
_LOCAL = re.compile(r"(?P<driver>postgresql|mysql|mariadb):(?P<database>\w+)(?:[?;].*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(?:[\w.\-]+|\[[0-9a-f:.%]+\])(?::\d+)?|[0-9a-f]{0,4}(?::[0-9a-f.]{0,15}){3,8}", re.IGNORECASE)
_SEARCH_PATH = re.compile(r"search_path=(?:\W*\$user\W*,)?\s*([\w\-]+)", re.IGNORECASE)
"""PostgreSQL's session option `search_path`, from which the first schema with a literal name is taken."""
HAS_PORT = re.compile(r"[^:\]]:\d+$|\]:\d+$")
_OPTIONS = re.compile(r"[?;]|:(?=[A-Za-z][\w.]*=)")
_OPTION = re.compile(r"(?:^|[?&;,:/])(?P<key>[\w.]+)=(?P<value>\{[^}]*\}|[^&;]*)")
_MYSQL_HOST = re.compile(r"\bhost\s*=\s*(?P<host>[\w.\-]+)(?:[^()]{0,200}?\)?\s*[,(]\s*port\s*=\s*(?P<port>\d+))?", re.IGNORECASE)
_CONNECTORS = frozenset(("cloudsqlinstance", "alloydbinstancename"))
"""Options with which Google's connectors reach an instance by its name; the host in the address is not used then."""
_REDSHIFT = re.compile(r"([^.:]+)\.[^.:]+\.([a-z0-9\-]+)\.redshift(?:-serverless)?\.amazonaws\.com(?:\.cn)?(:\d+)?", re.IGNORECASE)
_FILE = re.compile(r"[\w.$#\-~/]+")
"""The file of a database of an H2 server: `~/test` in its user's home, `/data/test` elsewhere."""


def read_server(rest: str) -> JdbcAddress | None:
    """Read an address of the form `driver://hosts/database`, with options after `?`, `;` or `:`. Some drivers omit the slashes, or host
    and slashes.
    """
    match = _WITH_SLASHES.fullmatch(rest)
    if match is None:
        bare = _WITHOUT_SLASHES.fullmatch(rest)
        local = _LOCAL.fullmatch(rest)
        if bare is None:
            return None if local is None else address_of(scheme_of(local["driver"], ""), "localhost", local["database"])
        return address_of(scheme_of(bare["driver"], bare["more"]), bare["host"], bare["database"] or "")
    scheme = scheme_of(match["driver"], match["more"])
    text = without_user(match["rest"])
    if text is None:
        return None
    head, options = split_options(text)
    if any(option in _CONNECTORS or value.startswith("com.google.cloud.") for option, value in options.items()):
        return None
    authority, _, path = head.partition("/")
    if not authority and scheme in ("postgres", "mysql"):
        authority = "localhost"
    first, _, second = path.partition("/")
    database = options.get("databasename") or options.get("database") or options.get("db") or plain_name(first)
    searched = _SEARCH_PATH.search(unquote(options.get("options", "")))
    schema = options.get("currentschema") or options.get("schema") or options.get("searchpath") or (searched[1] if searched else "")
    if scheme == "griddb":
        database = plain_name(second) or database
    if scheme in ("trino", "presto"):
        schema = schema or plain_name(second)
    address = address_of(scheme, authority, database, schema.split(",")[0])
    return address._replace(database=path) if address and scheme == "h2" and _FILE.fullmatch(path) else address


def scheme_of(driver: str, more: str) -> str:
    """The scheme of namespaces for a driver and its variant; the driver's own name if none is known."""
    name = driver.lower()
    return DRIVERS.get(name + more.lower()) or DRIVERS.get(name) or name


def without_user(rest: str) -> str | None:
    """The part of an address after `//`, without user and password; None if that is ambiguous, because the user or password contains
    separators of addresses.
    """
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


def split_options(text: str) -> tuple[str, Mapping[str, str]]:
    """Split an address into what precedes the options, and the options by name in lower case. Of a repeated option, the first counts."""
    found = _OPTIONS.search(text)
    if found is None:
        return text, {}
    options: dict[str, str] = {}
    for match in _OPTION.finditer(text[found.start() :]):
        options.setdefault(match["key"].lower(), match["value"].strip("{}").strip())
    return text[: found.start()], options


def plain_name(text: str) -> str:
    """The name of a database; empty if the text cannot be one, for example if it is an option."""
    name = re.split(r"[?;&]", text, maxsplit=1)[0]
    return name if re.fullmatch(r"[\w.$#\- ]+", name) else ""


def address_of(scheme: str, authority: str, database: str = "", schema: str = "", instance: str = "") -> JdbcAddress | None:
    """Build the address from these hosts, each with its port; None if any of them is not a valid host."""
    listed = [(match["host"], match["port"]) for match in _MYSQL_HOST.finditer(authority)] if "(" in authority else []
    hosts = [f"{host}:{port}" if port else host for host, port in listed] or authority.replace("--", ",").split(",")
    hosts = [host.strip().lower() for host in hosts]
    if not all(_HOST.fullmatch(host) for host in hosts):
        return None
    if scheme == "redshift":
        hosts = [_REDSHIFT.sub(r"\1.\2\3", host) for host in hosts]
    if not instance:
        port = f":{DEFAULT_PORTS[scheme]}" if scheme in DEFAULT_PORTS else ""
        hosts = [host if HAS_PORT.search(host) else host + port for host in hosts]
    return JdbcAddress(scheme, ",".join(hosts), plain_name(database), plain_name(schema), instance)
