"""`analyse`: the whole graph measured at once, on Spark."""

from collections.abc import Callable

import click
import msgspec

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import counted, say, write, write_json, write_table
from lineage_bridge.cli.options import FOLDER, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring import analyse as analyse_graph
from lineage_bridge.wiring import last_analysis, tell_logs

PARTS = ("impact", "cycle", "orphan", "unused")


@click.command(cls=Command, examples=("analyse", "analyse --last --part unused --limit 100"))
@click.option("--last", is_flag=True, help="show what the last analysis found, without a new one")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="only this part, repeatable")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="at most so many of each part")
@click.option("--unused-days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="unread for how long is unused")
@click.option("--json", "as_json", is_flag=True, help="print what was found as JSON")
@with_settings(*FOLDER, "spark_master", "spark_memory")
def analyse(settings: Settings, last: bool, parts: tuple[str, ...], limit: int, unused_days: int, as_json: bool) -> None:
    """Measure the whole graph.

    How many datasets and dashboards lie downstream of each node, which flow in a circle, which are neither read nor written, which
    nobody reads.

    Reads the store in the data folder, on Spark; a server may run or not. What was found is kept, and answered by the server too.
    """
    tell_logs(settings, "analyse")
    found = last_analysis(settings) if last else analyse_graph(settings, unused_days)
    summary = found.summary
    lines = {part: [msgspec.json.decode(line) for line in found.lines(part, limit, 0)] for part in parts or PARTS}
    if as_json:
        write_json({**msgspec.to_builtins(summary), **lines})
        return
    for part, items in lines.items():
        _TABLES[part](items, summary.parts[part].count)
    say(f"{counted(summary.nodes, 'node')}, {counted(summary.flows, 'flow')}, as of {summary.made_at}")
    if not summary.exact:
        say("the graph is dense: counts are estimates")


def _impact(items: list[Json], count: int) -> None:
    if items:
        columns = ("downstream", "downstream_dashboards", "upstream")
        rows = [[*(str(item[column]) for column in columns), item["kind"], item["namespace"], item["name"]] for item in items]
        write_table(["downstream", "dashboards", "upstream", "kind", "namespace", "name"], rows)
    _rest(len(items), count, "connected node")


def _cycle(items: list[Json], count: int) -> None:
    for item in items:
        write("cycle: " + " <-> ".join(f"{node['namespace']} {node['name']}" for node in item["nodes"]))
    _rest(len(items), count, "cycle")


def _orphan(items: list[Json], count: int) -> None:
    for item in items:
        write(f"neither read nor written: {item['namespace']} {item['name']}")
    _rest(len(items), count, "orphan")


def _unused(items: list[Json], count: int) -> None:
    for item in items:
        read = f"last read {item['last_read']}" if "last_read" in item else "never read"
        write(f"unused: {item['namespace']} {item['name']}, last written {item['last_written']}, {read}")
    _rest(len(items), count, "unused dataset")


def _rest(shown: int, count: int, thing: str) -> None:
    say(counted(count, thing) + (f", {shown} shown" if shown < count else ""))


_TABLES: dict[str, Callable[[list[Json], int], None]] = {"impact": _impact, "cycle": _cycle, "orphan": _orphan, "unused": _unused}
