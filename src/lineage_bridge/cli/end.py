"""`end`: an operator's word that a flow has ended, or has not."""

import json

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import write, write_json
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "end flink enrichment --source kafka://broker:9092 orders",
        "end flink enrichment --source kafka://broker:9092 orders --undo",
    ),
)
@click.argument("namespace")
@click.argument("name")
@click.option("--source", type=(str, str), metavar="NAMESPACE NAME", help="the dataset it took from; by itself all")
@click.option("--target", type=(str, str), metavar="NAMESPACE NAME", help="the dataset it wrote to; by itself all")
@click.option("--at", metavar="TIME", help="when it ended, RFC 3339; now by itself")
@click.option("--undo", is_flag=True, help="take it back")
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def end(
    settings: Settings,
    namespace: str,
    name: str,
    source: tuple[str, str] | None,
    target: tuple[str, str] | None,
    at: str | None,
    undo: bool,
    as_json: bool,
) -> None:
    """Say that flows of a job have ended.

    Answers leave them out until the job names them again.
    """
    if source is None and target is None:
        raise click.UsageError("name the --source, the --target, or both")
    ends = {side: {"namespace": named[0], "name": named[1]} for side, named in (("source", source), ("target", target)) if named}
    order = {"job": {"namespace": namespace, "name": name}, "at": at or "", **ends}
    with Client(settings.address) as client:
        said = client.post(f"/api/v1/operations/{'unend' if undo else 'end'}", json.dumps(order).encode())
    if as_json:
        write_json(said)
    else:
        write("taken back" if undo else "ended")
