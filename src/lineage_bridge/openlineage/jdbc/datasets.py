"""Finds the datasets at JDBC addresses. Source: the specification's page on naming.

Only host, port, instance, database and schema of an address are read, and the user where the user's own schema is the default: a table
without a schema is named with it. Passwords and all other options are never part of a name.
"""

import re

from lineage_bridge.openlineage.jdbc.drivers import FILE_DATABASES, read_jdbc
from lineage_bridge.openlineage.naming import DatasetName, parts_of
from lineage_bridge.openlineage.secret_rules.values import MASK

_SCHEMAS = {"postgres": "public", "mssql": "dbo", "redshift": "public", "crate": "doc", "awsathena": "default", "databricks": "default"}
"""The default schema of databases that have schemas."""
_DATABASES = {"clickhouse": "default", "hive": "default"}
"""The database that a system uses if the address names none."""
_IN_DATABASES = frozenset(("postgres", "mssql", "mysql", "oracle", "db2", "redshift", "snowflake", "trino", "singlestore", "oceanbase"))
"""Systems whose table names need the database. If the address names no database, the login determines the database, so the table's name is
unknown."""
_OWN_DATABASE_ONLY = frozenset(("postgres", "redshift", "mysql", "oracle"))
"""Systems in which a connection reaches no other database, or whose table names have no further part."""
_SCHEMAS_OF_USERS = frozenset(("oracle", "db2", "hana"))
"""Databases in which tables without a schema belong to the user who connects."""
_LOGIN = re.compile(r"jdbc:oracle:\w+:(?:[\w$#]+\[(?P<proxied>[A-Za-z][\w$#]*)\]|(?P<user>[A-Za-z][\w$#]*))/", re.IGNORECASE)
_USER = re.compile(r"jdbc:(?:db2|sap|hdb)://[^?;@=]*?[?;:]user=(?P<user>[A-Za-z]\w*)(?=[;&]|$)", re.IGNORECASE)
"""The user in an address: before the first `/` in Oracle's (`scott/..@`, `proxy[scott]/..@`), else the first of its options."""
_DRIVER = re.compile(r"jdbc[a-z\-]*:(?:[a-z][\w+.\-]*:){1,3}", re.IGNORECASE)
_PUBLIC = re.compile(r"(?:databaseName|database|db|schema|currentSchema)=[\w.\-]+", re.IGNORECASE)


def jdbc_dataset(url: str, name: str, schema: str | None = None, user: str = "", *, in_full: bool = False) -> DatasetName | None:
    """A table at a JDBC address, named `table` or `schema.table` (or in full); None if the address does not determine the server.

    `schema` and `user` are those of the connection if they are set outside the address; otherwise, those in the address count. In some
    databases, the user's name is the default schema. With `in_full`, the result is also None in these cases: the name would lack its
    database; the schema depends on an unknown user; the connection cannot reach the database in the name.
    """
    address = read_jdbc(url)
    if address is None:
        return None
    parts = [part for part in re.sub(r"[\"`\[\]]", "", name).split(".") if part]
    if address.scheme == "bigquery":
        return address.namespace, ".".join([*_lead([address.database, schema or address.schema], parts, 3), *parts])
    full = parts_of(address.scheme)
    own = schema or address.schema or _SCHEMAS.get(address.scheme, "")
    if not own and address.scheme in _SCHEMAS_OF_USERS and (user := user or _user_in(url)):
        own = user.strip('"') if user.startswith('"') else user.upper()
    database = address.database or _DATABASES.get(address.scheme, "")
    lead = [own if address.scheme == "hana" else database] if full == 2 else [database, own]
    if in_full and not database and len(parts) < full and address.scheme in _IN_DATABASES:
        return None
    if in_full and not own and len(parts) < 2 and address.scheme in _SCHEMAS_OF_USERS:
        return None
    if in_full and address.scheme in _OWN_DATABASE_ONLY and not _is_within(parts, database if full > 2 else "", full):
        return None
    return address.namespace, ".".join([*_lead(lead, parts, full), *parts])


def _user_in(url: str) -> str:
    """The user who logs in with an address; empty if it has none."""
    found = _LOGIN.match(url.strip()) or _USER.match(url.strip())
    return next(filter(None, found.groups()), "") if found else ""


def anonymous_jdbc(url: str) -> str:
    """Reduce an address with a user or options to its hosts, database and schema; the rest is masked."""
    if _has_public_options(url):
        return url
    found = _DRIVER.match(url)
    address = read_jdbc(url)
    if found is None or address is None:
        return f"{found[0] if found else 'jdbc:'}{MASK}"
    if not address.hosts:
        return f"{found[0]}//ProjectId={address.database};{MASK}"
    if address.scheme in FILE_DATABASES:
        return f"{found[0]}{address.hosts}?{MASK}"
    server = f"{address.hosts}\\{address.instance}" if address.instance else address.hosts
    where = "/".join(part for part in (server, address.database) if part)
    return f"{found[0]}{'@' if address.scheme == 'oracle' else ''}//{where}?{MASK}"


def _has_public_options(url: str) -> bool:
    """Whether an address has no user, and no options but those that name a database or schema."""
    head, *options = re.split(r"[?;&]", url)
    return not re.search(r"[(=]|[^:/]@", head) and "@" not in "".join(options) and all(map(_PUBLIC.fullmatch, filter(None, options)))


def _is_within(parts: list[str], database: str, full: int) -> bool:
    """Whether a name has not more parts than names in this system can have, and the database in the name, if there is one, is the
    connection's.
    """
    return len(parts) < full or (len(parts) == full and (not database or parts[0].lower() == database.lower()))


def _lead(lead: list[str], parts: list[str], full: int) -> list[str]:
    """The leading parts that a name lacks, if they are known."""
    missing = max(0, full - len(parts))
    return [part for part in lead[:missing] if part]
