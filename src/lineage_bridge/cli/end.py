"""The command `end`: declares that flows of a job have ended."""

import json

import click

from lineage_bridge.cli.arguments import find_node
from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
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
@click.option("--source", type=(str, str), metavar="NAMESPACE NAME", help="the dataset the flow reads [default: any]")
@click.option("--target", type=(str, str), metavar="NAMESPACE NAME", help="the dataset the flow writes [default: any]")
@click.option("--at", metavar="TIME", help="when it ended, RFC 3339 [default: now]")
@click.option("--undo", is_flag=True, help="undo an earlier declaration")
@with_output()
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
    """Declare that flows of a job have ended.

    Answers leave these flows out until the job reports them again.
    """
    if source is None and target is None:
        raise click.UsageError("give --source, --target, or both")
    ends = {side: {"namespace": named[0], "name": named[1]} for side, named in (("source", source), ("target", target)) if named}
    order = {"job": {"namespace": namespace, "name": name}, "at": at or "", **ends}
    with connect(settings) as client:
        if not undo:
            find_node(client, (namespace, name), "job")
            for dataset in filter(None, (source, target)):
                find_node(client, dataset, "dataset")
        answer = client.post(f"/api/v1/operations/{'unend' if undo else 'end'}", json.dumps(order).encode())
    if as_json:
        print_json(answer)
    else:
        print_line("the flows are no longer declared as ended" if undo else "the flows are declared as ended")
