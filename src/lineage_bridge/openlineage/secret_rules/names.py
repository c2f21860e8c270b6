"""Secrets that are recognised by the name of their setting, member, column or variable."""

import re
from functools import lru_cache

from lineage_bridge.openlineage.required_text import required_texts
from lineage_bridge.openlineage.secret_rules.foreign import names_password
from lineage_bridge.openlineage.secret_rules.weak_names import holds_weakly

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESCRIBES = frozenset(
    [
        "algorithm",
        "arn",
        "at",
        "attempts",
        "backend",
        "budget",
        "changed",
        "class",
        "column",
        "columns",
        "count",
        "counts",
        "date",
        "days",
        "description",
        "disabled",
        "enable",
        "enabled",
        "encryption",
        "endpoint",
        "env",
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
        "header",
        "hint",
        "history",
        "hours",
        "id",
        "ids",
        "interval",
        "iterations",
        "java",
        "js",
        "kind",
        "kt",
        "len",
        "length",
        "limit",
        "location",
        "manager",
        "max",
        "min",
        "minutes",
        "mode",
        "ms",
        "name",
        "names",
        "path",
        "php",
        "policy",
        "provider",
        "providers",
        "py",
        "ratio",
        "rb",
        "ref",
        "reminder",
        "requested",
        "required",
        "reset",
        "resets",
        "rotation",
        "rules",
        "scala",
        "scope",
        "scopes",
        "seconds",
        "size",
        "source",
        "stdin",
        "strategy",
        "strength",
        "time",
        "timeout",
        "ttl",
        "change",
        "changes",
        "year",
        "type",
        "uri",
        "url",
        "usage",
        "validator",
        "version",
    ]
)
"""Last words of names that describe a secret but do not contain it."""
_QUALIFIERS = frozenset(("prod", "production", "staging", "stage", "dev", "qa", "uat", "live", "sandbox", "old", "new", "backup", "v"))
"""Last words that say which of several secrets it is."""
_KEYS = (
    "access|account|admin|api|app|application|auth|cipher|deploy|encryption|fernet|gpg|hmac|instrumentation|integration|jwt|keystore|license|master|pgp"
    "|private|pvt|rsa|sdk|secret|session|shared|signing|sse\\.customer|ssh|storage|subscription|tls|webhook|write"
)
_SECRET_NAME = re.compile(
    r"password(?!less)|passwort|kennwort|passwd|pass\.?phrase|mot\.de\.passe|contrasena|wachtwoord|passcode(?!\.at)|passkey|pswd|pwd\."
    r"|(?<!by)(?<!com)(?<!over)(?<!sur)(?<!tres)(?<!under)(?<!tests\.)(?<!test\.)(?<!boarding\.)pass\.$"
    r"|(?<=\.)pw\.$|(?:root|bind|db|admin|user|ldap|smtp|ftp|sudo|my|web)pw\.$|bindpw|(?<=\.)psk\.$|(?<=\.)senha\.|jwt\.$|bearer\.$|(?<=\.)gh\.pat\.$|authorization\.$|cookie\.$"
    r"|(?<!existing\.)(?<!pull\.)secrets?\.(?!manager\.|santa\.|sauce\.|garden\.|menu\.|agents?\.)|credentials?\.|(?<=\.)creds\.$"
    r"|recovery\.codes?\.|(?:seed|recovery|backup|wallet)\.phrase|wallet\.seed|snmp\.community"
    r"|zookeeper\.digest\.$|rediscli\.auth\.$|pagerduty\.routing\.key\.|(?<=\.)redis\.auth\.$|(?<=\.)client\.key\.data\.$"
    rf"|(?:{_KEYS})\.?key\."
    r"|(?<!continuation\.)(?<!\.commit\.)(?<!\.fencing\.)(?<!\.lock\.)(?<!cursor\.)(?<!next\.)(?<!page\.)(?<!sync\.)(?<!mask\.)(?<!pad\.)(?<!stop\.)(?<!eos\.)token\.$"
    r"|jaas\.?config\.|auth\.?user\.?info\."
)
SECRET_WORDS = frozenset(max(texts.split("."), key=len) for texts in required_texts(_SECRET_NAME)[0])
"""Texts of which each name of a secret contains at least one, in any case; dots separate its words."""
_WEAK = frozenset(("pass", "jwt", "pw", "bearer"))
"""Names that also denote numbers: a number under them is not a secret."""
WORKING_DIRECTORIES = frozenset(("PWD", "OLDPWD"))
_LONGEST_NAME = 300
_MOST_SPACES = 2
_CACHED = 8192


def names_secret(name: str) -> bool:
    """Whether a setting, member or variable of this name contains a secret."""
    return len(name) <= _LONGEST_NAME and _names_secret(name)


@lru_cache(_CACHED)
def _names_secret(name: str) -> bool:
    if name.count(" ") > _MOST_SPACES or "://" in name or "=" in name or ": " in name or '":' in name:
        return False  # a sentence, an address, a setting or an object
    name = name.rpartition("/")[2]
    if names_password(name):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[0] == "ask" or words[-1] in _DESCRIBES or name in WORKING_DIRECTORIES:
        return False
    while len(words) > 1 and words[-1] in _QUALIFIERS:
        words.pop()
    joined = f".{'.'.join(words)}."
    return "secret.key.ref." not in joined and bool(_SECRET_NAME.search(joined))


def holds_secret(name: str, value: str) -> bool:
    """Whether a value is a secret because of its setting's name, or because of the name and the value's format."""
    return names_secret(name) or holds_weakly(name, value)


def is_weak(name: str) -> bool:
    """Whether a value under this name is a secret only if it is a text, not if it is a number."""
    return name.lower() in _WEAK


_REFERRING = frozenset(
    [
        "$ref",
        "existingsecret",
        "keyname",
        "referencename",
        "secretkeyref",
        "secretname",
        "secretref",
        "secreturi",
        "secretversion",
        "store",
        "type",
        "valuefrom",
        "vault",
        "vaultname",
    ]
)
"""Members that refer to a secret stored elsewhere, in an object under a secret's name."""
KEY_PARTS = frozenset(("d", "p", "q", "dp", "dq", "qi", "k"))
"""Members of a JSON Web Key that are secrets, if they look like parts of a key."""


def refers(name: str | None) -> bool:
    """Whether the member of an object states where a secret is stored, instead of containing it."""
    return name is not None and name.replace("_", "").lower() in _REFERRING
