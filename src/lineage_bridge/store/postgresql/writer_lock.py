"""The lock that allows one writer per schema: an advisory lock of PostgreSQL, which ends with the connection that holds it."""

from typing import Any, Final

import psycopg

from lineage_bridge.errors import StoreLockedError

_WAIT: Final = "5s"
"""How long a lock is waited for: the server needs a moment to notice that a process was killed."""
_KEY: Final = "hashtext('lineage-bridge writer'), hashtext(coalesce(nullif(%(schema)s, ''), current_schema()))"
_TAKEN: Final = f"""SELECT set_config('application_name', %(name)s, false), pg_advisory_lock({_KEY})"""
_HOLDER: Final = """SELECT a.pid, a.application_name, a.client_addr::text,
to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid JOIN pg_database d ON d.oid = l.database
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND d.datname = current_database()
AND l.classid = hashtext('lineage-bridge writer')::oid
AND l.objid = hashtext(coalesce(nullif(%(schema)s, ''), current_schema()))::oid"""
_DEAD: Final = (
    "SET tcp_keepalives_idle = 15",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 30000",
)
"""The server notices within half a minute that the machine of the lock's holder has vanished."""


def take_lock(connection: "psycopg.Connection[Any]", schema: str, name: str) -> None:
    """Take the lock of a schema, and hold it until the connection ends, under a name of at most 63 bytes. Raises StoreLockedError, with the
    name of the holder.
    """
    before = connection.execute("SELECT current_setting('lock_timeout')").fetchone()
    for statement in (*_DEAD, f"SET lock_timeout = '{_WAIT}'"):
        connection.execute(statement)
    values = {"schema": schema, "name": name}
    try:
        connection.execute(_TAKEN, values)
    except psycopg.errors.LockNotAvailable as error:
        raise _locked(connection, values) from error
    connection.execute("SELECT set_config('lock_timeout', %s, false)", before)


def _locked(connection: "psycopg.Connection[Any]", values: dict[str, str]) -> StoreLockedError:
    found = connection.execute(_HOLDER, values).fetchone()
    who = "another process"
    if found:
        pid, name, address, since = found
        who = f"{name or 'another process'}, connected from {address or 'its own machine'} since {since} (process {pid} of PostgreSQL),"
    return StoreLockedError(
        f"{who} writes the graph in the schema {values['schema'] or 'of this connection'} already",
        "stop that server, or give this one a schema of its own: store_schema",
    )
