"""`runs`: the runs of a job or inside a run, or the details of one run."""

from typing import Any
from urllib.parse import quote

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings

_FAILURE_WIDTH = 80
"""Characters of a failure that a list shows."""
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
@click.option("--since", metavar="TIME", help="only runs with an event at this time or later")
@click.option("--until", metavar="TIME", help="only runs that started before this time")
@click.option("--children", is_flag=True, help="list the child runs of RUN_ID")
@click.option("--tree", is_flag=True, help="list the child runs of RUN_ID and their children")
@click.option(
    "--lineage", type=click.Choice(["upstream", "downstream"]), help="list the runs whose output it read, or that read its output"
)
@click.option("--depth", type=click.IntRange(1, 20), default=1, show_default=True, help="with --lineage: number of hops")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="maximum number of runs in a list")
@names_option
@with_output()
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
    **parameters: str | int | None,
) -> None:
    """List the runs of a job, or show one run.

    Lists are sorted newest first. Name a run by its id.
    """
    if len(names) > 2:
        raise click.UsageError("name a job by NAMESPACE NAME, or a run by its id")
    if len(names) == 2 and (tree or children or lineage):
        raise click.UsageError("--tree, --children and --lineage need the id of a run")
    with Client(settings.address) as client:
        path = f"/api/v1/graph/runs/{quote(names[0], safe='')}"
        if len(names) == 2:
            answer = client.query("/api/v1/graph/runs", "runs", namespace=names[0], name=names[1], names=style, **parameters)
        elif children:
            answer = client.query("/api/v1/graph/runs", "runs", parent=names[0], names=style, **parameters)
        elif lineage:
            answer = client.query(f"{path}/lineage", direction=lineage, depth=depth, limit=parameters["limit"], names=style)
        else:
            answer = client.query(f"{path}/tree", limit=parameters["limit"], names=style) if tree else client.query(path, names=style)
    if as_json:
        print_json(answer)
    elif lineage:
        _print_run_links(use_preferred_names(answer))
    elif len(names) == 2 or children or tree:
        _print_runs(use_preferred_names(answer), of_one_job=len(names) == 2)
    else:
        for run in use_preferred_names(answer)["runs"]:
            _print_run(run)


def _print_run_links(answer: dict[str, Any]) -> None:
    jobs = {run["run_id"]: run["job"]["name"] for run in answer["runs"]}
    if not answer["links"]:
        print_message(f"no {answer['direction']} runs found")
        return
    rows = []
    for link in answer["links"]:
        dataset = f"{link['dataset']['namespace']} {link['dataset']['name']}"
        ends = [[link[end], jobs.get(link[end], "")] for end in ("producer", "consumer")]
        rows.append([*ends[0], dataset, *ends[1], link["by"]])
    print_table(["written by", "writer job", "dataset", "read by", "reader job", "evidence"], rows)
    if answer["truncated"]:
        print_message("there may be more; use --limit for them")


def _print_runs(answer: dict[str, Any], *, of_one_job: bool) -> None:
    if not answer["runs"]:
        print_message("no runs found")
        return
    columns = ["run", "job", "state", "started", "ended", "last seen"]
    rows = [_row(run) for run in answer["runs"]]
    if any("failures" in run for run in answer["runs"]):
        columns.append("failure")
        rows = [[*row, _first_failure(run)] for row, run in zip(rows, answer["runs"], strict=True)]
    if of_one_job:
        del columns[1]
        rows = [[row[0], *row[2:]] for row in rows]
    print_table(columns, rows)
    if answer["truncated"]:
        print_message("there may be more; use --limit for them")


def _row(run: dict[str, Any]) -> list[str]:
    indent = "  " * run.get("depth", 0)
    times = [format_time(run.get(name, "")) for name in ("started_at", "ended_at", "last_seen")]
    return [indent + run["run_id"], run["job"]["name"], _state(run), *times]


def _first_failure(run: dict[str, Any]) -> str:
    """The first line of the first reason for a failure, and how many reasons more there are."""
    first, *others = run.get("failures", [""])
    line = first.partition("\n")[0]
    shown = line if len(line) <= _FAILURE_WIDTH else line[: _FAILURE_WIDTH - 3] + "..."
    return f"{shown} (and {len(others)} more)" if others else shown


def _state(run: dict[str, Any]) -> str:
    """The state of a run, with the liveness of a streaming run."""
    state = "unobserved" if run.get("unobserved") else str(run["state"])
    return f"{state} ({run['liveness']})" if "liveness" in run else state


def _print_run(run: dict[str, Any]) -> None:
    print_line(f"run {run['run_id']} of {run['job']['namespace']} {run['job']['name']}: {_state(run)}")
    for name in ("raw_id", "started_at", "ended_at", "last_seen", "nominal_start", "nominal_end", "parent_run_id", "root_run_id"):
        if run.get(name):
            print_line(f"  {name.replace('_', ' ')}: {run[name]}{_note(run, name)}")
    for name in ("parent_job", "named_parent_job", "root_job"):
        if run.get(name):
            print_line(f"  {name.replace('_', ' ')}: {run[name]['namespace']} {run[name]['name']}")
    for reason in run.get("failures", []):
        print_line(f"  failure: {reason}")
    for dependency in run.get("dependencies", []):
        label = "depends on" if dependency["direction"] == "upstream" else "required by"
        print_line(f"  {label}: {dependency['job']['namespace']} {dependency['job']['name']}")
    for side in ("inputs", "outputs"):
        for node in run[side]:
            print_line(f"  {side[:-1]}: {node['namespace']} {node['name']}")


def _note(run: dict[str, Any], name: str) -> str:
    if name == "started_at" and run.get("started_inferred"):
        return " (time of its first event; no START event arrived)"
    if name == "ended_at" and run.get("conflict"):
        return " (events report two different ends)"
    return ""
