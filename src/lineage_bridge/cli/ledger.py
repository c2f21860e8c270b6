"""The command `ledger`: shows how much data each job on a path read and wrote."""

from typing import Any

import click

from lineage_bridge.cli.arguments import KINDS, find_endpoints
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_seconds, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.short_names import ShortNames
from lineage_bridge.config import Settings
from lineage_bridge.projections.pointers.collectors import PRODUCER


@click.command(
    cls=Command,
    examples=(
        "ledger shop.orders order_metrics",
        "ledger shop.orders order_metrics --since 2026-11-20T00:00:00Z",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] SOURCE [NAMESPACE] TARGET")
@click.option("--source-kind", type=click.Choice(KINDS), help="kind of SOURCE [default: a dataset, or else a job]")
@click.option("--target-kind", type=click.Choice(KINDS), help="kind of TARGET [default: a dataset, or else a job]")
@click.option("--way", type=click.IntRange(1, 100), default=1, show_default=True, help="number of the path in the list that `paths` prints")
@click.option("--since", help="start of the window, RFC 3339 [default: one day ago]")
@click.option("--until", help="end of the window [default: now]")
@click.option("--baseline-since", help="start of the baseline [default: as long as the window, right before it]")
@click.option("--baseline-until", help="end of the baseline")
@click.option("--factor", type=float, default=2.0, show_default=True, help="ratio to the baseline that counts as a change")
@names_option
@with_output()
@with_settings(*CLIENT)
def ledger(
    settings: Settings,
    names: tuple[str, ...],
    source_kind: str | None,
    target_kind: str | None,
    way: int,
    since: str | None,
    until: str | None,
    baseline_since: str | None,
    baseline_until: str | None,
    factor: float,
    style: str,
    as_json: bool,
) -> None:
    """Show how much the jobs between two datasets read and wrote.

    Compares what each job on the path read and wrote in a window with a baseline, and marks the hop where a change begins.

    Amounts are steady, less, more, silent (nothing now), new (nothing before), or unknown.
    """
    with connect(settings) as client:
        answer = client.query(
            "/api/v1/graph/ledger",
            "hops",
            way=way,
            since=since,
            until=until,
            baseline_since=baseline_since,
            baseline_until=baseline_until,
            factor=factor,
            names=style,
            **find_endpoints(client, names, source_kind, target_kind),
        )
    if as_json:
        print_json(answer)
        return
    if not answer["hops"]:
        print_message("no path found; paths follow the data from SOURCE to TARGET, so try the other direction too")
        return
    _print_answer(use_preferred_names(answer))


def _print_answer(answer: Json) -> None:
    window, baseline = ({end: format_time(answer[key][end]) for end in ("since", "until")} for key in ("window", "baseline"))
    times = f"from {window['since']} to {window['until']}, compared with {baseline['since']} to {baseline['until']}"
    print_line(times)
    datasets = ShortNames(hop[end] for hop in answer["hops"] for end in ("source", "target"))
    jobs = ShortNames(hop["job"] for hop in answer["hops"])
    rows = [
        [
            datasets(hop["source"]),
            jobs(hop["job"]),
            datasets(hop["target"]),
            _side(hop["read"]),
            _side(hop["written"]),
            _lag(hop),
            "the change starts here" if hop.get("began") else "",
        ]
        for hop in answer["hops"]
    ]
    print_table(["from", "job", "to", "read", "written", "unread", "note"], rows)
    if "last_good" in answer:
        good, bad = (format_time(answer[key]) for key in ("last_good", "first_bad"))
        print_line(f"the ratio of a hop began to differ from its baseline between {good} and {bad}")
    pages = {(link["title"], link["url"]) for hop in answer["hops"] for link in hop.get("consoles", ())}
    for title, url in sorted(pages):
        print_line(f"{title}: {url}")
    if answer["more"]:
        print_message("there are other paths; list them with paths, and choose one with --way")


def _side(side: Any) -> str:  # noqa: ANN401 - a JSON edge
    if side["change"] == "unknown" and not any(counter in side[when] for counter in ("rows", "bytes") for when in ("window", "baseline")):
        kind = side.get("collector", PRODUCER)
        return "not reported" if kind == PRODUCER else f"not reported (needs a source of kind {kind})"
    return f"{_amount(side['window'])} ({side['change']}, was {_amount(side['baseline'])})"


def _lag(hop: Any) -> str:  # noqa: ANN401 - a JSON edge
    """How much of the source the job has not read yet, and how long reading it takes; empty if unknown."""
    if "lag" not in hop:
        return f"not reported (needs a source of kind {hop['lag_collector']})" if "lag_collector" in hop else ""
    lag = hop["lag"]
    words = [f"{lag['rows']:,} rows"]
    if lag["rows"]:
        words.append(f"{format_seconds(lag['drain_s'])} to read" if "drain_s" in lag else "nothing is read")
    if "stuck" in lag:
        words.append(f"{lag['stuck']['partitions']} partitions stuck")
    return ", ".join(words)


def _amount(amount: Any) -> str:  # noqa: ANN401 - a JSON edge
    if "rows" in amount:
        return f"{amount['rows']:,} rows"
    return f"{amount['bytes']:,} bytes" if "bytes" in amount else "nothing"
