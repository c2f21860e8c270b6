"""`facets`: what is, and was, said of a dataset or a job; `life`: what became of a dataset."""

from typing import Any

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=("facets kafka://broker:9092 orders ownership", "facets airflow nightly sql --kind job --json"),
)
@click.argument("namespace")
@click.argument("name")
@click.argument("key")
@click.option("--kind", type=click.Choice(["dataset", "job"]), default="dataset", show_default=True, help="what it is")
@click.option("--at", metavar="TIME", help="as far as had been said by this time")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most contents")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer, with what the facets say")
@with_settings(*CLIENT)
def facets(settings: Settings, style: str, as_json: bool, **asked: str | int | None) -> None:
    """List all that was said under one facet key.

    Of a dataset or a job; what was said last comes first, each content with when it was first and last seen.
    """
    with Client(settings.address) as client:
        said = client.get("/api/v1/graph/facets/history", texts=as_json, names=style, **asked)
    if as_json:
        write_json(said)
    elif said["history"]:
        rows = [[v["hash"][:12], v["side"], v["first"]["at"], v["last"]["at"], _who(v)] for v in spelt(said)["history"]]
        write_table(["content", "side", "first seen", "last seen", "by"], rows)
    else:
        say(f"nothing was said under the key {asked['key']!r}")


def _who(version: dict[str, Any]) -> str:
    names = ", ".join(job["name"] for job in version["jobs"])
    return f"{names} (deleted)" if version.get("deleted") else names


@click.command(cls=Command, examples=("life kafka://broker:9092 orders",))
@click.argument("namespace")
@click.argument("name")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most changes")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def life(settings: Settings, style: str, as_json: bool, **asked: str | int | None) -> None:
    """List what became of a dataset.

    That it was created, altered, renamed, truncated, overwritten, dropped, as producers told; the newest comes first.
    """
    with Client(settings.address) as client:
        said = client.get("/api/v1/graph/life", names=style, **asked)
    if as_json:
        write_json(said)
    elif said["life"]:
        rows = [
            [e["first"]["at"], e["change"], _name(e["dataset"]), _name(e.get("previous")), _name(e.get("job"))] for e in spelt(said)["life"]
        ]
        write_table(["at", "change", "dataset", "before", "by"], rows)
    else:
        say("nobody has told of its life")


def _name(node: dict[str, str] | None) -> str:
    return f"{node['namespace']} {node['name']}" if node else ""
