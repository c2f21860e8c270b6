"""Runs an analysis, over rows that were written to a folder, in a separate Spark process."""

from pathlib import Path

from lineage_bridge.config import Settings
from lineage_bridge.model.analysis import Analysis
from lineage_bridge.pipeline.analyse import analyse
from lineage_bridge.pipeline.replayer import spark_batch

SPARK_LOG = "spark-analyse.log"


def run_analysis(settings: Settings, folder: Path, *, unused_before_us: int) -> Analysis:
    """Analyse the graph in `folder`. Raises UnavailableError if Spark fails."""
    with spark_batch(settings, folder / "spark", SPARK_LOG) as session:
        return analyse(session, folder, unused_before_us=unused_before_us)
