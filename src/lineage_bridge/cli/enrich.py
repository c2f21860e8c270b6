"""`enrich`: read the catalog of a target now."""

import json

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json
from lineage_bridge.cli.extract import TASKS, exit_code, follow_task, print_task
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("enrich lake", "enrich lake --remove"))
@click.argument("name", metavar="TARGET")
@click.option("--remove", is_flag=True, help="take back what enrichments from it stated, also of a target that was removed")
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def enrich(context: click.Context, settings: Settings, name: str, remove: bool, as_json: bool) -> None:
    """Read what the catalog of a target has about datasets.

    TARGET is of kind glue, with the setting enrich=true; its tables are read that the graph has. Descriptions, owners, tags and columns
    are shown as what the catalog has, beside what producers state; nothing of it is published. Ctrl+C cancels the task.

    The exit code is 0 if everything was read, 3 if something could not be read, 1 if the task failed.
    """
    with connect(settings) as client:
        task = follow_task(client, client.post(f"{TASKS}/enrich", json.dumps({"target": name, "remove": remove}).encode()))
    print_json(task) if as_json else print_task(task)
    context.exit(exit_code(task))
