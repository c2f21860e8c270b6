"""The command `version`: prints the version of this program."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line
from lineage_bridge.cli.options import with_output
from lineage_bridge.wiring.processes import version as this_version


@click.command(cls=Command, examples=("version",))
@with_output("print the version as JSON")
def version(as_json: bool) -> None:
    """Print this program's version."""
    if as_json:
        print_json({"version": this_version()})
    else:
        print_line(f"lineage-bridge {this_version()}")
