"""What the events of a catalog's source state about datasets."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.sources.common.observer import Observation


def facets_of(seen: Observation) -> dict[str, dict[str, Any]]:
    """The facets of each reported dataset, without who states them and without the mark of the catalog. No job may be reported."""
    return _facets(seen.events)


def facets_beside_jobs(seen: Observation) -> dict[str, dict[str, Any]]:
    """The same of a source that reports jobs too."""
    return _facets(event for event in seen.events if "dataset" in event)


def _facets(events: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        event["dataset"]["name"]: {
            key: {member: value for member, value in facet.items() if not member.startswith("_") or member == "_deleted"}
            for key, facet in event["dataset"]["facets"].items()
            if key != "lineagebridge_catalog"
        }
        for event in events
    }
