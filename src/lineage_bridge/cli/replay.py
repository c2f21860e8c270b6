"""The command `replay`: recomputes the graph from the log on Spark."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.filesize import decimal

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLUSTER, FOLDER, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring.audit import record_command
from lineage_bridge.wiring.pipeline import replay as replay_log
from lineage_bridge.wiring.processes import configure_telemetry


@click.command(cls=Command, examples=("replay", "replay --to ./graph-again.db"))
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="write a copy, and leave the graph in use unchanged"
)
@click.option("--anyway", is_flag=True, help="even if the log holds fewer events than the graph in use")
@with_output("print the comparison as JSON")
@with_settings(*FOLDER, *CLUSTER)
def replay(settings: Settings, to: Path | None, anyway: bool, as_json: bool) -> None:
    """Recompute the graph from the log, and replace the current one.

    The pipeline must not be running. The API may be: it answers from the old graph until the new one is complete.

    If the replay is interrupted, the old graph stays in use. Cursors of the change feed become invalid.
    """
    configure_telemetry(settings, "replay")
    tables = replay_log(settings, to, anyway=anyway, on_progress=_progress())
    replaced = settings.store_schema if settings.store else "graph.db"
    record_command(settings, "replay", str(to.absolute()) if to else replaced, anyway=anyway)
    if as_json:
        print_json([row._asdict() for row in tables])
        return
    print_table(["relation", "before", "after"], [[row.relation, str(row.before), str(row.after)] for row in tables])
    print_line(f"the recomputed graph is {to}" if to else "the recomputed graph is in use")


def _progress() -> Callable[[str, int, int], None]:
    """Make a function that prints the progress of each step, in bytes."""
    began = time.monotonic()
    ending = "\r" if sys.stderr.isatty() else "\n"

    def print_progress(step: str, done: int, left: int) -> None:
        share = done / (done + left) if done + left else 1.0
        seconds = time.monotonic() - began
        click.echo(f"{step}: {share:4.0%} of {decimal(done + left)}, {seconds:.0f} s".ljust(60), err=True, nl=ending == "\n")
        if ending == "\r":
            click.echo(ending if left else "\n", err=True, nl=False)

    print_message("starting Spark")
    return print_progress
