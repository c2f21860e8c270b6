"""The command `inputs`: runs the process that reads inputs."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import SERVER, with_settings
from lineage_bridge.cli.process import ATTACHED, begin
from lineage_bridge.config import Settings
from lineage_bridge.wiring.inputs import run_inputs


@click.command(cls=Command, examples=("inputs --config lineage-bridge.toml",))
@ATTACHED
@with_settings(*SERVER)
def inputs(settings: Settings, attached: bool) -> None:
    """Run only the reading of inputs.

    Reads events from topics, streams and files, and ingests them through the API on the same data folder.
    """
    begin(settings, "inputs", attached=attached)
    run_inputs(settings)
