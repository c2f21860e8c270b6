"""The command `log`: checks, repairs and restores the event log, without a server."""

from pathlib import Path

import click
from rich.filesize import decimal

from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring import log as wiring
from lineage_bridge.wiring.audit import record_command


@click.group(cls=Group, examples=("log check",))
def log() -> None:
    """Check, repair and restore the event log."""


@log.command(examples=("log check", "log check --acknowledge"))
@click.option("--acknowledge", is_flag=True, help="stop reporting the damage that exists now")
@with_output("print what was found as JSON")
@with_settings("data_dir")
@click.pass_context
def check(context: click.Context, settings: Settings, acknowledge: bool, as_json: bool) -> None:
    """Read every record of the log and of the archive, whether or not a server is running.

    Lists what is damaged or missing. The exit code is 1 if some of the damage is not acknowledged.
    """
    found = wiring.check(settings, acknowledged=acknowledge)
    new = () if acknowledge else found.new
    if as_json:
        damage = [{**item._asdict(), "acknowledged": item not in new} for item in found.damage]
        print_json({"segments": found.segments, "files": found.files, "records": found.records, "damage": damage})
    else:
        if found.damage:
            rows = [[item.kind, decimal(item.size), item.detail, "" if item in new else "acknowledged"] for item in found.damage]
            print_table(["damage", "size", "where", ""], rows)
        print_line(f"{format_count(found.records, 'record')} in {format_count(found.segments, 'segment')}{_files(found.files)}: {found}")
        if new:
            print_message("stop the server and run: lineage-bridge log repair; or bring records back: lineage-bridge log restore COPY")
    if acknowledge:
        record_command(settings, "log check --acknowledge", damages=len(found.damage))
    if new:
        context.exit(1)


@log.command(examples=("log repair",))
@with_output("print what was done as JSON")
@with_settings("data_dir")
def repair(settings: Settings, as_json: bool) -> None:
    """Repair the log and the archive. Stop the server first.

    A record with one wrong byte is corrected. Other unreadable bytes are moved to a .cut file beside the segment.
    """
    done = wiring.repair(settings)
    if as_json:
        print_json([{"outcome": item.outcome, **item.damage._asdict(), "saved": str(item.saved or "")} for item in done])
    elif done:
        rows = [[item.outcome, item.damage.detail, item.saved.name if item.saved else ""] for item in done]
        print_table(["outcome", "damage", "bytes before the repair"], rows)
        print_message("add the restored events to the graph: lineage-bridge replay")
    else:
        print_line("the log is not damaged")
    if done:
        record_command(settings, "log repair", repairs=len(done))


def _files(count: int) -> str:
    return f" and {format_count(count, 'file')} of the archive" if count else ""


@log.command(examples=("log restore /backup/log", "log restore lineage-data/log/0000000003-0000120000.cut"))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@with_settings("data_dir")
def restore(settings: Settings, paths: tuple[Path, ...]) -> None:
    """Append the records that the log lacks, from copies. Stop the server first.

    PATHS are segments, .cut files, or folders of them. Records that the log has are skipped.
    """
    count = wiring.restore(settings, paths, lambda: None)
    print_line(f"{format_count(count, 'record')} restored")
    if count:
        record_command(settings, "log restore", " ".join(str(path.absolute()) for path in paths), records=count)
