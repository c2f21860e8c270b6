"""`enrich`: read the catalogs of targets now."""

import json

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json
from lineage_bridge.cli.extract import TASKS, exit_code, follow_task, print_task
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("enrich lake", "enrich"))
@click.argument("names", nargs=-1, metavar="[NAME]...")
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def enrich(context: click.Context, settings: Settings, names: tuple[str, ...], as_json: bool) -> None:
    """Read what catalogs know of tables into the graph.

    NAME is a target of a kind whose catalog can be read, such as glue; without one, the catalogs of all such targets are read. What was
    published from here does not come back. Ctrl+C cancels the task.

    The exit code is 0 if everything was read, 3 if something could not be read, 1 if the task failed.
    """
    with connect(settings) as client:
        task = follow_task(client, client.post(f"{TASKS}/enrich", json.dumps({"targets": names}).encode()))
    print_json(task) if as_json else print_task(task)
    context.exit(exit_code(task))
