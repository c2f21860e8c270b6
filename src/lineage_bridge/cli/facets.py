"""`facets`: the versions of a facet; `life`: the lifecycle changes of a dataset."""

from typing import Any

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=("facets kafka://broker:9092 orders ownership", "facets airflow nightly sql --kind job --json"),
)
@click.argument("namespace")
@click.argument("name")
@click.argument("key")
@click.option("--kind", type=click.Choice(["dataset", "job"]), default="dataset", show_default=True, help="what NAME is")
@click.option("--at", metavar="TIME", help="as known at this time, RFC 3339")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="maximum number of versions")
@names_option
@with_output("print the server's answer as JSON, with the contents of the facets")
@with_settings(*CLIENT)
def facets(settings: Settings, style: str, as_json: bool, **parameters: str | int | None) -> None:
    """List the versions of a facet of a dataset or a job.

    The newest version comes first, each with the times at which it was first and last seen.
    """
    with Client(settings.address) as client:
        answer = client.query("/api/v1/graph/facets/history", "history", texts=as_json, names=style, **parameters)
    if as_json:
        print_json(answer)
    elif answer["history"]:
        rows = [
            [v["hash"][:12], v["side"], format_time(v["first"]["at"]), format_time(v["last"]["at"]), _authors(v)]
            for v in use_preferred_names(answer)["history"]
        ]
        print_table(["version", "side", "first seen", "last seen", "by"], rows)
    else:
        print_message(f"no facet {parameters['key']!r} was ever sent for {parameters['namespace']} {parameters['name']}")


def _times(version: dict[str, Any]) -> list[str]:
    return [format_time(version[end]["at"]) for end in ("first", "last")]


def _authors(version: dict[str, Any]) -> str:
    names = ", ".join(job["name"] for job in version["jobs"])
    return f"{names} (deleted)" if version.get("deleted") else names


@click.command(cls=Command, examples=("life kafka://broker:9092 orders",))
@click.argument("namespace")
@click.argument("name")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="maximum number of changes")
@names_option
@with_output()
@with_settings(*CLIENT)
def life(settings: Settings, style: str, as_json: bool, **parameters: str | int | None) -> None:
    """List the lifecycle changes of a dataset.

    Producers report that a dataset was created, altered, renamed, truncated, overwritten or dropped. The newest change comes first.
    """
    with Client(settings.address) as client:
        answer = client.query("/api/v1/graph/life", "life", names=style, **parameters)
    if as_json:
        print_json(answer)
    elif answer["life"]:
        rows = [
            [format_time(e["first"]["at"]), e["change"], _name(e["dataset"]), _name(e.get("previous")), _name(e.get("job"))]
            for e in use_preferred_names(answer)["life"]
        ]
        print_table(["at", "change", "dataset", "before", "by"], rows)
    else:
        print_message("no lifecycle change was ever reported for it")


def _name(node: dict[str, str] | None) -> str:
    return f"{node['namespace']} {node['name']}" if node else ""
