"""`version`."""

import click

from lineage_bridge.cli.console import write
from lineage_bridge.wiring import version as this_version


@click.command()
def version() -> None:
    r"""Print this program's version.

    \b
    Example: lineage-bridge version
    """
    write(f"lineage-bridge {this_version()}")
