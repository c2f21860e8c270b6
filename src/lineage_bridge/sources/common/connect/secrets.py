"""Masks secrets in connector configurations, so that these can be stored, shown and logged."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from lineage_bridge.openlineage.jdbc.datasets import anonymous_jdbc
from lineage_bridge.openlineage.secret_rules.names import names_secret
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.secrets import mask_text

_PLACEHOLDERS = re.compile(r"(?:\$\{[A-Za-z0-9_.\-]+:[^{}]*\})+")
_CREDENTIAL = re.compile(
    r"(?:access|client|consumer|function|sas|secret)[._\-]?key(?:[._\-]?id)?$|access[._\-]?id$|keyfile$|license$|pemfile$|user[._\-]info$"
    r"|webhook[._\-]?url$|bearer$|client[._\-]assertion$|kerberos[._\-]ticket$|(?<!copy[._\-])headers(?:[._\-]additional)?$",
    re.IGNORECASE,
)
"""Settings of connectors whose values are, or may be, credentials."""
_KEY = re.compile(r"(?:^|[._\-])(?P<whose>[A-Za-z0-9]+)[._\-]key$", re.IGNORECASE)
_OF_RECORDS = frozenset(
    (
        "business",
        "cache",
        "cluster",
        "clustering",
        "composite",
        "converter",
        "distribution",
        "document",
        "event",
        "field",
        "fields",
        "foreign",
        "format",
        "from",
        "hash",
        "header",
        "headers",
        "id",
        "in",
        "index",
        "join",
        "kafka",
        "map",
        "merge",
        "message",
        "null",
        "object",
        "on",
        "order",
        "ordering",
        "partition",
        "primary",
        "range",
        "record",
        "redis",
        "routing",
        "row",
        "schema",
        "shard",
        "sort",
        "table",
        "to",
        "topic",
        "unique",
        "value",
        "with",
    )
)
"""Words that mark a key of records or tables; any other key may be a credential."""
_LOGIN = re.compile(r"(?P<key>[?&;](?:user(?:name)?|uid|password|pwd|ssl\w*))=(?:\$\{[A-Za-z0-9_.\-]+:[^{}]*\})+(?=[&;]|$)", re.IGNORECASE)
_PARAMETER = re.compile(r"(?<=[?&])(?P<name>[\w.\-]+)=[^&\s,;\"']+")
_HARMLESS = frozenset(
    (
        "authmechanism",
        "authsource",
        "database",
        "db",
        "directconnection",
        "format",
        "readpreference",
        "replicaset",
        "retryreads",
        "retrywrites",
        "schema",
        "ssl",
        "tls",
        "version",
        "w",
    )
)
"""Parameters of URLs, in lower case, whose values are not secret."""
_USER_INFO = re.compile(
    r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.\-]*://)(?:[^\s/?#\"']*|[^\s/?#@:\"']+:(?!\d+(?:[/?#,]|$))[^\s\"']{0,300})@(?=\S)"
)
_IN_ACCOUNT = re.compile(r"(?:abfss?|wasbs?)://", re.IGNORECASE)
_BEFORE_CONTAINER = re.compile(r"(?<=://)(?:[^@:]*:[^@]*@(?:[^/@]*@)*(?=[^/@:]+@[^/@]+)|[^/@]*:[^/@]*@|(?:[^/@]*@)+(?=[^/@:]+@))")
"""The user and password before the container in the URL of an Azure account, or in the container's place."""


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder that a config provider fills in, such as `${file:...}` or `${env:...}`, but not `${topic}`."""
    return bool(_PLACEHOLDERS.fullmatch(value.strip()))


def has_placeholder(value: str) -> bool:
    """Whether a value contains a placeholder that a config provider fills in."""
    return bool(_PLACEHOLDERS.search(value))


def without_user(value: str) -> str:
    """Remove user and password from a URL, even if they contain separators such as `@` or `/`. The container in an Azure address is
    kept.
    """
    if _IN_ACCOUNT.match(value.strip()):
        return _BEFORE_CONTAINER.sub("", value, count=1)
    return value if "://" not in value else _USER_INFO.sub(r"\g<scheme>", value)


def without_login(value: str) -> str:
    """Remove placeholders for user, password and TLS options from a JDBC address; they do not affect which database it denotes."""
    return _LOGIN.sub(r"\g<key>=", value) if value.startswith("jdbc:") else value


def is_secret(key: str, passwords: Collection[str] = ()) -> bool:
    """Whether the value of a setting is a secret: the key is in `passwords` (keys that the plugin declares as PASSWORD), or its name
    suggests a secret.
    """
    whose = _KEY.search(key)
    return key in passwords or names_secret(key) or bool(_CREDENTIAL.search(key) or (whose and whose["whose"].lower() not in _OF_RECORDS))


def mask_config(config: Mapping[str, str], passwords: Collection[str] = ()) -> dict[str, str]:
    """Return a configuration with its secrets masked. Placeholders of config providers are not secrets, and are kept."""
    return {key: _masked(key, value, passwords) for key, value in config.items()}


def _masked(key: str, value: str, passwords: Collection[str]) -> str:
    if not value or is_placeholder(value):
        return value
    if is_secret(key, passwords):
        return MASK
    return _without_secrets(value)


@lru_cache(50_000)
def _without_secrets(value: str) -> str:
    """Mask the secrets in a value. Results are cached, because every poll sees the same values."""
    text = value.strip()
    if text.lower().startswith("jdbc"):
        return _anonymous_jdbc(text)
    if text.startswith("data:"):
        return f"data:{MASK}"
    masked = without_user(value)
    return mask_text(_PARAMETER.sub(_masked_parameter, masked) if "://" in masked else masked)


def _anonymous_jdbc(url: str) -> str:
    """A JDBC address without user and options. Placeholders in its host and database are kept."""
    placeholders = _PLACEHOLDERS.findall(url)
    numbers = iter(range(len(placeholders)))
    masked = anonymous_jdbc(_PLACEHOLDERS.sub(lambda _: f"placeholder-{next(numbers)}-", url))
    for number, placeholder in enumerate(placeholders):
        masked = masked.replace(f"placeholder-{number}-", placeholder)
    return masked


def _masked_parameter(match: re.Match[str]) -> str:
    return match[0] if match["name"].lower() in _HARMLESS else f"{match['name']}={MASK}"
