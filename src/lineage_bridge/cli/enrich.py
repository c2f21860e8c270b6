"""The command `enrich`: reads catalogs now."""

import json

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json
from lineage_bridge.cli.extract import TASKS, exit_code, follow_catalogs
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("enrich", "enrich lake"))
@click.argument("name", metavar="[NAME]", default="")
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def enrich(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Read catalogs now, and wait until answers contain them.

    NAME is a source that reads a catalog, or a target whose catalog a source reads. Without NAME, the catalogs of all sources that are not
    paused are read. Ctrl+C cancels the enrichment.

    The exit code is 0 if everything was read, 3 if something could not be read, 1 if a catalog could not be read at all.
    """
    with connect(settings) as client:
        started = client.post(f"{TASKS}/enrich", json.dumps({"name": name}).encode() if name else b"")
        ended = follow_catalogs(client, started["task_ids"], as_json=as_json)
    if as_json:
        print_json(ended)
    context.exit(exit_code(*ended))
