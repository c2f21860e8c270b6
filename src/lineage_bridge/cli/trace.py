"""`trace`: where a column comes from, or ends up."""

from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text
from rich.tree import Tree

from lineage_bridge.cli.arguments import ask, find_wanted
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, say, write, write_json
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.cli.tree import ABOVE, WHOLE, change
from lineage_bridge.config import Settings

Column = tuple[str, str]


@click.command(
    cls=Command,
    examples=(
        "trace order_metrics --column revenue",
        'trace "postgres://db:5432" shop.customers --column email --direction downstream',
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] NAME")
@click.option("--column", default="", help="the column; without it every column")
@click.option("--direction", type=click.Choice(["upstream", "downstream"]), default="upstream", show_default=True)
@click.option("--depth", type=click.IntRange(1, 100), default=20, show_default=True, help="most hops")
@click.option("--indirect", is_flag=True, help="also what merely decides: filters, joins, sorting")
@click.option("--through-masking", is_flag=True, help="go on behind a masked column")
@click.option("--at", help="as things were at this time, RFC 3339")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def trace(
    settings: Settings,
    names: tuple[str, ...],
    column: str,
    direction: str,
    depth: int,
    indirect: bool,
    through_masking: bool,
    at: str | None,
    style: str,
    as_json: bool,
) -> None:
    """Print where a column comes from, or where it ends up.

    Every step names its job and the time of the newest event that proves it. Flows on the way of which no columns are told are counted,
    since what is traced may have taken them too.
    """
    with Client(settings.address) as client:
        which = find_wanted(client, names, None)
        said = ask(
            client,
            "/api/v1/graph/trace",
            which,
            field=column,
            direction=direction,
            depth=depth,
            indirect=indirect,
            through_masking=through_masking,
            at=at,
            names=style,
        )
    if as_json:
        write_json(said)
        return
    said = spelt(said)
    console().print(_Tracing(said).tree())
    _tell_coverage(said)
    if said["truncated"]:
        say(f"not all is shown: the trace ended at its limit of {said['truncated']}; {said['hidden']} steps were not followed")
    if said["settling"]:
        say("the graph is still settling; ask again for the last word")


class _Tracing:
    """The answer as a tree; a column is unfolded once."""

    def __init__(self, said: Json) -> None:
        self.said, self.up = said, said["direction"] == "upstream"
        self.nodes: Mapping[str, Any] = {node["id"]: node for node in said["nodes"]}
        self.ends = {(column["node"], column["field"]): column.get("end", "") for column in said["columns"]}
        self.steps: dict[Column, list[Any]] = {}
        near = "target" if self.up else "source"
        for flow in said["flows"]:
            self.steps.setdefault((flow[near], flow[f"{near}_field"]), []).append(flow)

    def tree(self) -> Tree:
        """The columns that were asked for, each with its steps."""
        origin = self.said["origin"]
        tree = Tree(Text(origin["name"], style="bold").append(f"  {origin['namespace']}", style="dim"))
        begun = sorted(column for column in self.steps if self._is_start(column))
        if not begun:
            tree.add(f"(no column is known to lead {'here' if self.up else 'on from here'})")
        seen: set[Column] = set(begun)
        for column in begun:
            self._unfold(tree.add(Text(column[1] or WHOLE, style="bold")), column, seen)
        return tree

    def _is_start(self, column: Column) -> bool:
        start = [c for c in self.said["columns"] if c.get("distance") == 0]
        nodes, fields = {c["node"] for c in start}, {c["field"] for c in start}
        return column[0] in nodes | {self.said["origin"]["id"]} and (column[1] in fields or not column[1])

    def _unfold(self, tree: Tree, column: Column, seen: set[Column]) -> None:
        far = "source" if self.up else "target"
        for flow in self.steps.get(column, []):
            after = flow[far], flow[f"{far}_field"]
            branch = tree.add(self._label(after, flow).append(ABOVE if after in seen else "", style="dim"))
            if after not in seen:
                seen.add(after)
                self._unfold(branch, after, seen)

    def _label(self, column: Column, flow: Json) -> Text:
        node = self.nodes[column[0]]
        text = Text(column[1] or WHOLE, style="bold").append(f"  of {node['name']}  {node['namespace']}", style="dim")
        text.append(f"  by {self.nodes[flow['job']]['name']}", style="italic")
        marks = [change(flow["transformations"])]
        marks += [f"[ends here: {end}]" for end in [self.ends.get(column, "")] if end]
        marks += [f"[said {flow['proof']['event_time']}]"] if "proof" in flow else []
        return text.append("  " + " ".join(mark for mark in marks if mark), style="yellow")


def _tell_coverage(said: Json) -> None:
    coverage, names = said["coverage"], {node["id"]: node["name"] for node in said["nodes"]}
    every = coverage["told"] + coverage["untold"]
    if not coverage["untold"]:
        return
    write(f"{coverage['told']} of {every} flows on the way tell of columns; what is traced may have taken these too:")
    for gap in coverage["gaps"]:
        write(f"  {names[gap['source']]} -> {names[gap['target']]} by {names[gap['job']]} ({gap['evidence']})")
