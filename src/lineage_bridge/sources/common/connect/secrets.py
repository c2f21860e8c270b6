"""Masks secrets in connector configurations, so that these may be stored, shown and logged."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from lineage_bridge.openlineage.secrets import MASK, mask_text, names_secret

_PLACEHOLDERS = re.compile(r"(?:\$\{[A-Za-z0-9_.\-]+:[^{}]*\})+")
_USER_INFO = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.\-]*://)[^\s/?#\"']*@(?=\S)")


def is_placeholder(value: str) -> bool:
    """Whether a config provider fills in a value: `${file:...}`, `${env:...}`, but not `${topic}`."""
    return bool(_PLACEHOLDERS.fullmatch(value.strip()))


def has_placeholder(value: str) -> bool:
    """Whether a config provider fills in a part of a value."""
    return bool(_PLACEHOLDERS.search(value))


def is_secret(key: str, passwords: Collection[str] = ()) -> bool:
    """Whether a setting is a secret: its plugin declares it (`passwords`, its keys of type PASSWORD), or its name implies it."""
    return key in passwords or names_secret(key)


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
    """Mask secrets in a value. Cached, because every poll has the same values."""
    return mask_text(_USER_INFO.sub(r"\g<scheme>", value))
