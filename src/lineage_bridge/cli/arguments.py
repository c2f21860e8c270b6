"""The node a command is about: by namespace and name, or by a name that is the only one of its kind."""

from dataclasses import dataclass

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.errors import NotFoundError

KINDS = ("dataset", "job")


@dataclass(frozen=True)
class Wanted:
    """The node that is asked for: its name, and what it may be, in the order to try."""

    kinds: tuple[str, ...]
    namespace: str
    name: str


def find_wanted(client: Client, names: tuple[str, ...], kind: str | None) -> Wanted:
    """What [NAMESPACE] NAME means. Raises NotFoundError where a name alone is none, or several."""
    if len(names) > 2:
        raise click.UsageError("give a namespace and a name; quote what holds spaces")
    if len(names) == 1:
        return _unique(client, names[0], kind)
    return Wanted((kind,) if kind else KINDS, names[0], names[1])


def ask(client: Client, path: str, which: Wanted, **parameters: str | int | None) -> Json:
    """The answer about the node. Raises NotFoundError with names that come close."""
    kind, *others = which.kinds
    try:
        return client.get(path, kind=kind, namespace=which.namespace, name=which.name, **parameters)
    except NotFoundError as error:
        if not others:
            raise
        first = error
    try:
        return ask(client, path, Wanted(tuple(others), which.namespace, which.name), **parameters)
    except NotFoundError as error:
        raise first if first.near or not error.near else error from None


def find_named(client: Client, names: tuple[str, ...], kind: str | None) -> Json:
    """The node itself. Raises NotFoundError with names that come close."""
    return ask(client, "/api/v1/graph/neighbourhood", find_wanted(client, names, kind), depth=0)["origin"]


def find_ends(client: Client, names: tuple[str, ...], source_kind: str | None, target_kind: str | None) -> dict[str, str]:
    """What [NAMESPACE] SOURCE [NAMESPACE] TARGET means, as the parameters of a question about a way. Raises NotFoundError."""
    if len(names) not in (2, 4):
        raise click.UsageError("name a source and a target, each by [NAMESPACE] NAME")
    half = len(names) // 2
    ends = {"source": find_named(client, names[:half], source_kind), "target": find_named(client, names[half:], target_kind)}
    return {f"{end}_{key}": str(node[key]) for end, node in ends.items() for key in ("kind", "namespace", "name")}


def _unique(client: Client, name: str, kind: str | None) -> Wanted:
    """The one node of this name, or else the one whose name contains it. Raises NotFoundError."""
    found = client.get("/api/v1/search", q=name, kind=kind, limit=50)["results"]
    exact = [node for node in found if node["name"] == name] or found
    if len(exact) == 1:
        return Wanted((exact[0]["kind"],), exact[0]["namespace"], exact[0]["name"])
    if not exact:
        raise NotFoundError(f"nothing is named like {name!r}", "lineage-bridge search TEXT finds names")
    some = " or ".join(f"{node['kind']} {node['namespace']} {node['name']}" for node in exact[:5])
    raise NotFoundError(f"{len(exact)} datasets and jobs are named like {name!r}", f"say which: {some}")
