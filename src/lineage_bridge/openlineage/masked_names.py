"""Removes credentials from names and namespaces. These identify datasets and jobs, so different names must stay different."""

import re
from collections.abc import Callable
from functools import partial
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


def mask_name(name: str, key: bytes = b"") -> str:
    """Remove credentials from a name or namespace of a dataset or job.

    Users and passwords, signatures, keys and expiry times are removed, because they do not identify the dataset or job. Any other secret is
    replaced by a short digest, so that different names stay different. The digest depends on `key`, the installation's key, so that nobody
    without the key can test a guess of the secret.
    """
    if ":" not in name and "=" not in name:
        return mask_with(name, partial(_digest, key=key))
    for pattern in _CREDENTIALS:
        name = pattern.sub(lambda found: found[0] if is_reference(found["secret"]) else found[1], name)
    if _CONNECTION.search(name):
        name = _CONNECTION_PASSWORD.sub("", name)
    if _SIGNED.search(name):
        name = _drop_parameters(name, lambda parameter: bool(_ROTATING.fullmatch(parameter)))
    name = _drop_parameters(name, lambda parameter: names_secret(parameter) or parameter.lower() in SIGNATURES)
    return mask_with(name, partial(_digest, key=key))


def _drop_parameters(name: str, drops: Callable[[str], bool]) -> str:
    """Remove some parameters from the query of a name."""
    if not any(drops(part["name"]) for part in _QUERY_PART.finditer(name)):
        return name
    kept = _QUERY_PART.sub(lambda part: (part["mark"] if part["mark"] == "?" else "") if drops(part["name"]) else part[0], name)
    return kept.replace("?&", "?").rstrip("?&")


def _digest(secret: str, key: bytes) -> str:
    """The digest that replaces a secret in a name: the same for the same secret and key."""
    return MASK + blake2s(secret.encode("utf-8", "surrogatepass"), digest_size=8, key=key, person=b"names").hexdigest()
