"""`stats`: how much was read and written."""

from typing import Any

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
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
@click.option("--job", nargs=2, metavar="NAMESPACE NAME", help="only by this job")
@click.option("--run", metavar="RUN_ID", help="only by this run")
@click.option("--side", type=click.Choice(["input", "output"]), help="only what was read, or written")
@click.option("--since", metavar="TIME", help="from this time on; a day before the end, if not given")
@click.option("--until", metavar="TIME", help="before this time; now, if not given")
@click.option("--bucket", type=click.IntRange(0), default=0, help="also by stretches of this many seconds")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="most lines")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def stats(
    settings: Settings, names: tuple[str, ...], job: tuple[str, str] | None, style: str, as_json: bool, **asked: str | int | None
) -> None:
    """Tell how many rows, bytes and files were read and written.

    Of a dataset, a job, a run, or several of these together, within a window.
    """
    if len(names) not in (0, 2):
        raise click.UsageError("name a dataset by NAMESPACE NAME")
    if not names and not job and not asked["run"]:
        raise click.UsageError("name a dataset by NAMESPACE NAME, or give --job or --run")
    dataset = names or (None, None)
    with Client(settings.address) as client:
        said = client.get(
            "/api/v1/graph/statistics",
            namespace=dataset[0],
            name=dataset[1],
            job_namespace=job[0] if job else None,
            job_name=job[1] if job else None,
            names=style,
            **asked,
        )
    if as_json:
        write_json(said)
    else:
        _tell(spelt(said))


def _tell(said: dict[str, Any]) -> None:
    if not said["series"]:
        say(f"nothing was told of it between {said['since']} and {said['until']}")
        return
    rows = []
    for series in said["series"]:
        named = [f"{series[end]['namespace']} {series[end]['name']}" for end in ("job", "dataset")]
        rows.append([*named, series["side"], "", *_counts(series)])
        rows += [["", "", "", bucket["start"], *_counts(bucket)] for bucket in series.get("buckets", [])]
    write_table(["job", "dataset", "side", "from", *_COUNTERS], rows)
    if said["truncated"]:
        say("there was more than could be read: ask for a shorter window")


def _counts(amount: dict[str, Any]) -> list[str]:
    return [str(amount.get(counter, "")) for counter in _COUNTERS]
