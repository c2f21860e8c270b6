"""The table with the scope that each route requires. The server does not start if a route is missing in it."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute, Mount

from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope

Requirement: TypeAlias = AccessScope | Literal["principal", "nothing", "internal"]
"""What a route requires: a scope; any principal, whatever its scopes; no principal at all; or one of LineageBridge's own processes."""

_API: Final = "/api/v1"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CHANGING: Final = frozenset({AccessScope.OPERATE, AccessScope.ADMIN})
_RECORDED: Final = re.compile(r"/api/v1/graphs/[^/]+/import|/api/v1/pins(/[^/]+)?")
_OF_ALL: Final = re.compile(r"/metrics|/api/v1/(inputs|push|sources|targets|tasks)(/.*)?")
"""Questions about the server and its sources, which principals that are limited to namespaces may not ask."""
_TABLE: Final[Mapping[Requirement, tuple[str, ...]]] = {
    "nothing": ("GET /health", "GET //", "GET //view/{view:path}", "GET //assets/{name}", "GET //auth/login", "GET //auth/callback"),
    "principal": (
        "GET /catalogs",
        "GET /version",
        "GET //openapi.json",
        "GET //docs",
        "GET //docs/files",
        "GET //spec/facets",
        "GET //auth/session",
        "POST //auth/logout",
    ),
    AccessScope.INGEST: (
        "POST /lineage",
        "POST /lineage/",
        "POST /lineage/batch",
        "POST /lineage/batch/",
        "POST /lineage/events",
        "POST /lineage/events/",
        "POST /graphs/{graph_id}/import",
    ),
    AccessScope.READ: (
        "GET /aliases",
        "GET /analysis",
        "GET /changes",
        "GET /estate",
        "GET /graph/access",
        "GET /graph/diff",
        "GET /graph/drift",
        "GET /graph/facets/foreign",
        "GET /graph/facets/history",
        "GET /graph/impact",
        "GET /graph/ledger",
        "GET /graph/life",
        "GET /graph/neighbourhood",
        "GET /graph/paths",
        "GET /graph/pulse",
        "GET /graph/pulse/stream",
        "GET /graph/runs",
        "GET /graph/runs/{run_id:path}",
        "GET /graph/runs/{run_id:path}/lineage",
        "GET /graph/runs/{run_id:path}/tree",
        "GET /graph/schemas",
        "GET /graph/schemas/changes",
        "GET /graph/schemas/diff",
        "GET /graph/statistics",
        "GET /graph/timeline",
        "GET /graph/trace",
        "GET /graphs",
        "GET /graphs/confluent/view",
        "GET /graphs/enriched/view",
        "GET /graphs/{graph_id}",
        "GET /graphs/{graph_id}/edges",
        "GET /graphs/{graph_id}/export",
        "GET /graphs/{graph_id}/nodes",
        "GET /graphs/{graph_id}/nodes/{node_id:path}",
        "GET /graphs/{graph_id}/query/downstream/{node_id:path}",
        "GET /graphs/{graph_id}/query/upstream/{node_id:path}",
        "GET /input-kinds",
        "GET /inputs",
        "GET /inputs/{name}",
        "GET /lineage/datasets",
        "GET /lineage/datasets/detail",
        "GET /lineage/datasets/lineage",
        "GET /lineage/events",
        "GET /lineage/events/{run_id:path}",
        "GET /lineage/jobs",
        "GET /lineage/jobs/detail",
        "GET //metrics",
        "GET /overview",
        "GET /pins",
        "GET /pins/{pin_id}",
        "POST /pins",
        "DELETE /pins/{pin_id}",
        "GET /push/providers",
        "GET /quarantine",
        "GET /quarantine/{event_id}/body",
        "GET /ready",
        "GET /search",
        "GET /source-kinds",
        "GET /sources",
        "GET /sources/{name}",
        "GET /target-kinds",
        "GET /targets",
        "GET /targets/{name}",
        "GET /targets/{name}/ledger",
        "GET /targets/{name}/publication",
        "GET /tasks",
        "GET /tasks/{task_id}",
    ),
    AccessScope.OPERATE: (
        "POST /inputs",
        "POST /inputs/{name}/pause",
        "POST /inputs/{name}/resume",
        "POST /inputs/{name}/test",
        "DELETE /inputs/{name}",
        "POST /operations/alias",
        "POST /operations/end",
        "POST /operations/erase",
        "POST /operations/lift",
        "POST /operations/prefer",
        "POST /operations/unend",
        "POST /operations/veto",
        "POST /operations/withdraw",
        "POST /push/{provider}",
        "POST /quarantine/{event_id}/retry",
        "POST /sources",
        "POST /sources/{name}/pause",
        "POST /sources/{name}/poll",
        "POST /sources/{name}/resume",
        "POST /sources/{name}/test",
        "DELETE /sources/{name}",
        "POST /targets",
        "POST /targets/{name}/cancel",
        "POST /targets/{name}/pause",
        "POST /targets/{name}/publish",
        "POST /targets/{name}/resume",
        "POST /targets/{name}/test",
        "DELETE /targets/{name}",
        "POST /tasks/enrich",
        "POST /tasks/extract",
        "POST /tasks/{task_id}/cancel",
        "POST /tasks/{task_id}/resume",
        "DELETE /tasks/{task_id}",
    ),
    "internal": ("GET /inputs/{name}/positions", "POST /inputs/{name}/positions", "POST /inputs/{name}/records"),
    AccessScope.ADMIN: (
        "GET /audit",
        "GET /erasures",
        "GET /erasures/{erasure_id}",
        "GET /keys",
        "GET /sessions",
        "POST /erasures",
        "POST /keys",
        "POST /keys/{name:path}/rotate",
        "DELETE /keys/{name:path}",
        "DELETE /sessions/{name:path}",
    ),
}
"""Requirement to routes, below /api/v1 unless they begin with two slashes."""


