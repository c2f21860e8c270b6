"""`lineage`: where a dataset comes from, and what comes from it."""

import click
from rich.tree import Tree

from lineage_bridge.cli.arguments import KINDS, ask, find_wanted
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, say, write_json
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.cli.tree import column_tree, flow_tree
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        'lineage "kafka://broker.internal:9092" order-events-enriched',
        "lineage orders_fact --direction downstream --columns",
        "lineage orders_fact --at 2026-05-01T00:00:00Z",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] NAME")
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), default="upstream", show_default=True)
@click.option("--depth", type=click.IntRange(0, 50), default=20, show_default=True, help="most hops")
@click.option("--columns", is_flag=True, help="column by column")
@click.option("--kind", type=click.Choice(KINDS), help="what NAME is; by itself a dataset, else a job")
@click.option("--at", metavar="TIME", help="as it was at a time, RFC 3339")
@click.option("--ended", is_flag=True, help="also what has ended")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def lineage(
    settings: Settings,
    names: tuple[str, ...],
    direction: str,
    depth: int,
    columns: bool,
    kind: str | None,
    at: str | None,
    ended: bool,
    style: str,
    as_json: bool,
) -> None:
    """Print where data comes from, or where it goes.

    Follows flows from a dataset or a job, through every job on the way, as a tree.

    NAME alone will do if only one dataset or job is named so.
    """
    with Client(settings.address) as client:
        which = find_wanted(client, names, kind)
        more: dict[str, str | int] = {"ended": ended, "names": style, **({"at": at} if at else {})}
        said = ask(client, "/api/v1/graph/neighbourhood", which, direction=direction, depth=depth, columns=columns, **more)
    if as_json:
        write_json(said)
        return
    for tree in _trees(spelt(said), direction, columns=columns):
        console().print(tree)
    _tell_limits(said)


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
    if said.get("resolution") == "day":
        say(f"as of {said['at']}, exact to the day: of several things a job said that day, an earlier one may be shown")
    if said["truncated"]:
        say(f"not all is shown: the walk ended at its limit of {said['truncated']}; {said['hidden']} flows were not followed")
    elif any(node.get("distance") == said["depth"] for node in said["nodes"]) and said["depth"]:
        say(f"the walk ended after {said['depth']} hops; --depth asks for more")
    if said["settling"]:
        say("the graph is still settling; ask again for the last word")
