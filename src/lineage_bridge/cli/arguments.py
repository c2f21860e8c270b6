"""Finds the dataset or job that arguments name by NAMESPACE NAME, or by a NAME that is unique."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.errors import NotFoundError

KINDS = ("dataset", "job")
_MOST_FOUND, _MOST_CHOICES = 50, 5
"""How many matches of a name without a namespace are fetched, and how many of them an error lists."""


@dataclass(frozen=True)
class NodeRef:
    """A dataset or job, as the command line names it. `kinds`: whether to look for a dataset, a job or both, in this order."""

    kinds: tuple[str, ...]
    namespace: str
    name: str


def resolve_node(client: Client, names: tuple[str, ...], kind: str | None) -> NodeRef:
    """Interpret the arguments [NAMESPACE] NAME. Raises NotFoundError if a NAME without namespace matches nothing or several nodes."""
    if len(names) > 2:
        raise click.UsageError("give a namespace and a name; quote names with spaces")
    if len(names) == 1:
        return _unique(client, names[0], kind)
    return NodeRef((kind,) if kind else KINDS, names[0], names[1])


def get_for_node(client: Client, path: str, node: NodeRef, **parameters: str | int | None) -> Json:
    """Fetch the API's answer about a node. If the node is not found while events are not in the answers yet, wait for them.

    Raises NotFoundError with similar names.
    """
    return client.when_complete(lambda: _get_first(client, path, node, parameters))


def _get_first(client: Client, path: str, node: NodeRef, parameters: Mapping[str, str | int | None]) -> Json:
    """Fetch the answer for the first kind (dataset or job) of which a node with this name exists. Raises NotFoundError with similar
    names.
    """
    kind, *others = node.kinds
    try:
        return client.get(path, kind=kind, namespace=node.namespace, name=node.name, **parameters)
    except NotFoundError as error:
        if not others:
            raise
        first = error
    try:
        return _get_first(client, path, NodeRef(tuple(others), node.namespace, node.name), parameters)
    except NotFoundError as error:
        if first.near or error.near or client.lag():
            raise first if first.near or not error.near else error from None
        named = f"{node.name!r} in the namespace {node.namespace!r}"
        raise NotFoundError(f"there is no {kind} or {others[0]} {named}", first.hint) from None


def find_node(client: Client, names: tuple[str, ...], kind: str | None) -> Json:
    """Find the node that the arguments [NAMESPACE] NAME denote. Raises NotFoundError with similar names."""
    return get_for_node(client, "/api/v1/graph/neighbourhood", resolve_node(client, names, kind), depth=0)["origin"]


def find_endpoints(client: Client, names: tuple[str, ...], source_kind: str | None, target_kind: str | None) -> dict[str, str]:
    """Convert the arguments [NAMESPACE] SOURCE [NAMESPACE] TARGET to parameters of a question, such as source_name. Raises
    NotFoundError.
    """
    if len(names) not in (2, 4):
        raise click.UsageError("name a source and a target: NAME NAME, or NAMESPACE NAME NAMESPACE NAME")
    half = len(names) // 2
    ends = {"source": find_node(client, names[:half], source_kind), "target": find_node(client, names[half:], target_kind)}
    return {f"{end}_{key}": str(node[key]) for end, node in ends.items() for key in ("kind", "namespace", "name")}


def _unique(client: Client, name: str, kind: str | None) -> NodeRef:
    """Find the only node with this name, or else the only one whose name contains it. Raises NotFoundError."""
    found = client.query("/api/v1/search", "results", q=name, kind=kind, limit=_MOST_FOUND)["results"]
    exact = [node for node in found if node["name"] == name] or found
    if len(exact) == 1:
        return NodeRef((exact[0]["kind"],), exact[0]["namespace"], exact[0]["name"])
    if not exact:
        raise NotFoundError(f"no dataset or job matches {name!r}", "`lineage-bridge search TEXT` finds names")
    choices = " or ".join(f"{node['kind']} {shlex.quote(node['namespace'])} {shlex.quote(node['name'])}" for node in exact[:_MOST_CHOICES])
    others = f", ...; all: lineage-bridge search {shlex.quote(name)}" if len(exact) > _MOST_CHOICES else ""
    count = f"more than {_MOST_FOUND - 1}" if len(found) >= _MOST_FOUND else str(len(exact))
    raise NotFoundError(f"{count} datasets and jobs match {name!r}", f"add the namespace: {choices}{others}")
