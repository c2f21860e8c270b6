"""The command `changes`: prints the change feed of the graph."""

from collections.abc import Iterator

import click

from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json_line, print_line, print_message
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings

KINDS = ("node", "port", "flow", "hub", "columns", "identity", "alias", "facet")
PATH = "/api/v1/changes"
PAGE, WAIT_S = 1000, 30
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@click.command(
    cls=Command,
    examples=(
        "changes --follow",
        "changes --kind flow --after now --follow --json",
    ),
)
@click.option("--after", metavar="CURSOR", help="only changes after this cursor, or after `now` [default: all changes that are kept]")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="only changes of this kind; can be repeated")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="maximum number of changes")
@click.option("--follow", is_flag=True, help="keep printing new changes until Ctrl+C")
@with_output("print one JSON object a line")
@with_settings(*CLIENT)
def changes(settings: Settings, after: str | None, kinds: tuple[str, ...], limit: int | None, follow: bool, as_json: bool) -> None:
    """Print changes of the graph, oldest first.

    Lists nodes, inputs and outputs of jobs, flows, columns, aliases and facets that were added, changed or removed. Events that only
    repeat known facts cause no changes. The last line gives the cursor to continue with.
    """
    with connect(settings) as client:
        for item in _items(client, after, kinds, limit, follow=follow):
            if as_json:
                print_json_line(item)
            else:
                print_line(describe_change(item))


def _items(client: Client, after: str | None, kinds: tuple[str, ...], limit: int | None, *, follow: bool) -> Iterator[Json]:
    cursor, left = after, limit
    answered = False
    try:
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            answer = client.get(PATH, after=cursor, kind=list(kinds) or None, limit=size, wait_s=WAIT_S if follow and cursor else None)
            answered = True
            yield from answer["changes"]
            cursor, left = answer["next"], None if left is None else left - len(answer["changes"])
            if not answer["more"] and not follow:
                return
    finally:
        if answered:
            print_message(f"continue with --after {cursor}")


def describe_change(item: Json) -> str:
    """Describe a change in one line of text."""
    columns = [_SIGNS[item["change"]], item["kind"]]
    job = f"by {_name(item['job'])}" if "job" in item else ""
    if item["kind"] == "flow":
        columns += [_name(item["source"]), "->", _name(item["target"]), job, f"({item['origin']}, {item['evidence']})"]
    elif item["kind"] == "port":
        columns += [_name(item["job"]), {"input": "reads", "output": "writes"}[item["side"]], _name(item["node"]), f"({item['origin']})"]
    elif item["kind"] == "identity":
        columns += [_name(item["node"]), "=", _name(item["other"]), item["link"]]
    elif item["kind"] == "alias":
        columns += [_end(item["alias"]["a"]), "=", _end(item["alias"]["b"]), "vetoed" if item["alias"]["vetoed"] else ""]
    elif item["kind"] == "hub":
        columns += [item["hub"], job, f"({item['origin']})"]
    else:
        columns += [item["node"].get("kind", ""), _name(item["node"]), item.get("facet", ""), job]
    return " ".join(column for column in columns if column)


def _name(node: Json) -> str:
    return f"{node['namespace']} {node['name']}" if "name" in node else node["id"]


def _end(end: Json) -> str:
    return f"{end['namespace']} {end.get('name', '*')}"
