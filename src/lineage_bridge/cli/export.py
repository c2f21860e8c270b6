"""The commands `export` and `verify`: write the graph as NDJSON, and check its derived tables. Both read the store directly, without a
server.
"""

import sys
from typing import BinaryIO

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import STORE, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.store.whole.export import TYPES
from lineage_bridge.wiring.graph import differences, export_lines


@click.command(
    cls=Command,
    examples=(
        "export --only dataset --only flow -o graph.ndjson",
        "export --as-of 2026-05-01T00:00:00Z --no-demo",
    ),
)
@click.option("--as-of", metavar="TIME", help="the graph as it was known at this time, RFC 3339")
@click.option("--only", multiple=True, metavar="TYPE", help=f"only lines of this type; can be repeated: {', '.join(TYPES)}")
@click.option("--no-demo", is_flag=True, help="without the demo's events")
@click.option("-o", "--output", type=click.File("wb", atomic=True), default="-", metavar="FILE", help="write to this file")
@with_settings("data_dir", *STORE)
def export(settings: Settings, as_of: str | None, only: tuple[str, ...], no_demo: bool, output: BinaryIO) -> None:
    """Write the graph as sorted NDJSON.

    Lines refer to nodes by name: two graphs are equal if their exports are. Reads the store in the data folder, whether or not a server
    is running.
    """
    unknown = sorted(set(only) - set(TYPES))
    if unknown:
        raise RequestError(f"unknown line type {unknown[0]!r}", f"use one of {', '.join(TYPES)}")
    with export_lines(settings, _parse_as_of(as_of), frozenset(only), demo=not no_demo) as lines:
        output.writelines(line + b"\n" for line in lines)


@click.command(cls=Command, examples=("verify",))
@with_output("print the comparison as JSON")
@with_settings("data_dir", *STORE)
@click.pass_context
def verify(context: click.Context, settings: Settings, as_json: bool) -> None:
    """Recompute the derived tables and compare.

    The log is compared with the graph too. In the line `log`, surplus counts records of the graph that the log lacks, and missing counts
    records of the log that the graph lacks.

    The exit code is 1 if a table differs. Reads the store in the data folder, whether or not a server is running.
    """
    found = differences(settings, _print_step)
    differing = [table for table in found if table.surplus or table.missing]
    if as_json:
        print_json([table._asdict() for table in found])
    else:
        print_table(["table", "rows", "surplus", "missing"], [[str(value) for value in table] for table in found])
    if differing:
        print_message(f"{len(differing)} of {len(found)} tables differ from the recomputed ones")
        if any(table.table == "log" for table in differing):
            print_message("the log and the graph do not have the same records; see: lineage-bridge log check, lineage-bridge replay")
        context.exit(1)
    if not as_json:
        print_line(f"all {len(found)} tables match the recomputed ones")


def _print_step(step: str) -> None:
    """Show the current step on one line of the terminal."""
    if sys.stderr.isatty():
        click.echo(f"{step:40}\r", err=True, nl=False)


def _parse_as_of(text: str | None) -> int | None:
    if text is None:
        return None
    parsed = parse_time(text)
    if parsed is None:
        raise RequestError(f"--as-of {text!r} is not a time", "write it as 2026-05-01T04:00:00Z")
    return parsed.us
