"""`version`."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import write
from lineage_bridge.wiring import version as this_version


@click.command(cls=Command, examples=("version",))
def version() -> None:
    """Print this program's version."""
    write(f"lineage-bridge {this_version()}")
