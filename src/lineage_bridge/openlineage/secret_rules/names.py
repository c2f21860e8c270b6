"""Secrets that are recognised by the name of their setting, member, column or variable."""

import re
from functools import lru_cache

from lineage_bridge.openlineage.required_text import required_texts

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESCRIBES = frozenset(
    (
        "algorithm",
        "arn",
        "at",
        "attempts",
        "budget",
        "changed",
        "class",
        "column",
        "columns",
        "count",
        "counts",
        "date",
        "description",
        "disabled",
        "enable",
        "enabled",
        "endpoint",
        "events",
        "expiration",
        "expire",
        "expired",
        "expires",
        "expiry",
        "field",
        "fields",
        "file",
        "format",
        "handler",
        "hint",
        "history",
        "id",
        "ids",
        "interval",
        "iterations",
        "kind",
        "len",
        "length",
        "limit",
        "location",
        "manager",
        "max",
        "min",
        "mode",
        "ms",
        "name",
        "names",
        "path",
        "policy",
        "provider",
        "providers",
        "ref",
        "reminder",
        "requested",
        "required",
        "reset",
        "resets",
        "rotation",
        "rules",
        "scope",
        "scopes",
        "seconds",
        "size",
        "source",
        "strategy",
        "strength",
        "time",
        "timeout",
        "ttl",
        "type",
        "uri",
        "url",
        "usage",
        "validator",
        "version",
    )
)
"""Last words of names that describe a secret, and contain none."""
_KEYS = (
    "access|account|admin|api|app|application|auth|cipher|deploy|encryption|fernet|gpg|hmac|integration|jwt|keystore|license|master|pgp|private|pvt|rsa"
    "|sdk|secret|session|shared|signing|sse\\.customer|ssh|storage|subscription|tls|webhook|write"
)
_SECRET_NAME = re.compile(
    r"password(?!less)|passwort|kennwort|passwd|pass\.?phrase|mot\.de\.passe|contrasena|wachtwoord|passcode|passkey|pswd|pwd\."
    r"|(?<!by)(?<!com)(?<!over)(?<!sur)(?<!tres)(?<!under)pass\.$|jwt\.$|authorization\.$|cookie\.$"
    r"|secrets?\.(?!manager\.)|credentials?\.|pagerduty\.routing\.key\.|(?<=\.)redis\.auth\.$|(?<=\.)client\.key\.data\.$"
    rf"|(?:{_KEYS})\.?key\."
    r"|(?<!continuation\.)(?<!cursor\.)(?<!next\.)(?<!page\.)(?<!sync\.)token\.$"
    r"|jaas\.?config\.|auth\.?user\.?info\."
)
SECRET_WORDS = frozenset(max(texts.split("."), key=len) for texts in required_texts(_SECRET_NAME)[0])
"""Texts of which one is, in any case, in each name of a secret: the dots stand between its words."""
_WEAK = frozenset(("pass", "jwt"))
"""Names that also count things: a number under them is no secret."""
WORKING_DIRECTORIES = frozenset(("PWD", "OLDPWD"))
_LONGEST_NAME = 300
_CACHED = 8192


def names_secret(name: str) -> bool:
    """Whether a setting, member or variable of this name contains a secret."""
    return len(name) <= _LONGEST_NAME and _names_secret(name)


@lru_cache(_CACHED)
def _names_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _DESCRIBES or name in WORKING_DIRECTORIES:
        return False
    return bool(_SECRET_NAME.search("." + ".".join(words) + "."))


def is_weak(name: str) -> bool:
    """Whether only a text under this name is a secret, not a number."""
    return name.lower() in _WEAK
