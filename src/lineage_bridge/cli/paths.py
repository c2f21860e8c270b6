"""`paths`: the ways from one dataset or job to another."""

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.cli.wanted import KINDS, find_named
from lineage_bridge.config import Settings

_TWO, _FOUR = 2, 4


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
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def paths(
    settings: Settings,
    names: tuple[str, ...],
    source_kind: str | None,
    target_kind: str | None,
    depth: int,
    limit: int,
    as_json: bool,
) -> None:
    """List the ways from one dataset or job to another.

    In the direction of the data, the shortest first, each hop with its jobs.
    """
    if len(names) not in (_TWO, _FOUR):
        raise click.UsageError("name a source and a target, each by [NAMESPACE] NAME")
    half = len(names) // 2
    with Client(settings.address) as client:
        source = find_named(client, names[:half], source_kind)
        target = find_named(client, names[half:], target_kind)
        ends = {
            f"{end}_{key}": node[key] for end, node in (("source", source), ("target", target)) for key in ("kind", "namespace", "name")
        }
        said = client.get("/api/v1/graph/paths", depth=depth, limit=limit, **ends)
    if as_json:
        write_json(said)
        return
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
