"""The commands `backup` and `restore`: copy the data folder, and put a copy back."""

from pathlib import Path

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_line, print_message
from lineage_bridge.cli.options import STORE, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.eventlog.check import LogCheck
from lineage_bridge.wiring import backup as wiring
from lineage_bridge.wiring.audit import record_command

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(cls=Command, examples=("backup /backups/monday",))
@click.argument("folder", type=_FOLDER)
@with_settings("data_dir", *STORE)
@click.pass_context
def backup(context: click.Context, settings: Settings, folder: Path) -> None:
    """Copy the data folder, whether or not a server is running.

    FOLDER must be new or empty. The copy is consistent: it contains all events that were acknowledged before the command began. The exit
    code is 1 if the log or the archive is damaged; its readable part is copied.
    """
    copied = wiring.backup(settings, folder, print_message)
    if wiring.is_elsewhere(settings):
        print_message(
            "the graph in PostgreSQL is not part of the backup: copy it with pg_dump, or let it be computed again from the log (replay)"
        )
    record_command(settings, "backup", str(folder.absolute()), records=copied.records)
    _report(context, f"the backup is in {folder}", copied)


@click.command(cls=Command, examples=("restore /backups/monday --data-dir ./lineage-data", "restore --state"))
@click.argument("folder", type=_FOLDER, required=False)
@click.option("--state", is_flag=True, help="only put back the last copy of state.db that the server itself made")
@with_settings("data_dir", *STORE)
@click.pass_context
def restore(context: click.Context, settings: Settings, folder: Path | None, state: bool) -> None:
    """Put a backup into an empty data folder. Stop the server first.

    Every file of the backup is checked before anything is written.
    """
    if state == (folder is not None):
        raise click.UsageError("give the folder of a backup, or --state")
    if folder is None:
        wiring.restore_state(settings)
        print_line(f"{settings.paths.state} was replaced by the last copy that the server made")
        record_command(settings, "restore", "state.db")
    else:
        restored = wiring.restore(settings, folder, print_message)
        if wiring.is_elsewhere(settings):
            print_message(
                "the graph in PostgreSQL stays, and belongs to the log that was backed up. Name another schema (store_schema); or, "
                "if the server of that log is stopped for good, drop the schema: the graph is computed again from the restored log"
            )
        record_command(settings, "restore", str(folder.absolute()), records=restored.records)
        _report(context, f"restored into {settings.data_dir}", restored)


def _report(context: click.Context, done: str, log: LogCheck) -> None:
    print_line(f"{done}: {format_count(log.records, 'record')}, {log}")
    if log.damage:
        context.exit(1)
