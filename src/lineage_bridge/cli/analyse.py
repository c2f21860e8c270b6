"""The command `analyse`: measures the whole graph on Spark."""

from collections.abc import Callable

import click
import msgspec

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLUSTER, FOLDER, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring.graph import analyse as analyse_graph
from lineage_bridge.wiring.graph import last_analysis
from lineage_bridge.wiring.processes import configure_telemetry

PARTS = ("impact", "cycle", "orphan", "unused")


@click.command(cls=Command, examples=("analyse", "analyse --last --part unused --limit 100"))
@click.option("--last", is_flag=True, help="show the last analysis instead of running a new one")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="only this part of the analysis; can be repeated")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="maximum number of lines for each part")
@click.option(
    "--unused-days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="days without a read that make a dataset unused"
)
@with_output("print the analysis as JSON")
@with_settings(*FOLDER, *CLUSTER)
def analyse(settings: Settings, last: bool, parts: tuple[str, ...], limit: int, unused_days: int, as_json: bool) -> None:
    """Measure the whole graph on Spark.

    Counts the datasets and dashboards downstream of each node, and finds cycles, datasets that no job reads or writes, and datasets that
    are written but no longer read.

    Reads the store in the data folder, whether or not a server is running. The result is kept; the server's API returns it too.
    """
    configure_telemetry(settings, "analyse")
    found = last_analysis(settings) if last else analyse_graph(settings, unused_days)
    summary = found.summary
    lines = {part: [msgspec.json.decode(line) for line in found.lines(part, limit, 0)] for part in parts or PARTS}
    if as_json:
        print_json({**msgspec.to_builtins(summary), **lines})
        return
    for part, items in lines.items():
        _TABLES[part](items, summary.parts[part].count)
    print_message(f"{format_count(summary.nodes, 'node')}, {format_count(summary.flows or 0, 'flow')}, as of {summary.made_at}")
    if not summary.exact:
        print_message("the graph is too dense to count exactly: the counts are estimates")


def _impact(items: list[Json], count: int) -> None:
    if items:
        columns = ("downstream", "downstream_dashboards", "upstream")
        rows = [[*(str(item[column]) for column in columns), item["kind"], item["namespace"], item["name"]] for item in items]
        print_table(["downstream", "dashboards", "upstream", "kind", "namespace", "name"], rows)
    _print_total(len(items), count, "connected node")


def _cycle(items: list[Json], count: int) -> None:
    for item in items:
        print_line("cycle: " + " <-> ".join(f"{node['namespace']} {node['name']}" for node in item["nodes"]))
    _print_total(len(items), count, "cycle")


def _orphan(items: list[Json], count: int) -> None:
    for item in items:
        print_line(f"orphan: {item['namespace']} {item['name']}")
    _print_total(len(items), count, "orphan")


def _unused(items: list[Json], count: int) -> None:
    for item in items:
        read = f"last read {item['last_read']}" if "last_read" in item else "never read"
        print_line(f"unused: {item['namespace']} {item['name']}, last written {item['last_written']}, {read}")
    _print_total(len(items), count, "unused dataset")


def _print_total(shown: int, count: int, thing: str) -> None:
    print_message(format_count(count, thing) + (f", {shown} shown; a higher --limit shows more" if shown < count else ""))


_TABLES: dict[str, Callable[[list[Json], int], None]] = {"impact": _impact, "cycle": _cycle, "orphan": _orphan, "unused": _unused}
