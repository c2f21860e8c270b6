"""Checks the address of the PostgreSQL database that contains the graph. In the settings, it has no secrets."""

from typing import Final
from urllib.parse import parse_qsl, unquote

_SCHEMES: Final = ("postgresql", "postgres")
SECRETS: Final = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})
"""Parameters of libpq's addresses that are secrets."""
_BESIDE: Final = "_replay"
"""The end of the names of schemas that graphs are computed again in."""


def check_store(address: str) -> str:
    """Return the address if it is valid. Raises ValueError if it is not an address of PostgreSQL, contains a password, or sets `options`;
    the message does not repeat the address.
    """
    if not address:
        return address
    scheme, found, rest = address.partition("://")
    if not found or scheme not in _SCHEMES:
        raise ValueError("write it as postgresql://user@host:5432/database")
    before_host, at, _ = rest.rpartition("@")
    # A question mark may be in the user's name as well, so what follows any of them may be the parameters.
    texts = ["?".join(rest.split("?")[number:]) for number in range(1, rest.count("?") + 1)]
    names = {name for text in texts for name, _ in parse_qsl(text, keep_blank_values=True)}
    if (at and ":" in before_host) or not names.isdisjoint(SECRETS):
        raise ValueError("it contains a password; put that into a password file (PGPASSFILE) or PGPASSWORD, and write any other @ as %40")
    if "options" in names:
        raise ValueError(
            "it has the parameter `options`, which LineageBridge sets itself; to choose a schema, use the setting store_schema"
        )
    return address


def check_replica(address: str) -> str:
    """Like `check_store`, for the address of a replica. Also raises ValueError if it names several servers: these may have applied
    different positions, so that a later answer could reflect less than an earlier one.
    """
    address = check_store(address)
    rest, _, parameters = address.partition("://")[2].partition("?")
    hosts = [rest.rpartition("@")[2].partition("/")[0], *(value for name, value in parse_qsl(parameters) if name in ("host", "hostaddr"))]
    if any("," in unquote(host) for host in hosts):
        raise ValueError("it names several servers; name only the one that should answer questions")
    return address


def check_schema(name: str) -> str:
    """Return the name of a schema if it is valid. Raises ValueError for an invalid name, and for one that LineageBridge uses for second
    schemas during a replay.
    """
    if name.endswith(_BESIDE):
        raise ValueError(f"names that end in {_BESIDE} are reserved for replays; use another name")
    return name
