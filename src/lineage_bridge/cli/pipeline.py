"""The command `pipeline`: runs the process that folds events into the graph."""

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import FOLDER, SPARK, with_settings
from lineage_bridge.cli.process import ATTACHED, begin
from lineage_bridge.config import Settings
from lineage_bridge.wiring.pipeline import run_pipeline


@click.command(cls=Command, examples=("pipeline --spark-memory 4g",))
@ATTACHED
@with_settings(*FOLDER, *SPARK)
def pipeline(settings: Settings, attached: bool) -> None:
    """Run only the pipeline, on Spark.

    It folds the events of the log into the graph.
    """
    begin(settings, "pipeline", attached=attached)
    run_pipeline(settings)
