"""The command `diff`: shows how the graph differs between two times."""

from typing import Any

import click

from lineage_bridge.cli.arguments import KINDS, get_for_node, resolve_node
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_truncated
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings

_PATH = "/api/v1/graph/diff"


@click.command(
    cls=Command,
    examples=(
        "diff --since 2026-05-01T00:00:00Z --jobs 'flink*'",
        "diff orders_fact --since 2026-05-01T00:00:00Z --until 2026-06-01T00:00:00Z",
    ),
)
@click.argument("names", nargs=-1, metavar="[[NAMESPACE] NAME]")
@click.option("--since", required=True, metavar="TIME", help="the earlier time, RFC 3339")
@click.option("--until", metavar="TIME", help="the later time [default: now]")
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), default="both", show_default=True)
@click.option("--depth", type=click.IntRange(0, 50), default=20, show_default=True, help="maximum number of hops")
@click.option("--kind", type=click.Choice(KINDS), help="kind of NAME [default: a dataset, or else a job]")
@click.option("--jobs", metavar="GLOB", help="without NAME: only jobs in these namespaces")
@click.option("--limit", type=click.IntRange(1, 5000), default=1000, show_default=True, help="maximum number of changes")
@click.option("--offset", type=click.IntRange(0), default=0, help="number of changes to skip")
@names_option
@with_output()
@with_settings(*CLIENT)
def diff(
    settings: Settings,
    names: tuple[str, ...],
    since: str,
    until: str | None,
    direction: str,
    depth: int,
    kind: str | None,
    jobs: str | None,
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
) -> None:
    """List how the graph differs between two times.

    Lists nodes, flows, inputs and outputs that appeared or disappeared, and those whose label or evidence changed: around a
    dataset or job, or for all jobs.
    """
    common: dict[str, Any] = {"since": since, **({"until": until} if until else {}), "limit": limit, "offset": offset, "names": style}
    with connect(settings) as client:
        if names:
            answer = get_for_node(client, _PATH, resolve_node(client, names, kind), direction=direction, depth=depth, **common)
        else:
            answer = client.get(_PATH, namespace=jobs, **common)
    if as_json:
        print_json(answer)
        return
    _print_answer(use_preferred_names(answer))


def _print_answer(answer: Json) -> None:
    nodes = {node["id"]: f"{node['namespace']} {node['name']}" for node in answer["nodes"]}
    if answer["changes"]:
        print_table(["change", "what", "from", "by", "to", "label"], [_row(change, nodes) for change in answer["changes"]])
    else:
        print_message("nothing changed")
    if answer["resolution"] == "day":
        print_message("times are exact to the day: if a job sent different events on the same day, an earlier one may have been compared")
    if answer.get("truncated"):
        print_truncated(answer, done="compared")
    if "next" in answer:
        print_message(f"there are more changes; continue with --offset {answer['next']}")


def _row(change: Json, nodes: dict[str, str]) -> list[str]:
    if change["kind"] == "node":
        node = change["node"]
        return [change["change"], node["kind"], f"{node['namespace']} {node['name']}", "", "", ""]
    if change["kind"] == "edge":
        edge = change["edge"]
        return [change["change"], "flow", nodes[edge["source"]], nodes[edge["job"]], nodes[edge["target"]], _label(change, edge)]
    port = change["port"]
    ends = (nodes[port["dataset"]], "") if port["side"] == "input" else ("", nodes[port["dataset"]])
    return [change["change"], port["side"], ends[0], nodes[port["job"]], ends[1], _label(change, port)]


def _label(change: Json, item: Json) -> str:
    before = change.get("label_before")
    label = f"{before} -> {item['label']}" if before and before != item["label"] else str(item["label"])
    return f"{label} ({item['liveness']})" if "liveness" in item else label
