"""`status`: the state of a running server and its sources."""

import click
from rich.filesize import decimal

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_table
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.source import describe_problem
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("status",))
@with_output("print the server's answers as JSON")
@with_settings(*CLIENT)
@click.pass_context
def status(context: click.Context, settings: Settings, as_json: bool) -> None:
    """Show the state of the server's parts and of each source.

    The exit code is 1 if the server is not ready. Failing sources do not count.
    """
    with Client(settings.address) as client:
        answer = client.readiness()
        sources = client.get("/api/v1/sources")["sources"]
    if as_json:
        print_json({**answer, "sources": sources})
    else:
        print_line(f"{settings.address} is {'ready' if answer['ready'] else 'not ready'}")
        rows = [[name, part["state"], part["detail"]] for name, part in answer["parts"].items()]
        lag, disk = answer["lag"], answer["disk"]
        behind = "all events are in the answers" if lag["caught_up"] else f"{decimal(max(0, lag['bytes']))} are not yet in the answers"
        rows.append(["graph", "settling" if answer["settling"] else "settled", behind])
        rows.append(["disk", "", f"the log uses {decimal(disk['used_bytes'])}, {decimal(disk['free_bytes'])} are free"])
        rows += [[f"source {source['name']}", source["state"], describe_problem(source)] for source in sources]
        print_table(["part", "state", "detail"], rows)
    if not answer["ready"]:
        context.exit(1)
