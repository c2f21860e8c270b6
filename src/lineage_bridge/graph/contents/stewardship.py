"""Reads who owns a dataset, how long its data is kept (its retention), and how fresh it is promised to be, from the dataset's facets."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from lineage_bridge.openlineage.facets import OwnershipFacet, TagsFacet, read_as

KEYS: Final = ("kafka_topic", "ownership", "tags")
"""The keys of the facets that state owners or retention."""
COMPACTED: Final = "newest of each key"
UNLIMITED: Final = "without limit"
_UNITS = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000))


class Stewardship(NamedTuple):
    """The owners of a dataset, sorted; and in words, how long its data is kept and how fresh it is promised to be. A member is empty if no
    facet states it.
    """

    owners: tuple[str, ...] = ()
    retention: str = ""
    freshness: str = ""


_NOTHING: Final = Stewardship()


def stewardship(facets: Mapping[str, str]) -> Stewardship:
    """The owners by the ownership facet, or else by the tag `owner`; the retention by the topic's own settings, or else by the tag
    `retention`; the freshness by the tag `freshness`.
    """
    if not facets:
        return _NOTHING
    tags = _tags(facets.get("tags", ""))
    owners = stated_owners(facets.get("ownership", "")) or set(tags.get("owner", ()))
    retention, freshness = (", ".join(sorted(tags.get(key, ()))) for key in ("retention", "freshness"))
    return Stewardship(tuple(sorted(owners)), _of_topic(facets.get("kafka_topic", "")) or retention, freshness)


def stated_owners(text: str) -> set[str]:
    """The owners that an ownership facet names."""
    facet = read_as(OwnershipFacet, "dataset", "ownership", text.encode()) if text else None
    return {owner.name for owner in (facet.owners if facet else None) or ()}


def _tags(text: str) -> dict[str, set[str]]:
    """The values of each tag of the whole dataset, by the tag's key in lower case."""
    facet = read_as(TagsFacet, "dataset", "tags", text.encode()) if text else None
    found: dict[str, set[str]] = {}
    for tag in (facet.tags if facet else None) or ():
        if not tag.field and tag.value:
            found.setdefault(tag.key.casefold(), set()).add(tag.value)
    return found


def _of_topic(text: str) -> str:
    """How long a topic keeps its records, in words, by `cleanup.policy` and `retention.ms`; empty if neither is set for the topic
    itself.
    """
    config = _config(text)
    policies = {policy.strip() for policy in str(config.get("cleanup.policy", "")).split(",")}
    if policies == {"compact"}:
        return COMPACTED
    try:
        ms = int(str(config.get("retention.ms", "")))
    except ValueError:
        return ""
    return UNLIMITED if ms < 0 else _duration(ms)


def _config(text: str) -> dict[str, Any]:
    try:
        facet = msgspec.json.decode(text) if text else {}
    except msgspec.DecodeError:
        return {}
    config = facet.get("config") if isinstance(facet, dict) else None
    return config if isinstance(config, dict) else {}


def _duration(ms: int) -> str:
    """A duration in words, in the largest unit of which it is a multiple."""
    for unit, length in _UNITS:
        if ms and ms % length == 0:
            return f"{ms // length} {unit}{'' if ms == length else 's'}"
    return f"{ms} ms"
