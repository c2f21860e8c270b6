"""The command `retention`: removes what is old from the graph and from the log, or says what that would be."""

from collections.abc import Callable

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import FOLDER, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.keeping.retention import ExpiredCounts
from lineage_bridge.wiring.audit import record_command
from lineage_bridge.wiring.pipeline import retain
from lineage_bridge.wiring.retention.policy import forecast

_KINDS = ("runs", "events", "samples", "rejected")
_EVERY = 50


@click.command(cls=Command, examples=("retention --dry-run", "retention"))
@click.option("--dry-run", is_flag=True, help="only count what would go, by namespace; a server may be running")
@with_output("print the counts as JSON")
@with_settings(*FOLDER)
def retention(settings: Settings, dry_run: bool, as_json: bool) -> None:
    """Remove what is older than the setting `retention` allows.

    It goes from the graph and from the log. A running server does this by itself once a day, so no server may be running, except for a
    dry run. The present graph does not change.
    """
    if not settings.retention:
        raise ConfigError("the setting retention is empty: everything is kept", "write a section [[retention]] into the settings file")
    if dry_run:
        _print(forecast(settings), as_json=as_json)
        return
    removed = retain(settings, _progress())
    record_command(settings, "retention", "", **{kind: getattr(removed, kind) for kind in _KINDS})
    if as_json:
        print_json({kind: getattr(removed, kind) for kind in _KINDS})
    else:
        print_line(
            f"removed {removed.runs} runs, {removed.events} events, {removed.samples} samples of statistics"
            f" and {removed.rejected} rejected events"
        )


def _print(found: dict[str, ExpiredCounts], *, as_json: bool) -> None:
    rows = [{"namespace": namespace, **{kind: getattr(counts, kind) for kind in _KINDS}} for namespace, counts in found.items()]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(["namespace", *_KINDS], [[str(row["namespace"]) or "-", *(str(row[kind]) for kind in _KINDS)] for row in rows])
    else:
        print_line("nothing is old enough to go")


def _progress() -> Callable[[ExpiredCounts], None]:
    steps = 0

    def print_progress(removed: ExpiredCounts) -> None:
        nonlocal steps
        steps += 1
        if steps % _EVERY == 0:
            print_message(f"{removed.runs} runs and {removed.events} events removed so far")

    return print_progress
