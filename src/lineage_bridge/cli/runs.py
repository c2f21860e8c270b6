"""`runs`: the runs of a job, or one run."""

from typing import Any
from urllib.parse import quote

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "runs flink order-enrichment",
        "runs 0198c0de-0000-7000-8000-000000000001",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="NAMESPACE NAME | RUN_ID")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most runs of a job")
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def runs(settings: Settings, names: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List the runs of a job, or tell of one run.

    The runs of a job come newest first; a run is named by its id.
    """
    if len(names) > 2:
        raise click.UsageError("name a job by NAMESPACE NAME, or a run by its id")
    with Client(settings.address) as client:
        if len(names) == 2:
            said = client.get("/api/v1/graph/runs", namespace=names[0], name=names[1], limit=limit)
        else:
            said = client.get(f"/api/v1/graph/runs/{quote(names[0], safe='')}")
    if as_json:
        write_json(said)
    elif len(names) == 2:
        _tell_list(said["runs"])
    else:
        for run in said["runs"]:
            _tell_one(run)


def _tell_list(found: list[dict[str, Any]]) -> None:
    if not found:
        say("the job has no runs")
        return
    rows = [[run["run_id"], run["state"], run.get("started_at", ""), run.get("ended_at", ""), run["last_seen"]] for run in found]
    write_table(["run", "state", "started", "ended", "last seen"], rows)


def _tell_one(run: dict[str, Any]) -> None:
    write(f"run {run['run_id']} of {run['job']['namespace']} {run['job']['name']}: {run['state']}")
    for name in ("raw_id", "started_at", "ended_at", "last_seen", "parent_run_id"):
        if run.get(name):
            write(f"  {name.replace('_', ' ')}: {run[name]}")
    for side in ("inputs", "outputs"):
        for node in run[side]:
            write(f"  {side[:-1]}: {node['namespace']} {node['name']}")
