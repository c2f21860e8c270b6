"""The command `runs`: lists the runs of a job or inside a run, or shows the details of one run."""

from typing import Any
from urllib.parse import quote

import click

from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_depth, print_higher_limit, print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.cli.short_names import ShortNames
from lineage_bridge.config import Settings

_FAILURE_WIDTH = 80
"""How many characters of a failure a list shows."""
_MARKS = {
    "started_inferred": ("inferred", "time of the run's first event, because no START event arrived"),
    "conflict": ("disputed", "events of the run report two different ends"),
}
"""Members of a run that say how certain one of its times is, each with the mark that is printed and its meaning."""
_MARK_OF = {"started_at": "started_inferred", "ended_at": "conflict"}
_TIMES = ("started_at", "ended_at", "last_seen", "nominal_start", "nominal_end")
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
    "--lineage", type=click.Choice(["upstream", "downstream"]), help="list the runs whose output RUN_ID read, or that read its output"
)
@click.option("--depth", type=click.IntRange(1, 20), default=1, show_default=True, help="with --lineage: number of hops")
@with_paging("runs", default=20, most=1000)
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
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
    **parameters: str | int | None,
) -> None:
    """List the runs of a job, or show one run.

    Lists are sorted newest first. To show one run, give its id.
    """
    _check_arguments(names, [tree, bool(lineage), children], offset)
    is_list = len(names) == 2 or children
    with connect(settings) as client:
        if is_list:
            job = dict(zip(("namespace", "name"), names, strict=True)) if len(names) == 2 else {"parent": names[0]}
            answer = client.query("/api/v1/graph/runs", "runs", limit=limit, offset=offset, names=style, **job, **parameters)
        else:
            answer = _get_run(client, names[0], tree=tree, lineage=lineage, depth=depth, limit=limit, style=style)
    if as_json:
        print_json(answer)
        return
    answer = use_preferred_names(answer)
    if is_list:
        _print_runs(answer, of_one_job=not children)
        print_next_page(exists=client.has_next_page or answer["truncated"], limit=limit, offset=offset)
    elif lineage:
        _print_run_links(answer, depth)
    elif tree:
        _print_runs(answer, of_one_job=False)
        print_higher_limit("runs", exists=answer["truncated"])
    else:
        for run in answer["runs"]:
            _print_run(run)


def _check_arguments(names: tuple[str, ...], around: list[bool], offset: int) -> None:
    """Raise UsageError for arguments that contradict each other. `around`: whether --tree, --lineage and --children are given."""
    if len(names) > 2:
        raise click.UsageError("name a job by NAMESPACE NAME, or a run by its id")
    if len(names) == 2 and any(around):
        raise click.UsageError("--tree, --children and --lineage need the id of a run")
    if sum(around) > 1:
        raise click.UsageError("give one of --tree, --children and --lineage")
    if offset and any(around[:2]):
        raise click.UsageError("--tree and --lineage have no --offset; raise --limit instead")


def _get_run(client: Client, run_id: str, *, tree: bool, lineage: str | None, depth: int, limit: int, style: str) -> Json:
    """Fetch a run, the tree of runs below it, or the runs up- or downstream of it."""
    path = f"/api/v1/graph/runs/{quote(run_id, safe='')}"
    if lineage:
        return client.query(f"{path}/lineage", direction=lineage, depth=depth, limit=limit, names=style)
    return client.query(f"{path}/tree", limit=limit, names=style) if tree else client.query(path, names=style)


def _print_run_links(answer: dict[str, Any], depth: int) -> None:
    short = ShortNames(run["job"] for run in answer["runs"])
    jobs = {run["run_id"]: short(run["job"]) for run in answer["runs"]}
    rows = []
    for link in answer["links"]:
        dataset = f"{link['dataset']['namespace']} {link['dataset']['name']}"
        ends = [[link[end], jobs.get(link[end], "")] for end in ("producer", "consumer")]
        rows.append([*ends[0], dataset, *ends[1], link["by"]])
    if rows:
        print_table(["written by", "writer job", "dataset", "read by", "reader job", "evidence"], rows)
    elif not answer["truncated"]:
        print_message(f"no {answer['direction']} runs found")
    print_higher_limit("runs", exists=answer["truncated"])
    if not answer["truncated"]:
        print_depth([run.get("depth") for run in answer["runs"]], depth)


def _print_runs(answer: dict[str, Any], *, of_one_job: bool) -> None:
    if not answer["runs"]:
        print_message("no runs found")
        return
    columns = ["run", "job", "state", "started", "ended", "last seen"]
    short = ShortNames(run["job"] for run in answer["runs"])
    rows = [_row(run, short) for run in answer["runs"]]
    if any("failures" in run for run in answer["runs"]):
        columns.append("failure")
        rows = [[*row, _first_failure(run)] for row, run in zip(rows, answer["runs"], strict=True)]
    if of_one_job:
        del columns[1]
        rows = [[row[0], *row[2:]] for row in rows]
    if all(run.get("ended_at") == run["last_seen"] for run in answer["runs"]):
        rows = [[cell for column, cell in zip(columns, row, strict=True) if column != "last seen"] for row in rows]
        columns.remove("last seen")
    print_table(columns, rows)
    if any(_is_shortened(run) for run in answer["runs"]):
        print_message("some failures are shortened; lineage-bridge runs RUN_ID shows the whole text")
    for name, (mark, meaning) in _MARKS.items():
        if any(run.get(name) for run in answer["runs"]):
            print_message(f"{mark}: {meaning}")


def _row(run: dict[str, Any], short: ShortNames) -> list[str]:
    indent = "  " * run.get("depth", 0)
    times = [_marked_time(run, name) for name in ("started_at", "ended_at", "last_seen")]
    return [indent + run["run_id"], short(run["job"]), _state(run), *times]


def _marked_time(run: dict[str, Any], name: str) -> str:
    time = format_time(run.get(name, ""))
    mark = _MARK_OF.get(name, "")
    return f"{time} ({_MARKS[mark][0]})" if time and mark and run.get(mark) else time


def _first_failure(run: dict[str, Any]) -> str:
    """The first line of the first reason for a failure, and the number of further reasons."""
    first, *others = run.get("failures", [""])
    line = first.partition("\n")[0]
    shown = line if len(line) <= _FAILURE_WIDTH else line[: _FAILURE_WIDTH - 3] + "..."
    return f"{shown} (and {len(others)} more)" if others else shown


def _is_shortened(run: dict[str, Any]) -> bool:
    return len(run.get("failures", [])) > 1 or any("\n" in reason or len(reason) > _FAILURE_WIDTH for reason in run.get("failures", []))


def _state(run: dict[str, Any]) -> str:
    """The state of a run as text, with the liveness if it is streaming."""
    state = "unobserved" if run.get("unobserved") else str(run["state"])
    return f"{state} ({run['liveness']})" if "liveness" in run else state


def _print_run(run: dict[str, Any]) -> None:
    print_line(f"run {run['run_id']} of {run['job']['namespace']} {run['job']['name']}: {_state(run)}")
    for name in ("raw_id", "started_at", "ended_at", "last_seen", "nominal_start", "nominal_end", "parent_run_id", "root_run_id"):
        if run.get(name):
            shown = format_time(run[name]) if name in _TIMES else run[name]
            print_line(f"  {name.replace('_', ' ')}: {shown}{_note(run, name)}")
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
    mark = _MARK_OF.get(name, "")
    return f" ({_MARKS[mark][1]})" if mark and run.get(mark) else ""
