"""The command `trace`: shows where a column comes from, or where it goes."""

from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text
from rich.tree import Tree

from lineage_bridge.cli.access import print_access
from lineage_bridge.cli.arguments import get_for_node, resolve_node
from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_tree
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_depth, print_settling, print_truncated
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.short_names import ShortNames
from lineage_bridge.cli.tree import ABOVE, WHOLE, format_transformations
from lineage_bridge.config import Settings
from lineage_bridge.errors import NotFoundError

Column = tuple[str, str]


@click.command(
    cls=Command,
    examples=(
        "trace order_metrics --column revenue",
        'trace "postgres://db:5432" shop.customers --column email --direction downstream',
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] NAME")
@click.option("--column", default="", help="the column [default: all columns]")
@click.option("--direction", type=click.Choice(["upstream", "downstream"]), default="upstream", show_default=True)
@click.option("--depth", type=click.IntRange(1, 100), default=20, show_default=True, help="maximum number of hops")
@click.option("--indirect", is_flag=True, help="include indirect column lineage: filters, joins, sorting")
@click.option("--through-masking", is_flag=True, help="continue past a masked column")
@click.option("--gaps", type=click.IntRange(0, 1000), default=100, show_default=True, help="maximum number of flows without column lineage")
@click.option("--access", is_flag=True, help="also who may read and write the datasets, and which jobs do")
@click.option("--suggestions", is_flag=True, help="also columns of the same name behind flows without column lineage: guesses")
@click.option("--at", help="the graph as of this time, RFC 3339")
@names_option
@with_output()
@with_settings(*CLIENT)
def trace(
    settings: Settings,
    names: tuple[str, ...],
    column: str,
    direction: str,
    depth: int,
    indirect: bool,
    through_masking: bool,
    gaps: int,
    access: bool,
    suggestions: bool,
    at: str | None,
    style: str,
    as_json: bool,
) -> None:
    """Print where a column comes from, or where it goes.

    Every step names its job and the time of the newest event that proves it ("seen"). Flows without column lineage are counted, because the
    traced data may have taken them too.
    """
    with connect(settings) as client:
        node = resolve_node(client, names, None)
        answer = get_for_node(
            client,
            "/api/v1/graph/trace",
            node,
            field=column,
            direction=direction,
            depth=depth,
            indirect=indirect,
            through_masking=through_masking,
            gaps=gaps,
            access=access or None,
            suggestions=suggestions or None,
            at=at,
            names=style,
        )
        fields = _schema_fields(client, answer["origin"]) if column and not answer["flows"] else []
    if as_json:
        print_json(answer)
        return
    answer = use_preferred_names(answer)
    if fields and column not in fields:
        print_message(f"the schema of the dataset has no column {column!r}; it has {', '.join(fields)}")
    print_tree(TraceTree(answer).tree())
    _print_coverage(answer)
    if suggestions:
        _print_suggestions(answer)
    if access:
        print_access(answer)
    _print_ends(answer)
    print_truncated(answer, followed="steps")
    if not answer["truncated"]:
        print_depth([column.get("distance") for column in answer["columns"]], depth)
    print_settling(answer)


class TraceTree:
    """Builds a tree from the answer of a trace. Each column is expanded once."""

    def __init__(self, answer: Json) -> None:
        self.answer, self.up = answer, answer["direction"] == "upstream"
        self.nodes: Mapping[str, Any] = {node["id"]: node for node in answer["nodes"]}
        self.job_names = ShortNames(self.nodes[flow["job"]] for flow in answer["flows"])
        self.ends = {(column["node"], column["field"]): column.get("end", "") for column in answer["columns"]}
        self.steps: dict[Column, list[Any]] = {}
        near = "target" if self.up else "source"
        for flow in answer["flows"]:
            self.steps.setdefault((flow[near], flow[f"{near}_field"]), []).append(flow)

    def tree(self) -> Tree:
        """The tree of the requested columns, each with its steps below it."""
        origin = self.answer["origin"]
        tree = Tree(Text(origin["name"], style="bold").append(f"  {origin['namespace']}", style="dim"))
        starts = sorted(column for column in self.steps if self._is_start(column))
        if not starts:
            tree.add(f"(no columns {'upstream' if self.up else 'downstream'})")
        seen: set[Column] = set(starts)
        for column in starts:
            self._expand(tree.add(Text(column[1] or WHOLE, style="bold")), column, seen)
        return tree

    def _is_start(self, column: Column) -> bool:
        start = [c for c in self.answer["columns"] if c.get("distance") == 0]
        nodes, fields = {c["node"] for c in start}, {c["field"] for c in start}
        return column[0] in nodes | {self.answer["origin"]["id"]} and (column[1] in fields or not column[1])

    def _expand(self, tree: Tree, column: Column, seen: set[Column]) -> None:
        far = "source" if self.up else "target"
        for flow in self.steps.get(column, []):
            after = flow[far], flow[f"{far}_field"]
            branch = tree.add(self._label(after, flow).append(ABOVE if after in seen else "", style="dim"))
            if after not in seen:
                seen.add(after)
                self._expand(branch, after, seen)

    def _label(self, column: Column, flow: Json) -> Text:
        node = self.nodes[column[0]]
        text = Text(column[1] or WHOLE, style="bold").append(f"  of {node['name']}  {node['namespace']}", style="dim")
        text.append(f"  by {self.job_names(self.nodes[flow['job']])}", style="italic")
        marks = [format_transformations(flow["transformations"])]
        marks += [f"[ends here: {end}]" for end in [self.ends.get(column, "")] if end]
        marks += [f"[seen {format_time(flow['proof']['event_time'])}]"] if "proof" in flow else []
        return text.append("  " + " ".join(mark for mark in marks if mark), style="yellow")


def _print_coverage(answer: Json) -> None:
    coverage, short = answer["coverage"], ShortNames(answer["nodes"])
    names = {node["id"]: short(node) for node in answer["nodes"]}
    total = coverage["told"] + coverage["untold"]
    if not coverage["untold"]:
        return
    print_line(f"{coverage['told']} of {total} flows on the way have column lineage; the data may also have gone through these:")
    for gap in coverage["gaps"]:
        print_line(f"  {names[gap['source']]} -> {names[gap['target']]} by {names[gap['job']]} ({gap['evidence']})")
    if len(coverage["gaps"]) < coverage["untold"]:
        print_message(f"{len(coverage['gaps'])} of these {coverage['untold']} flows are shown; a higher --gaps shows more")


_CUTS = {
    "suggestions": "there are more of them",
    "gaps": "not all flows without column lineage were looked behind; a higher --gaps looks behind more",
    "time": "the server's limit on time was reached",
}


def _print_suggestions(answer: Json) -> None:
    """Print columns of the same name behind flows without column lineage."""
    names, found = {node["id"]: node for node in answer["nodes"]}, answer["suggestions"]
    if found["items"]:
        print_line("columns of the same name behind these flows; no evidence that values flow between them:")
    for item in found["items"]:
        near, far, job = (names[item[member]] for member in ("near", "node", "job"))
        print_line(f"  {item['near_field']} of {near['name']} ~ {item['field']} of {far['name']}  {far['namespace']}  by {job['name']}")
    if found["cut"]:
        print_message(f"there may be more columns of the same name: {_CUTS.get(found['cut'], found['cut'])}")


def _schema_fields(client: Client, origin: Json) -> list[str]:
    """The columns of a dataset's current schema; empty if it has none."""
    try:
        found = client.get("/api/v1/lineage/datasets/detail", namespace=origin["namespace"], name=origin["name"])
    except NotFoundError:
        return []
    fields = found["facets"].get("schema", {}).get("fields") or []
    return [field["name"] for field in fields if isinstance(field, dict) and "name" in field]


def _print_ends(answer: Json) -> None:
    """Print which option continues the trace beyond masked columns."""
    masked = sum(column.get("end") == "masked" for column in answer["columns"])
    if masked:
        print_message(f"the trace ends at {format_count(masked, 'masked column')}; --through-masking continues")
