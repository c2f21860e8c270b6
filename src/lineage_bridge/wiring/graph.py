"""Implements the commands that read the whole graph: export, verify, analyse."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lineage_bridge.config import Settings
from lineage_bridge.demo.events import run_ids
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.verification import Difference
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.whole.analysis import Findings, write_findings
from lineage_bridge.wiring.log import compare_with_graph
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.retention.policy import policy_of
from lineage_bridge.wiring.shared import readers, state_database


@contextmanager
def export_lines(settings: Settings, at_us: int | None, only: frozenset[str], *, demo: bool) -> Iterator[Iterator[bytes]]:
    """Export the graph as lines (store/whole/export.py), now or as of a time in UTC microseconds, with or without the demo's runs."""
    state = state_database(settings)
    without = frozenset() if demo else frozenset(run for edition in state.editions() for run in run_ids(edition))
    with readers(settings) as pool, pool.reader() as now, ExitStack() as stack:
        reader: GraphReader = now
        if at_us is not None or without:
            reader = stack.enter_context(now.whole.refolded(Names(state.key()), at_us, without))
        yield reader.whole.lines(only, now_us=now_us() if at_us is None else at_us)


def differences(settings: Settings, on_progress: Callable[[str], None] = lambda _: None) -> list[Difference]:
    """Compare each derived table of the graph with the table that follows from the facts, and the log with the records that the graph
    knows.

    `on_progress` is called with the name of each step.
    """
    names = Names(state_database(settings).key())
    with readers(settings) as pool, pool.reader() as reader:
        found = list(reader.whole.differences(names, on_progress))
        on_progress("log")
        return [*found, compare_with_graph(settings, reader, names, policy_of(settings, now_us()))]


def analyse(settings: Settings, unused_days: int) -> Findings:
    """Measure the whole graph on Spark, and store the findings. Raises UnavailableError if Spark fails."""
    from lineage_bridge.pipeline.analyse import write_tables  # noqa: PLC0415  # loads Spark
    from lineage_bridge.pipeline.analyser import run_analysis  # noqa: PLC0415  # as above

    paths, began = settings.paths, now_us()
    with TemporaryDirectory(dir=paths.data_dir, prefix="analysing-") as scratch:
        folder = Path(scratch)
        with readers(settings) as pool, pool.reader() as reader:
            write_tables(reader.whole.tables(), folder)
            position = reader.progress.position()
        found = run_analysis(settings, folder, unused_before_us=began - unused_days * DAY_US)
    write_findings(paths.analysis, found, position, began, unused_days)
    return last_analysis(settings)


def last_analysis(settings: Settings) -> Findings:
    """Read the findings of the last analysis. Raises NotFoundError."""
    return Findings(settings.paths.analysis)
