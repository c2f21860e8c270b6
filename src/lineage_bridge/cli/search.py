"""`search`: names by parts of them."""

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=('search "orders fact" --kind dataset',))
@click.argument("text")
@click.option("--kind", type=click.Choice(["dataset", "job"]), help="only these")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most results")
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def search(settings: Settings, text: str, kind: str | None, limit: int, as_json: bool) -> None:
    """Find datasets and jobs by parts of their names.

    Name or namespace contain every word of TEXT.
    """
    with Client(settings.address) as client:
        said = client.get("/api/v1/search", q=text, kind=kind, limit=limit)
    if as_json:
        write_json(said)
    elif said["results"]:
        write_table(["kind", "namespace", "name"], [[node["kind"], node["namespace"], node["name"]] for node in said["results"]])
    else:
        say(f"nothing is named like {text!r}")
