"""`export` and `verify`: the graph as lines, and the proof that it is what its events say. Both read the store itself, without a server."""

import sys
from typing import BinaryIO

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.options import with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.store.whole.export import TYPES
from lineage_bridge.wiring import differences, export_lines


@click.command(
    cls=Command,
    examples=(
        "export --only dataset --only flow -o graph.ndjson",
        "export --as-of 2026-05-01T00:00:00Z --no-demo",
    ),
)
@click.option("--as-of", metavar="TIME", help="as it was known to be at a time, RFC 3339")
@click.option("--only", multiple=True, metavar="TYPE", help=f"only lines of this type, repeatable: {', '.join(TYPES)}")
@click.option("--no-demo", is_flag=True, help="without what the demo says")
@click.option("-o", "--output", type=click.File("wb", atomic=True), default="-", metavar="FILE", help="write to a file")
@with_settings("data_dir")
def export(settings: Settings, as_of: str | None, only: tuple[str, ...], no_demo: bool, output: BinaryIO) -> None:
    """Write the graph as sorted NDJSON by names.

    This is the form in which graphs are compared. Reads the store in the data folder; a server may run or not.
    """
    unknown = sorted(set(only) - set(TYPES))
    if unknown:
        raise RequestError(f"there are no lines of type {unknown[0]!r}", f"one of {', '.join(TYPES)}")
    with export_lines(settings, _time(as_of), frozenset(only), demo=not no_demo) as lines:
        output.writelines(line + b"\n" for line in lines)


@click.command(cls=Command, examples=("verify",))
@click.option("--json", "as_json", is_flag=True, help="print the comparison as JSON")
@with_settings("data_dir")
@click.pass_context
def verify(context: click.Context, settings: Settings, as_json: bool) -> None:
    """Compute the derived tables again and compare.

    The exit code is 1 if one of them differs. Reads the store in the data folder; a server may run or not.
    """
    found = differences(settings, _tell_step)
    wrong = [table for table in found if table.surplus or table.missing]
    if as_json:
        write_json([table._asdict() for table in found])
    else:
        write_table(["table", "rows", "surplus", "missing"], [[str(value) for value in table] for table in found])
    if wrong:
        say(f"{len(wrong)} of {len(found)} tables differ from what the facts say")
        context.exit(1)
    if not as_json:
        write(f"all {len(found)} tables are what the facts say")


def _tell_step(step: str) -> None:
    """Show on a terminal what is being done, on one line."""
    if sys.stderr.isatty():
        click.echo(f"{step:40}\r", err=True, nl=False)


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    parsed = parse_time(text)
    if parsed is None:
        raise RequestError(f"--as-of is no time: {text!r}", "write it as 2026-05-01T04:00:00Z")
    return parsed.us
