"""The address of the PostgreSQL database that holds the graph, as settings have it: without secrets."""

from typing import Final
from urllib.parse import parse_qsl

_SCHEMES: Final = ("postgresql", "postgres")
_SECRETS: Final = ("password", "sslpassword")
"""Parameters of libpq's addresses that are secrets."""


def check_store(address: str) -> str:
    """The same address. Raises ValueError for one that is not PostgreSQL's, has a password or sets `options`; it repeats nothing of it."""
    if not address:
        return address
    scheme, found, rest = address.partition("://")
    if not found or scheme not in _SCHEMES:
        raise ValueError("write it as postgresql://user@host:5432/database")
    before_host, at, _ = rest.rpartition("@")
    names = {name for name, _ in parse_qsl(rest.partition("?")[2], keep_blank_values=True)}
    if (at and ":" in before_host) or not names.isdisjoint(_SECRETS):
        raise ValueError(
            "it contains a password: use a password file (PGPASSFILE) or PGPASSWORD instead; if that @ is part of a name, write it as %40"
        )
    if "options" in names:
        raise ValueError(
            "it has the parameter `options`, which LineageBridge sets itself; to choose a schema, use the setting store_schema"
        )
    return address
