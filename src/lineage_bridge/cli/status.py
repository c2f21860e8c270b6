"""`status`: how each part of a running server stands."""

import click
from rich.filesize import decimal

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.cli.source import trouble
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("status",))
@click.option("--json", "as_json", is_flag=True, help="print the server's own answers")
@with_settings(*CLIENT)
@click.pass_context
def status(context: click.Context, settings: Settings, as_json: bool) -> None:
    """Tell how each part of the server stands, and each source.

    The exit code is 1 if it is not ready; a source may fail all the same.
    """
    with Client(settings.address) as client:
        said = client.readiness()
        sources = client.get("/api/v1/sources")["sources"]
    if as_json:
        write_json({**said, "sources": sources})
    else:
        write(f"{settings.address} is {'ready' if said['ready'] else 'not ready'}")
        rows = [[name, part["state"], part["detail"]] for name, part in said["parts"].items()]
        lag, disk = said["lag"], said["disk"]
        behind = "all events are in the answers" if lag["caught_up"] else f"{decimal(max(0, lag['bytes']))} are not yet in the answers"
        rows.append(["graph", "settling" if said["settling"] else "settled", behind])
        rows.append(["disk", "", f"the log uses {decimal(disk['used_bytes'])}, {decimal(disk['free_bytes'])} are free"])
        rows += [[f"source {source['name']}", source["state"], trouble(source)] for source in sources]
        write_table(["part", "state", "detail"], rows)
    if not said["ready"]:
        context.exit(1)
