"""`ledger`: what passed each hop of a path."""

from typing import Any

import click

from lineage_bridge.cli.arguments import KINDS, find_ends
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "ledger shop.orders order_metrics",
        "ledger shop.orders order_metrics --since 2026-11-20T00:00:00Z",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="[NAMESPACE] SOURCE [NAMESPACE] TARGET")
@click.option("--source-kind", type=click.Choice(KINDS), help="what SOURCE is; by itself a dataset, else a job")
@click.option("--target-kind", type=click.Choice(KINDS), help="what TARGET is")
@click.option("--way", type=click.IntRange(1, 100), default=1, show_default=True, help="which of the ways (see paths)")
@click.option("--since", help="start of the window, RFC 3339; by itself the last day")
@click.option("--until", help="end of the window")
@click.option("--baseline-since", help="start of the baseline; by itself as long as the window, right before it")
@click.option("--baseline-until", help="end of the baseline")
@click.option("--factor", type=float, default=2.0, show_default=True, help="how many times more or less is a change")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
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
    """Show what passed each hop from one dataset to another.

    What each job on the way read and wrote in a window, against a baseline: the hop where a number began to go wrong.
    """
    with Client(settings.address) as client:
        said = client.get(
            "/api/v1/graph/ledger",
            way=way,
            since=since,
            until=until,
            baseline_since=baseline_since,
            baseline_until=baseline_until,
            factor=factor,
            names=style,
            **find_ends(client, names, source_kind, target_kind),
        )
    if as_json:
        write_json(said)
        return
    if not said["hops"]:
        say("no way is known")
        return
    _tell(spelt(said))


def _tell(said: Json) -> None:
    write(
        f"from {said['window']['since']} to {said['window']['until']}, against {said['baseline']['since']} to {said['baseline']['until']}"
    )
    rows = [
        [
            hop["source"]["name"],
            hop["job"]["name"],
            hop["target"]["name"],
            _side(hop["read"]),
            _side(hop["written"]),
            "<- the change begins here" if hop.get("began") else "",
        ]
        for hop in said["hops"]
    ]
    write_table(["from", "job", "to", "read", "written", ""], rows)
    if said["more"]:
        say("there are other ways; --way chooses one, and paths lists them")


def _side(side: Any) -> str:  # noqa: ANN401 - a JSON edge
    return f"{_amount(side['window'])} ({side['change']}, was {_amount(side['baseline'])})"


def _amount(amount: Any) -> str:  # noqa: ANN401 - a JSON edge
    if "rows" in amount:
        return f"{amount['rows']:,} rows"
    return f"{amount['bytes']:,} bytes" if "bytes" in amount else "?"
