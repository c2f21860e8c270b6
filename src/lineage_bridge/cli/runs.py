"""`runs`: the runs of a job or inside a run, or one run."""

from typing import Any
from urllib.parse import quote

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings

_STATES = ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNKNOWN"]


@click.command(
    cls=Command,
    examples=(
        "runs flink order-enrichment",
        "runs flink order-enrichment --state FAIL --since 2026-05-01",
        "runs 0198c0de-0000-7000-8000-000000000001",
        "runs 0198c0de-0000-7000-8000-000000000001 --tree",
        "runs 0198c0de-0000-7000-8000-000000000001 --lineage upstream --depth 3",
    ),
)
@click.argument("names", nargs=-1, required=True, metavar="NAMESPACE NAME | RUN_ID")
@click.option("--state", type=click.Choice(_STATES, case_sensitive=False), help="only runs in this state")
@click.option("--since", metavar="TIME", help="only runs that spoke at this time or later")
@click.option("--until", metavar="TIME", help="only runs that began before this time")
@click.option("--children", is_flag=True, help="the runs directly inside the run RUN_ID")
@click.option("--tree", is_flag=True, help="all that runs inside the run RUN_ID")
@click.option("--lineage", type=click.Choice(["upstream", "downstream"]), help="the runs it read from, or that read from it")
@click.option("--depth", type=click.IntRange(1, 20), default=1, show_default=True, help="with --lineage: hops")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most runs of a list")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def runs(
    settings: Settings,
    names: tuple[str, ...],
    tree: bool,
    children: bool,
    lineage: str | None,
    depth: int,
    style: str,
    as_json: bool,
    **asked: str | int | None,
) -> None:
    """List the runs of a job, or tell of one run.

    Lists come newest first; a run is named by its id.
    """
    if len(names) > 2:
        raise click.UsageError("name a job by NAMESPACE NAME, or a run by its id")
    if len(names) == 2 and (tree or children or lineage):
        raise click.UsageError("--tree, --children and --lineage are of a run: name it by its id")
    with Client(settings.address) as client:
        path = f"/api/v1/graph/runs/{quote(names[0], safe='')}"
        if len(names) == 2:
            said = client.get("/api/v1/graph/runs", namespace=names[0], name=names[1], names=style, **asked)
        elif children:
            said = client.get("/api/v1/graph/runs", parent=names[0], names=style, **asked)
        elif lineage:
            said = client.get(f"{path}/lineage", direction=lineage, depth=depth, limit=asked["limit"], names=style)
        else:
            said = client.get(f"{path}/tree", limit=asked["limit"], names=style) if tree else client.get(path, names=style)
    if as_json:
        write_json(said)
    elif lineage:
        _tell_links(spelt(said))
    elif len(names) == 2 or children or tree:
        _tell_list(spelt(said))
    else:
        for run in spelt(said)["runs"]:
            _tell_one(run)


def _tell_links(said: dict[str, Any]) -> None:
    jobs = {run["run_id"]: run["job"]["name"] for run in said["runs"]}
    if not said["links"]:
        say(f"no run is known {said['direction']} of it")
        return
    rows = []
    for link in said["links"]:
        dataset = f"{link['dataset']['namespace']} {link['dataset']['name']}"
        ends = [[link[end], jobs.get(link[end], "")] for end in ("producer", "consumer")]
        rows.append([*ends[0], dataset, *ends[1], link["by"]])
    write_table(["written by", "job", "dataset", "read by", "job", "as told by"], rows)
    if said["truncated"]:
        say("there may be more: only so many were looked at")


def _tell_list(said: dict[str, Any]) -> None:
    if not said["runs"]:
        say("there are no such runs")
        return
    rows = [_row(run) for run in said["runs"]]
    write_table(["run", "job", "state", "started", "ended", "last seen"], rows)
    if said["truncated"]:
        say("there may be more: only so many were looked at")


def _row(run: dict[str, Any]) -> list[str]:
    inset = "  " * run.get("depth", 0)
    return [inset + run["run_id"], run["job"]["name"], _state(run), run.get("started_at", ""), run.get("ended_at", ""), run["last_seen"]]


def _state(run: dict[str, Any]) -> str:
    """Its state, and of a stream how its heartbeats come."""
    state = "unobserved" if run.get("unobserved") else str(run["state"])
    return f"{state} ({run['liveness']})" if "liveness" in run else state


def _tell_one(run: dict[str, Any]) -> None:
    write(f"run {run['run_id']} of {run['job']['namespace']} {run['job']['name']}: {_state(run)}")
    for name in ("raw_id", "started_at", "ended_at", "last_seen", "nominal_start", "nominal_end", "parent_run_id", "root_run_id"):
        if run.get(name):
            write(f"  {name.replace('_', ' ')}: {run[name]}{_remark(run, name)}")
    for name in ("parent_job", "named_parent_job", "root_job"):
        if run.get(name):
            write(f"  {name.replace('_', ' ')}: {run[name]['namespace']} {run[name]['name']}")
    for one in run.get("dependencies", []):
        write(f"  {'waits for' if one['direction'] == 'upstream' else 'is waited for by'}: {one['job']['namespace']} {one['job']['name']}")
    for side in ("inputs", "outputs"):
        for node in run[side]:
            write(f"  {side[:-1]}: {node['namespace']} {node['name']}")


def _remark(run: dict[str, Any], name: str) -> str:
    if name == "started_at" and run.get("started_inferred"):
        return " (its first event; no START was seen)"
    if name == "ended_at" and run.get("conflict"):
        return " (two different ends were said)"
    return ""
