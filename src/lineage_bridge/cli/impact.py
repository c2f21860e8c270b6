"""`impact`: what a change reaches."""

import click

from lineage_bridge.cli.arguments import KINDS, ask, find_wanted
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import counted, say, write, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        'impact "kafka://broker.internal:9092" order-events-enriched',
        "impact orders_fact --direction upstream",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] NAME")
@click.option("--direction", type=click.Choice(["downstream", "upstream"]), default="downstream", show_default=True)
@click.option("--depth", type=click.IntRange(1, 100), default=50, show_default=True, help="most hops")
@click.option("--kind", type=click.Choice(KINDS), help="what NAME is; by itself a dataset, else a job")
@click.option("--limit", type=click.IntRange(1, 5000), default=500, show_default=True, help="most lines")
@click.option("--offset", type=click.IntRange(0), default=0, help="lines to leave out at the start")
@click.option("--at", help="as things were at this time, RFC 3339")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def impact(
    settings: Settings,
    names: tuple[str, ...],
    direction: str,
    depth: int,
    kind: str | None,
    limit: int,
    offset: int,
    at: str | None,
    style: str,
    as_json: bool,
) -> None:
    """List what a change of a dataset or a job reaches.

    Each with its distance in hops, the number of ways there, and whether all of its data comes through here, or some.

    With --direction upstream, what the dataset or job depends on.
    """
    with Client(settings.address) as client:
        which = find_wanted(client, names, kind)
        said = ask(client, "/api/v1/graph/impact", which, direction=direction, depth=depth, limit=limit, offset=offset, at=at, names=style)
    if as_json:
        write_json(said)
        return
    _tell(spelt(said), direction)


def _tell(said: Json, direction: str) -> None:
    counts = said["counts"]
    verb = "reaches" if direction == "downstream" else "depends on"
    write(
        f"{said['origin']['name']} {verb} {counted(counts['datasets'], 'dataset')} and {counted(counts['jobs'], 'job')}: "
        f"{counts['all']} wholly, {counts['some']} in part"
    )
    if said["affected"]:
        rows = [
            [str(one["distance"]), one["extent"], str(one.get("paths", "")), *(one["node"][key] for key in ("kind", "name", "namespace"))]
            for one in said["affected"]
        ]
        write_table(["hops", "extent", "ways", "kind", "name", "namespace"], rows)
    shown = len(said["affected"])
    if shown < counts["datasets"] + counts["jobs"]:
        say(f"{shown} of {counts['datasets'] + counts['jobs']} are shown; --offset and --limit show others")
    if said["truncated"]:
        say(f"not all is counted: the walk ended at its limit of {said['truncated']}; {said['hidden']} flows were not followed")
    if said["settling"]:
        say("the graph is still settling; ask again for the last word")
