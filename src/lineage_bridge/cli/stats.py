"""The command `stats`: sums how many rows, bytes and files were read and written."""

from collections.abc import Iterator
from typing import Any

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

_COUNTERS = ("rows", "bytes", "files")


@click.command(
    cls=Command,
    examples=(
        "stats kafka://broker:9092 orders",
        "stats kafka://broker:9092 orders --side input --bucket 3600",
        "stats --job flink order-enrichment --since 2026-05-01 --until 2026-05-02",
        "stats --run 0198c0de-0000-7000-8000-000000000001",
    ),
)
@click.argument("names", nargs=-1, metavar="[NAMESPACE NAME]")
@click.option("--job", nargs=2, metavar="NAMESPACE NAME", help="only data of this job")
@click.option("--run", metavar="RUN_ID", help="only data of this run")
@click.option("--side", type=click.Choice(["input", "output"]), help="only datasets that were read (input) or written (output)")
@click.option("--since", metavar="TIME", help="start of the window [default: a day before its end]")
@click.option("--until", metavar="TIME", help="end of the window [default: now]")
@click.option("--bucket", type=click.IntRange(0), default=0, help="also show totals for intervals of this many seconds")
@with_paging("lines", default=50, most=1000)
@names_option
@with_output()
@with_settings(*CLIENT)
def stats(
    settings: Settings,
    names: tuple[str, ...],
    job: tuple[str, str] | None,
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
    **parameters: str | int | None,
) -> None:
    """Sum the rows, bytes and files that were read and written.

    Sums them for a dataset, a job, a run, or a combination of these, in a window of time. Reports without a number are left out.
    """
    if len(names) not in (0, 2):
        raise click.UsageError("a dataset is named by two arguments, NAMESPACE NAME")
    if not names and not job and not parameters["run"]:
        raise click.UsageError("give a dataset (NAMESPACE NAME), --job or --run")
    dataset = dict(zip(("namespace", "name"), names, strict=False))
    named_job = dict(zip(("job_namespace", "job_name"), job or (), strict=False))
    with connect(settings) as client:
        answer = client.query(
            "/api/v1/graph/statistics", "series", limit=limit, offset=offset, names=style, **dataset, **named_job, **parameters
        )
    if as_json:
        print_json(answer)
        return
    _print_answer(use_preferred_names(answer))
    print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    if answer["truncated"]:
        print_message("the result is incomplete, because the window holds too many runs; shorten it with --since and --until")


def _print_answer(answer: dict[str, Any]) -> None:
    counted = [series for series in answer["series"] if _has_numbers(series)]
    window = f"between {format_time(answer['since'])} and {format_time(answer['until'])}"
    print_message(
        f"{window}; --since and --until choose the window" if counted else f"no statistics {window}; --since and --until widen it"
    )
    if counted:
        counters = [counter for counter in _COUNTERS if any(counter in series for series in counted)]
        rows = [row for series in counted for row in _rows(series, counters)]
        print_table(["job", "dataset", "side", "from", *counters], rows)
    if len(counted) < len(answer["series"]):
        print_message(f"left out: {format_count(len(answer['series']) - len(counted), 'line')} without a number; --json lists them")


def _rows(series: dict[str, Any], counters: list[str]) -> Iterator[list[str]]:
    """The rows of a series: one for the whole window, then one for each of its intervals that has a number."""
    named = [f"{series[end]['namespace']} {series[end]['name']}" for end in ("job", "dataset")]
    yield [*named, series["side"], "", *_counts(series, counters)]
    for bucket in series.get("buckets", []):
        if _has_numbers(bucket):
            yield ["", "", "", format_time(bucket["start"]), *_counts(bucket, counters)]


def _has_numbers(amount: dict[str, Any]) -> bool:
    return any(counter in amount for counter in _COUNTERS)


def _counts(amount: dict[str, Any], counters: list[str]) -> list[str]:
    return [f"{amount[counter]:,}" if counter in amount else "" for counter in counters]
