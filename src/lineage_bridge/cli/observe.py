"""The command `observe`: runs the process that polls sources."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import CLIENT, FOLDER, with_settings
from lineage_bridge.cli.process import ATTACHED, begin
from lineage_bridge.config import Settings
from lineage_bridge.wiring.sources import run_sources


@click.command(cls=Command, examples=("observe --config lineage-bridge.toml",))
@ATTACHED
@with_settings(*CLIENT, *FOLDER)
def observe(settings: Settings, attached: bool) -> None:
    """Run only the polling of sources.

    The process sends the events about the sources to the server.
    """
    begin(settings, "observe", attached=attached)
    run_sources(settings)
