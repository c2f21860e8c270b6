"""The command `impact`: lists what a change of a dataset or job affects."""

import click

from lineage_bridge.cli.arguments import KINDS, find_node, get_for_node, resolve_node
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_json, print_line, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_depth, print_hidden_ended, print_next_page, print_settling, print_truncated
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        'impact "kafka://broker.internal:9092" order-events-enriched',
        "impact orders_fact --direction upstream",
        'impact orders_fact --also "kafka://broker.internal:9092" payments',
        'impact --namespace "kafka://broker.internal:9092"',
    ),
)
@click.argument("names", nargs=-1, metavar="[[NAMESPACE] NAME]")
@click.option("--also", "others", nargs=2, multiple=True, metavar="NAMESPACE NAME", help="one more dataset or job, repeatable")
@click.option("--namespace", "within", multiple=True, metavar="GLOB", help="everything in these namespaces instead, repeatable")
@click.option("--direction", type=click.Choice(["downstream", "upstream"]), default="downstream", show_default=True)
@click.option("--depth", type=click.IntRange(1, 100), default=50, show_default=True, help="maximum number of hops")
@click.option("--kind", type=click.Choice(KINDS), help="kind of NAME [default: a dataset, or else a job]")
@click.option("--limit", type=click.IntRange(1, 5000), default=500, show_default=True, help="maximum number of lines")
@click.option("--offset", type=click.IntRange(0), default=0, help="number of lines to skip")
@click.option("--at", help="the graph as of this time, RFC 3339")
@names_option
@with_output()
@with_settings(*CLIENT)
def impact(
    settings: Settings,
    names: tuple[str, ...],
    others: tuple[tuple[str, str], ...],
    within: tuple[str, ...],
    direction: str,
    depth: int,
    kind: str | None,
    limit: int,
    offset: int,
    at: str | None,
    style: str,
    as_json: bool,
) -> None:
    """List what a change of datasets or jobs affects.

    Each line gives the distance in hops, the number of paths, and the extent: whether all or only some of the data comes from the changed
    nodes.

    With --direction upstream, lists what the dataset or job depends on. With --namespace, lists what everything on a cluster or in a
    system affects outside of it, for up to 1,000 datasets and jobs.
    """
    if bool(within) == bool(names) or (within and others):
        raise click.UsageError("name a dataset or job, or give --namespace; not both")
    with connect(settings) as client:
        about: dict[str, str | int | None] = {"direction": direction, "depth": depth, "limit": limit, "offset": offset, "at": at}
        if within:
            about["kind"] = kind
            answer = client.when_complete(lambda: client.get("/api/v1/graph/impact", namespace=list(within), **about, names=style))
        elif others:
            found = [find_node(client, names, kind), *(find_node(client, each, None) for each in others)]
            origins = {key: [str(origin[key]) for origin in found] for key in ("kind", "namespace", "name")}
            answer = client.get("/api/v1/graph/impact", **origins, **about, names=style)
        else:
            answer = get_for_node(client, "/api/v1/graph/impact", resolve_node(client, names, kind), **about, names=style)
    if as_json:
        print_json(answer)
        return
    subject = f"everything in {' and '.join(within)}" if within else ""
    _print_answer(use_preferred_names(answer), direction, subject, offset=offset, depth=depth)


def _print_affected(affected: list[Json]) -> None:
    rows = [
        [
            str(item["distance"]),
            item["extent"],
            str(item.get("paths", "")),
            item["node"]["kind"],
            item["node"]["name"] + ("  [dropped]" if item["node"].get("dropped") else ""),
            item["node"]["namespace"],
        ]
        for item in affected
    ]
    if rows:
        print_table(["hops", "extent", "paths", "kind", "name", "namespace"], rows)


def _names_of(answer: Json) -> str:
    return " and ".join(origin["name"] for origin in answer["origins"])


def _print_answer(answer: Json, direction: str, subject: str, *, offset: int, depth: int) -> None:
    counts = answer["counts"]
    single, several = ("affects", "affect") if direction == "downstream" else ("depends on", "depend on")
    verb = single if subject or len(answer["origins"]) == 1 else several
    subject = subject or _names_of(answer)
    if not counts["datasets"] + counts["jobs"]:
        print_line(f"{subject} {verb} no known dataset or job")
    else:
        print_line(
            f"{subject} {verb} {format_count(counts['datasets'], 'dataset')} and {format_count(counts['jobs'], 'job')}: "
            f"{counts['all']} entirely (all), {counts['some']} in part (some)"
        )
    _print_affected([item for item in answer["affected"] if not item.get("only_failed")])
    if counts.get("only_failed"):
        print_line(f"of these, {counts['only_failed']} known from failed runs alone:")
        _print_affected([item for item in answer["affected"] if item.get("only_failed")])
    shown = len(answer["affected"])
    print_next_page(exists=offset + shown < counts["datasets"] + counts["jobs"], limit=shown, offset=offset)
    print_truncated(answer)
    if not answer["truncated"]:
        print_depth([item["distance"] for item in answer["affected"]], depth)
    print_hidden_ended(answer, hint="lineage --ended shows them")
    print_settling(answer)
