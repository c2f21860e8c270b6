"""`paths`: the ways from one dataset or job to another."""

import click

from lineage_bridge.cli.arguments import KINDS, find_ends
from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "paths commerce.public.orders order_metrics",
        'paths "postgres://db:5432" shop.orders "kafka://broker:9092" order-events',
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] SOURCE [NAMESPACE] TARGET")
@click.option("--source-kind", type=click.Choice(KINDS), help="what SOURCE is; by itself a dataset, else a job")
@click.option("--target-kind", type=click.Choice(KINDS), help="what TARGET is")
@click.option("--depth", type=click.IntRange(1, 100), default=20, show_default=True, help="most hops")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most paths")
@click.option("--at", help="as things were at this time, RFC 3339")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def paths(
    settings: Settings,
    names: tuple[str, ...],
    source_kind: str | None,
    target_kind: str | None,
    depth: int,
    limit: int,
    at: str | None,
    style: str,
    as_json: bool,
) -> None:
    """List the ways from one dataset or job to another.

    In the direction of the data, the shortest first, each hop with its jobs.
    """
    with Client(settings.address) as client:
        ends = find_ends(client, names, source_kind, target_kind)
        said = client.get("/api/v1/graph/paths", depth=depth, limit=limit, at=at, names=style, **ends)
    if as_json:
        write_json(said)
        return
    said = spelt(said)
    if not said["paths"]:
        say("no way is known")
    for number, path in enumerate(said["paths"], 1):
        write(f"{number}. {path['nodes'][0]['name']}  {path['nodes'][0]['namespace']}")
        for jobs, node in zip(path["jobs"], path["nodes"][1:], strict=True):
            write(f"   -> {node['name']}  {node['namespace']}  by {', '.join(job['name'] for job in jobs)}")
    if said["more"]:
        say("there may be more; --limit and --depth ask for them")
    if said["truncated"]:
        say(f"the search ended at its limit of {said['truncated']}")
