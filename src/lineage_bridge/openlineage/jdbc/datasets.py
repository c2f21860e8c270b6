"""Datasets behind JDBC addresses. Source: the specification's page on naming.

Only host, port, instance, database and schema of an address are read. Users, passwords and all other options are never part of a name.
"""

import re

from lineage_bridge.openlineage.jdbc.drivers import FILE_DATABASES, read_jdbc
from lineage_bridge.openlineage.naming import DatasetName, parts_of
from lineage_bridge.openlineage.secret_rules.values import MASK

_SCHEMAS = {"postgres": "public", "mssql": "dbo", "redshift": "public", "crate": "doc", "awsathena": "default", "databricks": "default"}
"""The default schema of databases that have schemas."""
_SCHEMAS_OF_USERS = frozenset(("oracle", "db2", "hana"))
"""Databases in which tables without a schema belong to the user who connects."""
_DRIVER = re.compile(r"jdbc[a-z\-]*:(?:[a-z][\w+.\-]*:){1,3}", re.IGNORECASE)
_PUBLIC = re.compile(r"(?:databaseName|database|db|schema|currentSchema)=[\w.\-]+", re.IGNORECASE)


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


def anonymous_jdbc(url: str) -> str:
    """The address with its hosts, database and schema alone if it has a user or options; what was left out is masked."""
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


def _lead(lead: list[str], parts: list[str], full: int) -> list[str]:
    """The missing leading parts of a name, as far as they are known."""
    missing = max(0, full - len(parts))
    return [part for part in lead[:missing] if part]
