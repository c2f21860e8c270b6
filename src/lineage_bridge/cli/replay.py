"""`replay`: the graph computed again from the log, on Spark."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.filesize import decimal

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.options import FOLDER, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring import replay as replay_log
from lineage_bridge.wiring import tell_logs


@click.command(cls=Command, examples=("replay", "replay --to ./graph-again.db"))
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="into a copy; the graph in use stays")
@click.option("--anyway", is_flag=True, help="even if the log holds less than the graph in use knows")
@click.option("--json", "as_json", is_flag=True, help="print the comparison as JSON")
@with_settings(*FOLDER, "spark_master", "spark_memory")
def replay(settings: Settings, to: Path | None, anyway: bool, as_json: bool) -> None:
    """Compute the graph again from the log, and put it in place.

    The pipeline must not run; the API may, and answers from the old graph until the new one is complete.

    Whenever it is interrupted, the graph in use stays as it was. Cursors of the change feed begin anew.
    """
    tell_logs(settings, "replay")
    counted = replay_log(settings, to, anyway=anyway, told=_progress())
    if as_json:
        write_json([row._asdict() for row in counted])
        return
    write_table(["relation", "before", "after"], [[row.relation, str(row.before), str(row.after)] for row in counted])
    write(f"the graph computed again is {to}" if to else "the graph computed again is in use")


def _progress() -> Callable[[str, int, int], None]:
    """Tells how far it is: what is done of what, as bytes."""
    began = time.monotonic()
    ending = "\r" if sys.stderr.isatty() else "\n"

    def told(step: str, done: int, left: int) -> None:
        share = done / (done + left) if done + left else 1.0
        seconds = time.monotonic() - began
        click.echo(f"{step}: {share:4.0%} of {decimal(done + left)}, {seconds:.0f} s".ljust(60), err=True, nl=ending == "\n")
        if ending == "\r":
            click.echo(ending if left else "\n", err=True, nl=False)

    say("starting Spark")
    return told