def _full(line: str) -> str:
    method, path = line.split(" ")
    return f"{method} {path[1:] if path.startswith('//') else _API + path}"


REQUIREMENTS: Final[Mapping[str, Requirement]] = {_full(line): needed for needed, lines in _TABLE.items() for line in lines}
"""Method and path of each route, and what it requires."""


class RouteRequirements:
    """Finds the scope that a request requires, by matching the application's routes in their order.

    Raises ConfigError for a route that is not in the table, and for a line of the table without a route.
    """

    def __init__(self, routes: Sequence[BaseRoute], table: Mapping[str, Requirement] = REQUIREMENTS) -> None:
        self._patterns: list[tuple[str, re.Pattern[str], str, Requirement]] = []
        self._exact: dict[tuple[str, str], tuple[str, Requirement]] = {}
        self._plain: set[tuple[str, str]] = set()
        unused = dict(table)
        for method, path, pattern in _calls(routes):
            needed = table.get(f"{method or 'GET'} {path}")
            if needed is None:
                raise ConfigError(f"the route {method} {path} has no entry in the table of scopes", "add it to api/scopes.py")
            unused.pop(f"{method or 'GET'} {path}", None)
            self._patterns.append((method, pattern, path, needed))
            if "{" not in path:
                self._plain.add((method, path))
        if unused:
            raise ConfigError(f"the table of scopes names routes that do not exist: {sorted(unused)}", "remove them from api/scopes.py")

    def needed(self, method: str, path: str) -> Requirement:
        """The scope that a request requires. It is `principal` (any scope) for a path without a route, which is then answered with 404."""
        return self._found(method, path)[1]

    def template(self, method: str, path: str) -> str:
        """The path of a request's route, with its parameters in braces; empty if no route matches."""
        return self._found(method, path)[0]

    def is_of_all(self, method: str, path: str) -> bool:
        """Whether a question is about all namespaces, so that principals who are limited to some may not ask it."""
        return method in _READING and _OF_ALL.fullmatch(path) is not None

    def is_change(self, method: str, path: str) -> bool:
        """Whether a request changes something other than by sending events. Such requests are recorded in the audit trail."""
        return method not in _READING and (self.needed(method, path) in _CHANGING or _RECORDED.fullmatch(path) is not None)

    def _found(self, method: str, path: str) -> tuple[str, Requirement]:
        method = "GET" if method == "HEAD" else method
        found = self._exact.get((method, path))
        if found is None:
            found = self._first(method, path)
            if (method, path) in self._plain:  # of others, clients can send any number
                self._exact[method, path] = found
        return found

    def _first(self, method: str, path: str) -> tuple[str, Requirement]:
        for allowed, pattern, template, needed in self._patterns:
            if allowed in (method, "") and pattern.match(path):
                return template, needed
        return "", "principal"


def _calls(routes: Sequence[BaseRoute]) -> list[tuple[str, str, re.Pattern[str]]]:
    """The method, path and pattern of every route. Routes of static files have no method, because they accept any."""
    calls: list[tuple[str, str, re.Pattern[str]]] = []
    for found in iter_route_contexts(routes):
        methods = [""] if isinstance(found.route, Mount) else sorted({"GET" if name == "HEAD" else name for name in found.methods or ()})
        calls += [(method, found.path or "", found.path_regex) for method in methods]
    return calls
