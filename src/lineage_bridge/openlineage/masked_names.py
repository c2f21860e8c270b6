"""Removes credentials from names and namespaces. These identify datasets and jobs, so different names must stay different."""

import re
from functools import lru_cache, partial
from hashlib import blake2s

from lineage_bridge.openlineage.secret_rules.names import names_secret
from lineage_bridge.openlineage.secret_rules.values import MASK, is_reference
from lineage_bridge.openlineage.secrets import SIGNATURES, mask_with

_CREDENTIALS = (
    re.compile(r"((?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}://)[^\s/?#\"'@:]{0,300}:(?P<secret>[^\s/?#\"']{1,300})@"),
    re.compile(r"(jdbc:oracle:\w{1,20}:)[^/\s@:]{1,300}/(?P<secret>[^\s]{1,300})(?=@)"),
)
_CONNECTION = re.compile(r"(?:\A|\s)(?:host|dbname|hostaddr)=")
_CONNECTION_PASSWORD = re.compile(r"(?:\A|(?<=\s))(?:password|passwd|pwd)=(?:'[^']*'|\S+)\s?")
"""PostgreSQL's connection strings."""
_SIGNED = re.compile(r"[?&](?:sig|signature|x-amz-signature|x-goog-signature)=", re.IGNORECASE)
_ROTATING = re.compile(
    r"s[vterpi]|ss|srt|spr|sip|sks|ske|skt|skv|skoid|sktid|sig|signature|expires|x-(?:amz|goog)-[\w\-]+|awsaccesskeyid|googleaccessid",
    re.IGNORECASE,
)
_QUERY_PART = re.compile(
    r"(?P<mark>[?&;])(?P<name>[\w.\-]{1,300})=(?:(?<=[Dd]=)\{[^{}\n]{0,300}\}|(?<=[Dd]=)\"[^\"\n]{0,300}\"|(?<=wd=)[^\s;\"'?]*(?=;)|(?<=word=)[^\s;\"'?]*(?=;)|[^\s;&\"']*)"
)
_FRAGMENT = re.compile(r"#[\w=.:\-]{1,100}\Z")
"""The part of an address behind its parameters, such as a sheet of a workbook."""
_HAS_NO_HASH_SIGN = re.compile(r"(?:token|key|sig|signature)\Z", re.IGNORECASE)
"""Parameters whose values do not contain `#`, as a password can."""
_CACHED = 8192


def mask_name(name: str, key: bytes = b"") -> str:
    """Remove credentials from a name or namespace of a dataset or job.

    Users and passwords, signatures, keys and expiry times are removed, because they do not identify the dataset or job. Any other secret is
    replaced by a short digest, so that different names stay different. The digest depends on `key`, the installation's key, so that nobody
    without the key can test a guess of the secret.
    """
    if ":" not in name and "=" not in name:
        return mask_with(name, partial(_digest, key=key))
    for pattern in _CREDENTIALS if "@" in name else ():
        name = pattern.sub(lambda found: found[0] if is_reference(found["secret"]) else found[1], name)
    if ("host" in name or "dbname" in name) and _CONNECTION.search(name):
        name = _CONNECTION_PASSWORD.sub("", name)
    if "?" in name or "&" in name or ";" in name:
        name = _without_credentials(name)
    return mask_with(name, partial(_digest, key=key))


def _without_credentials(name: str) -> str:
    """Remove the parameters from the query of a name that are credentials, and of a signed one those that expire with its signature."""
    is_signed = bool(_SIGNED.search(name))

    def kept(part: "re.Match[str]") -> str:
        if _is_credential(part["name"], is_signed=is_signed):
            behind = _FRAGMENT.search(part[0]) if _HAS_NO_HASH_SIGN.search(part["name"]) else None
            return (part["mark"] if part["mark"] == "?" else "") + (behind[0] if behind else "")
        return part[0]

    changed = _QUERY_PART.sub(kept, name)
    return name if changed == name else changed.replace("?&", "?").replace("?#", "#").rstrip("?&")


@lru_cache(_CACHED)
def _is_credential(parameter: str, *, is_signed: bool) -> bool:
    return bool(is_signed and _ROTATING.fullmatch(parameter)) or names_secret(parameter) or parameter.lower() in SIGNATURES


def _digest(secret: str, key: bytes) -> str:
    """The digest that replaces a secret in a name: the same for the same secret and key."""
    return MASK + blake2s(secret.encode("utf-8", "surrogatepass"), digest_size=8, key=key, person=b"names").hexdigest()
