"""The command `lineage`: shows what a dataset is derived from, and what is derived from it."""

import click
from rich.tree import Tree

from lineage_bridge.cli.arguments import KINDS, get_for_node, resolve_node
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_message, print_tree
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_depth, print_hidden_ended, print_settling, print_truncated
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
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
@click.option("--depth", type=click.IntRange(0, 50), default=20, show_default=True, help="maximum number of hops")
@click.option("--columns", is_flag=True, help="show columns instead of datasets")
@click.option("--kind", type=click.Choice(KINDS), help="kind of NAME [default: a dataset, or else a job]")
@click.option("--at", metavar="TIME", help="the graph as of this time, RFC 3339")
@click.option("--ended", is_flag=True, help="include flows that have ended")
@names_option
@with_output()
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

    Follows the flows of a dataset or a job through every job on the way, and prints them as a tree.

    The namespace can be left out if only one dataset or job has that name.

    Marks in brackets: stale (shown by no run for 30 days), superseded (no longer shown by the newest three complete runs), declared or
    inferred (not observed in a run), by co-occurrence (a run named both ends, without saying that one flows into the other), and for
    streams, by their heartbeats, alive, idle, silent or gone.
    """
    with connect(settings) as client:
        node = resolve_node(client, names, kind)
        more: dict[str, str | int] = {"ended": ended, "names": style, **({"at": at} if at else {})}
        answer = get_for_node(client, "/api/v1/graph/neighbourhood", node, direction=direction, depth=depth, columns=columns, **more)
    if as_json:
        print_json(answer)
        return
    for tree in _trees(use_preferred_names(answer), direction, columns=columns):
        print_tree(tree)
    _print_limits(answer)


def _trees(answer: Json, direction: str, *, columns: bool) -> list[Tree]:
    make = column_tree if columns else flow_tree
    trees = []
    for up in {"upstream": (True,), "downstream": (False,), "both": (True, False)}[direction]:
        side = "upstream" if up else "downstream"
        tree = make(answer, up=up, heading=f"{side} of " if direction == "both" else "")
        if not tree.children:
            tree.add(f"(no {'columns' if columns else 'datasets'} {side})")
        trees.append(tree)
    return trees


def _print_limits(answer: Json) -> None:
    if answer.get("resolution") == "day":
        print_message(f"as of {answer['at']}, exact to the day: if a job sent different events on that day, an earlier one may be shown")
    print_truncated(answer)
    if not answer["truncated"]:
        print_depth([node.get("distance") for node in answer["nodes"]], answer["depth"])
    print_hidden_ended(answer, hint="--ended shows them")
    print_settling(answer)
