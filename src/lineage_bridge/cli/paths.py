"""The command `paths`: lists the paths from one dataset or job to another."""

import click

from lineage_bridge.cli.arguments import KINDS, find_endpoints
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_hidden_ended, print_higher_limit, print_truncated
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.short_names import ShortNames
from lineage_bridge.config import Settings

_DEPTH = 20


@click.command(
    cls=Command,
    examples=(
        "paths commerce.public.orders order_metrics",
        'paths "postgres://db:5432" shop.orders "kafka://broker:9092" order-events',
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] SOURCE [NAMESPACE] TARGET")
@click.option("--source-kind", type=click.Choice(KINDS), help="kind of SOURCE [default: a dataset, or else a job]")
@click.option("--target-kind", type=click.Choice(KINDS), help="kind of TARGET [default: a dataset, or else a job]")
@click.option("--depth", type=click.IntRange(1, 100), default=_DEPTH, show_default=True, help="maximum number of hops")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="maximum number of paths")
@click.option("--at", help="the graph as of this time, RFC 3339")
@names_option
@with_output()
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
    """List the paths from one dataset or job to another.

    Paths follow the direction of the data. The shortest comes first; each hop is shown with its jobs.
    """
    with connect(settings) as client:
        ends = find_endpoints(client, names, source_kind, target_kind)
        answer = client.query("/api/v1/graph/paths", "paths", depth=depth, limit=limit, at=at, names=style, **ends)
    if as_json:
        print_json(answer)
        return
    answer = use_preferred_names(answer)
    if not answer["paths"]:
        print_message("no path found; paths follow the data from SOURCE to TARGET, so try the other direction too")
    short = ShortNames(job for path in answer["paths"] for jobs in path["jobs"] for job in jobs)
    for number, path in enumerate(answer["paths"], 1):
        print_line(f"{number}. {path['nodes'][0]['name']}  {path['nodes'][0]['namespace']}")
        for jobs, node in zip(path["jobs"], path["nodes"][1:], strict=True):
            mark = "  [dropped]" if node.get("dropped") else ""
            print_line(f"   -> {node['name']}  {node['namespace']}{mark}  by {short.join(jobs)}")
    _print_more(answer, limit, depth)
    print_hidden_ended(answer, hint="lineage --ended shows them")


def _print_more(answer: Json, limit: int, depth: int) -> None:
    longest = max((len(path["nodes"]) - 1 for path in answer["paths"]), default=depth)
    print_higher_limit("paths", exists=answer["more"] and len(answer["paths"]) >= limit)
    if answer["truncated"]:
        print_truncated(answer)
    elif longest >= depth or depth < _DEPTH:
        print_message(f"only paths of at most {format_count(depth, 'hop')} are searched; a higher --depth finds longer ones, if any")
