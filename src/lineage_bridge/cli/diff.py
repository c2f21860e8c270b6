"""`diff`: what changed of the graph between two moments."""

from typing import Any

import click

from lineage_bridge.cli.arguments import KINDS, ask, find_wanted
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
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
@click.option("--since", required=True, metavar="TIME", help="the earlier moment, RFC 3339")
@click.option("--until", metavar="TIME", help="the later moment; now by itself")
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), default="both", show_default=True)
@click.option("--depth", type=click.IntRange(0, 50), default=20, show_default=True, help="most hops")
@click.option("--kind", type=click.Choice(KINDS), help="what NAME is; by itself a dataset, else a job")
@click.option("--jobs", metavar="GLOB", help="without NAME: only jobs of these namespaces")
@click.option("--limit", type=click.IntRange(1, 5000), default=1000, show_default=True, help="most changes")
@click.option("--offset", type=click.IntRange(0), default=0, help="where to go on")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
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
    """List what changed between two moments.

    Nodes, flows, inputs and outputs that appeared or disappeared, and those whose label or evidence
    changed: around a dataset or job, or of all jobs.
    """
    common: dict[str, Any] = {"since": since, **({"until": until} if until else {}), "limit": limit, "offset": offset, "names": style}
    with Client(settings.address) as client:
        if names:
            said = ask(client, _PATH, find_wanted(client, names, kind), direction=direction, depth=depth, **common)
        else:
            said = client.get(_PATH, namespace=jobs, **common)
    if as_json:
        write_json(said)
        return
    _tell(spelt(said))


def _tell(said: Json) -> None:
    nodes = {node["id"]: f"{node['namespace']} {node['name']}" for node in said["nodes"]}
    if said["changes"]:
        write_table(["change", "what", "from", "by", "to", "label"], [_row(change, nodes) for change in said["changes"]])
    else:
        say("nothing changed")
    if said["resolution"] == "day":
        say("exact to the day: of several things a job said on one day, an earlier one may be compared")
    if said.get("truncated"):
        say(f"not all is compared: a walk ended at its limit of {said['truncated']}")
    if "next" in said:
        say(f"there is more: --offset {said['next']}")


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


def _label(change: Json, thing: Json) -> str:
    before = change.get("label_before")
    label = f"{before} -> {thing['label']}" if before and before != thing["label"] else str(thing["label"])
    return f"{label} ({thing['liveness']})" if "liveness" in thing else label
