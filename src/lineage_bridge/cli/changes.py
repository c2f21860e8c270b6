"""`changes`: what of the graph changes."""

from collections.abc import Iterator

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_line
from lineage_bridge.cli.options import CLIENT, with_settings
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
@click.option("--after", metavar="CURSOR", help="changes behind this cursor, or `now`; by itself all that are kept")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="only changes of this kind, repeatable")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="at most so many")
@click.option("--follow", is_flag=True, help="go on until Ctrl+C")
@click.option("--json", "as_json", is_flag=True, help="one change a line, as JSON")
@with_settings(*CLIENT)
def changes(settings: Settings, after: str | None, kinds: tuple[str, ...], limit: int | None, follow: bool, as_json: bool) -> None:
    """Print what changed of the graph, oldest first.

    Nodes, ports and flows of jobs, columns, names that are one dataset, facets: what appeared, changed, or went. What merely repeats is no
    change. The cursor to go on with is told at the end.
    """
    with Client(settings.address) as client:
        for item in _items(client, after, kinds, limit, follow=follow):
            (write_line if as_json else _tell)(item)


def _items(client: Client, after: str | None, kinds: tuple[str, ...], limit: int | None, *, follow: bool) -> Iterator[Json]:
    cursor, left = after, limit
    try:
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            said = client.get(PATH, after=cursor, kind=list(kinds) or None, limit=size, wait_s=WAIT_S if follow and cursor else None)
            yield from said["changes"]
            cursor, left = said["next"], None if left is None else left - len(said["changes"])
            if not said["more"] and not follow:
                return
    finally:
        if cursor:
            say(f"go on with --after {cursor}")


def describe(item: Json) -> str:
    """A change in a line."""
    words = [_SIGNS[item["change"]], item["kind"]]
    job = f"by {_name(item['job'])}" if "job" in item else ""
    if item["kind"] == "flow":
        words += [_name(item["source"]), "->", _name(item["target"]), job, f"({item['origin']}, {item['evidence']})"]
    elif item["kind"] == "port":
        words += [_name(item["job"]), {"input": "reads", "output": "writes"}[item["side"]], _name(item["node"]), f"({item['origin']})"]
    elif item["kind"] == "identity":
        words += [_name(item["node"]), "=", _name(item["other"]), item["link"]]
    elif item["kind"] == "alias":
        words += [_end(item["alias"]["a"]), "=", _end(item["alias"]["b"]), "vetoed" if item["alias"]["vetoed"] else ""]
    elif item["kind"] == "hub":
        words += [item["hub"], job, f"({item['origin']})"]
    else:
        words += [item["node"].get("kind", ""), _name(item["node"]), item.get("facet", ""), job]
    return " ".join(word for word in words if word)


def _name(node: Json) -> str:
    return f"{node['namespace']} {node['name']}" if "name" in node else node["id"]


def _end(end: Json) -> str:
    return f"{end['namespace']} {end.get('name', '*')}"


def _tell(item: Json) -> None:
    write(describe(item))
