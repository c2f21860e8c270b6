"""Finds which settings of a configuration the plugins in it declare as passwords, and whether a configuration has changed."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from lineage_bridge.sources.common.connect.secrets import mask_config
from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.worker import Plugin

_ENCODER = msgspec.json.Encoder(order="sorted")
_CONVERTERS = ("key.converter", "value.converter", "header.converter")


def plugins_of(config: Mapping[str, str]) -> dict[str, str]:
    """Return the classes in a configuration, each with the prefix of its settings: those of the connector, its converters, transforms
    and predicates.
    """
    found = {"": config.get("connector.class", "")}
    found |= {f"{key}.": config.get(key, "") for key in _CONVERTERS}
    for kind in ("transforms", "predicates"):
        found |= {f"{kind}.{alias}.": config.get(f"{kind}.{alias}.type", "") for alias in listed(config.get(kind, ""))}
    return {prefix: name.strip() for prefix, name in found.items() if name.strip()}


def passwords_of(config: Mapping[str, str], plugins: Mapping[str, Plugin]) -> frozenset[str]:
    """Return the keys of a configuration that the plugins in it declare as passwords."""
    found = ((prefix, plugins.get(name)) for prefix, name in plugins_of(config).items())
    return frozenset(prefix + key for prefix, plugin in found if plugin is not None for key in plugin.passwords or ())


def fingerprint(config: Mapping[str, str], passwords: frozenset[str]) -> str:
    """Return a digest of a configuration without its secrets, so that a new password does not count as a change."""
    return digest(mask_config(config, passwords))


def is_same(before: str, config: Mapping[str, str], plugins: Mapping[str, Plugin], earlier: Mapping[str, Plugin]) -> bool:
    """Whether a configuration has the fingerprint `before`, computed with the passwords known now or with those known at the previous
    poll (`earlier`).
    """
    return before in {fingerprint(config, passwords) for passwords in {passwords_of(config, known) for known in (plugins, earlier)}}


def plugins_known(snapshot: Mapping[str, Any]) -> dict[str, Plugin]:
    """Read the plugins in a snapshot, by the names in configurations."""
    return {name: Plugin(full, version, tuple(keys)) for name, (full, version, keys) in snapshot.get("plugins", {}).items()}


def digest(value: object) -> str:
    """Return a digest of a JSON value, 16 characters; the order of members does not matter."""
    return hashlib.blake2b(_ENCODER.encode(value), digest_size=8).hexdigest()
