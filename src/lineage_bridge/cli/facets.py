"""The command `facets`: shows the contents of facets, now and before."""

import re
from typing import Any

import click

from lineage_bridge.cli.arguments import KINDS, find_node
from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, format_time, print_json, print_line, print_message
from lineage_bridge.cli.facet_values import facet_lines
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.cli.short_names import ShortNames
from lineage_bridge.config import Settings

_OLDER_LINES = 10
"""How many lines of each version a list shows, except the first version."""
_SIDES = {
    "input": "as an input",
    "output": "as an output",
    "run": "of a run",
    "input_access": "of one input of a run",
    "output_access": "of one output of a run",
    "catalog": "by a catalog",
}
"""Where in an event a facet was."""


@click.command(
    cls=Command,
    examples=(
        "facets kafka://broker:9092 orders",
        "facets kafka://broker:9092 orders schema",
        "facets snowflake://acme db.public.orders dataQualityAssertions",
        "facets airflow nightly sql --json",
    ),
)
@click.argument("namespace")
@click.argument("name")
@click.argument("key", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="kind of NAME [default: a dataset, or else a job]")
@click.option("--at", metavar="TIME", help="as known at this time, RFC 3339; needs KEY")
@with_paging("versions", default=20, most=1000)
@names_option
@with_output("print the server's answer as JSON, with the unchanged facets")
@with_settings(*CLIENT)
def facets(
    settings: Settings,
    namespace: str,
    name: str,
    key: str | None,
    kind: str | None,
    at: str | None,
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
) -> None:
    """Show the facets of a dataset or a job, now and before.

    KEY is the facet's key in the events, such as schema, ownership, documentation or dataQualityAssertions.

    The newest version comes first, each with the times at which it was first and last seen. Among assertions about data quality, those that
    failed come first. Without KEY, shows the current facets of the dataset or the job itself, without input and output facets of runs.
    """
    if key is None and (at or offset):
        raise click.UsageError("--at and --offset need KEY")
    with connect(settings) as client:
        origin = find_node(client, (namespace, name), kind)
        node = {member: str(origin[member]) for member in ("kind", "namespace", "name")}
        if key is None:
            answer = _current(client, node)
        else:
            parameters = {**node, "at": at, "limit": limit, "offset": offset, "names": style}
            answer = client.query("/api/v1/graph/facets/history", "history", key=key, **parameters)
    if as_json:
        print_json(answer)
    elif key is None:
        _print_current(answer["facets"])
    elif not answer["history"]:
        print_message(f"no facet {key!r} was ever sent for {node['kind']} {namespace} {name}; omit KEY to list its facets")
    else:
        _print_versions(use_preferred_names(answer), offset)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
        if answer["truncated"]:
            print_message("the oldest versions are left out; --at shows them")


def _current(client: Client, node: dict[str, str]) -> Json:
    """Fetch a dataset or job with its current facets."""
    if node["kind"] == "dataset":
        return client.get("/api/v1/lineage/datasets/detail", namespace=node["namespace"], name=node["name"])
    globs = {member: re.sub(r"([*?\[])", r"[\1]", node[member]) for member in ("namespace", "name")}
    return next(iter(client.get("/api/v1/lineage/jobs", limit=1, **globs)), {**node, "facets": {}})


def _print_current(found: dict[str, Any]) -> None:
    out = console()
    for key, facet in found.items():
        print_line(key)
        for line in facet_lines(key, facet, out.width - 2 if out.is_terminal else None):
            print_line(f"  {line}")
    if not found:
        print_message("no event stated a facet for this dataset or job")


def _print_versions(answer: Json, offset: int) -> None:
    short, out = ShortNames(job for version in answer["history"] for job in version["jobs"]), console()
    for number, version in enumerate(answer["history"]):
        print_line(_heading(version, short))
        lines = facet_lines(answer["key"], version["facet"], out.width - 2 if out.is_terminal else None)
        shown = lines if number == 0 or len(lines) <= _OLDER_LINES else lines[: _OLDER_LINES - 1]
        for line in shown:
            print_line(f"  {line}")
        if len(shown) < len(lines):
            print_line(f"  ({len(lines) - len(shown)} more lines; --offset {offset + number} shows them)")


def _heading(version: dict[str, Any], short: ShortNames) -> str:
    """The heading of a version of a facet: when it was seen, who stated it, and as which kind of facet."""
    times = [format_time(version[end]["at"]) for end in ("first", "last")]
    seen = f"first and last seen {times[0]}" if times[0] == times[1] else f"first seen {times[0]}, last seen {times[1]}"
    side = f", {_SIDES[version['side']]}" if version["side"] in _SIDES else ""
    deleted = ", deleted" if version.get("deleted") else ""
    return f"{version['hash'][:12]}  {seen}, by {short.join(version['jobs'])}{side}{deleted}"
