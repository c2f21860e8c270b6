"""The command `publisher`: runs the process that publishes continuously to targets."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import FOLDER, with_settings
from lineage_bridge.cli.process import ATTACHED, begin
from lineage_bridge.config import Settings
from lineage_bridge.wiring.targets.continuous import run_publisher


@click.command(cls=Command, examples=("publisher --config lineage-bridge.toml",))
@ATTACHED
@with_settings(*FOLDER)
def publisher(settings: Settings, attached: bool) -> None:
    """Run only the continuous publishing.

    Publishes what changes in the graph to the targets with publish=continuous.
    """
    begin(settings, "publisher", attached=attached)
    run_publisher(settings)
