"""Collects the newest requests of each resource in the audit log. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.confluent.audit.parse import ACCESS, CHANGES, OTHER, Request

KEPT_REQUESTS, _KEPT_RESOURCES = 10, 1_000
IDENTITY = {CHANGES: ("id",), ACCESS: ("method", "principal", "client", "granted")}
"""For each category, the members by which two requests are equal: the log may report a change twice; of equal checks, only the newest is
kept."""
Requests = Mapping[str, list[Json]]
"""Category to requests, newest first."""


class RecentRequests:
    """The newest requests about each resource: those of earlier polls and those added, without duplicates.

    `by_resource`: the requests by the resource's key.
    """

    def __init__(self, before: Mapping[str, Requests]) -> None:
        self.by_resource: dict[str, dict[str, list[Json]]] = {
            key: {category: list(requests[category]) for category in IDENTITY} for key, requests in before.items()
        }

    def add(self, request: Request) -> None:
        """Add a request, unless it has no category or no resource of a known kind."""
        if not request.category or request.resource.kind == OTHER:
            return
        added: Json = {
            "id": request.id,
            "at": request.time_us,
            "method": request.method,
            "principal": request.principal,
            "client": request.client,
            "granted": request.granted,
        }
        requests = self.by_resource.setdefault(request.resource.key, {category: [] for category in IDENTITY})
        newest: dict[Any, Json] = {}
        for other in (*requests[request.category], added):
            key = tuple(other[member] for member in IDENTITY[request.category])
            newest[key] = max(newest.get(key, other), other, key=_order)
        requests[request.category] = newest_first(newest.values())

    def newest_resources(self) -> dict[str, Requests]:
        """Return the resources that were changed or checked last, by key; not more than the limit."""
        newest = {key: max(request["at"] for kept in requests.values() for request in kept) for key, requests in self.by_resource.items()}
        kept = sorted(newest, key=lambda key: (-newest[key], key))[:_KEPT_RESOURCES]
        return {key: self.by_resource[key] for key in sorted(kept)}


def newest_first(requests: Iterable[Json]) -> list[Json]:
    """Sort requests, newest first, and return not more than the limit."""
    return sorted(requests, key=_order, reverse=True)[:KEPT_REQUESTS]


def _order(request: Json) -> tuple[int, str]:
    return request["at"], request["id"]
