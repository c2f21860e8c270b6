"""`lineage`: where a dataset comes from, and what comes from it."""

from dataclasses import dataclass

import click
from rich.tree import Tree

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, say, write_json
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.cli.tree import column_tree, flow_tree
from lineage_bridge.config import Settings
from lineage_bridge.errors import NotFoundError

KINDS = ("dataset", "job")


@dataclass(frozen=True)
class Wanted:
    """The node that is asked for: its name, and what it may be, in the order to try."""

    kinds: tuple[str, ...]
    namespace: str
    name: str


@click.command(
    cls=Command,
    examples=(
        'lineage "kafka://broker.internal:9092" order-events-enriched',
        "lineage orders_fact --direction downstream --columns",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] NAME")
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), default="upstream", show_default=True)
@click.option("--depth", type=click.IntRange(0, 50), default=20, show_default=True, help="most hops")
@click.option("--columns", is_flag=True, help="column by column")
@click.option("--kind", type=click.Choice(KINDS), help="what NAME is; by itself a dataset, else a job")
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def lineage(settings: Settings, names: tuple[str, ...], direction: str, depth: int, columns: bool, kind: str | None, as_json: bool) -> None:
    """Print where data comes from, or where it goes.

    Follows flows from a dataset or a job, through every job on the way, as a tree.

    NAME alone will do if only one dataset or job is named so.
    """
    if len(names) > 2:
        raise click.UsageError("give a namespace and a name; quote what holds spaces")
    with Client(settings.address) as client:
        which = _unique(client, names[0], kind) if len(names) == 1 else Wanted((kind,) if kind else KINDS, names[0], names[1])
        said = _ask(client, which, direction=direction, depth=depth, columns=columns)
    if as_json:
        write_json(said)
        return
    for tree in _trees(said, direction, columns=columns):
        console().print(tree)
    _tell_limits(said)


def _ask(client: Client, which: Wanted, **parameters: str | int) -> Json:
    """The neighbourhood of the node. Raises NotFoundError with names that come close."""
    kind, *others = which.kinds
    try:
        return client.get("/api/v1/graph/neighbourhood", kind=kind, namespace=which.namespace, name=which.name, **parameters)
    except NotFoundError as error:
        if not others:
            raise
        first = error
    try:
        return _ask(client, Wanted(tuple(others), which.namespace, which.name), **parameters)
    except NotFoundError as error:
        raise first if first.near or not error.near else error from None


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


def _trees(said: Json, direction: str, *, columns: bool) -> list[Tree]:
    make = column_tree if columns else flow_tree
    trees = []
    for up in {"upstream": (True,), "downstream": (False,), "both": (True, False)}[direction]:
        tree = make(said, up=up)
        if not tree.children:
            tree.add(f"(no {'column' if columns else 'dataset'} is known to lead {'here' if up else 'on from here'})")
        trees.append(tree)
    return trees


def _tell_limits(said: Json) -> None:
    if said["truncated"]:
        say(f"not all is shown: the walk ended at its limit of {said['truncated']}; {said['hidden']} flows were not followed")
    elif any(node.get("distance") == said["depth"] for node in said["nodes"]) and said["depth"]:
        say(f"the walk ended after {said['depth']} hops; --depth asks for more")
    if said["settling"]:
        say("the graph is still settling; ask again for the last word")
