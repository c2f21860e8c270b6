"""`stats`: how many rows, bytes and files were read and written."""

from typing import Any

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
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
@click.option("--side", type=click.Choice(["input", "output"]), help="only what was read (input) or written (output)")
@click.option("--since", metavar="TIME", help="start of the window [default: a day before its end]")
@click.option("--until", metavar="TIME", help="end of the window [default: now]")
@click.option("--bucket", type=click.IntRange(0), default=0, help="also show intervals of this many seconds")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="maximum number of lines")
@names_option
@with_output()
@with_settings(*CLIENT)
def stats(
    settings: Settings, names: tuple[str, ...], job: tuple[str, str] | None, style: str, as_json: bool, **parameters: str | int | None
) -> None:
    """Sum the rows, bytes and files that were read and written.

    Sums them for a dataset, a job, a run, or a combination of these, in a window of time.
    """
    if len(names) not in (0, 2):
        raise click.UsageError("name a dataset by NAMESPACE NAME")
    if not names and not job and not parameters["run"]:
        raise click.UsageError("name a dataset by NAMESPACE NAME, or give --job or --run")
    dataset = names or (None, None)
    with Client(settings.address) as client:
        answer = client.query(
            "/api/v1/graph/statistics",
            "series",
            namespace=dataset[0],
            name=dataset[1],
            job_namespace=job[0] if job else None,
            job_name=job[1] if job else None,
            names=style,
            **parameters,
        )
    if as_json:
        print_json(answer)
    else:
        _print_answer(use_preferred_names(answer))


def _print_answer(answer: dict[str, Any]) -> None:
    if not answer["series"]:
        print_message(f"no statistics between {answer['since']} and {answer['until']}")
        return
    rows = []
    for series in answer["series"]:
        named = [f"{series[end]['namespace']} {series[end]['name']}" for end in ("job", "dataset")]
        rows.append([*named, series["side"], "", *_counts(series)])
        rows += [["", "", "", format_time(bucket["start"]), *_counts(bucket)] for bucket in series.get("buckets", [])]
    print_table(["job", "dataset", "side", "from", *_COUNTERS], rows)
    if answer["truncated"]:
        print_message("not everything was read: ask for a shorter window")


def _counts(amount: dict[str, Any]) -> list[str]:
    return [str(amount.get(counter, "")) for counter in _COUNTERS]
