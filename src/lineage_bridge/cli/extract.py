"""The command `extract`: extracts the lineage of a Confluent Cloud organization."""

import json
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress

import click
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lineage_bridge.cli.causes import format_scopes, group_by_cause
from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.pushes import run_pushes, targets_of, with_pushes
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError

TASKS = "/api/v1/tasks"
INCOMPLETE = 3
"""Exit code of an extraction that completed although something could not be read."""
POLL_S, CANCEL_S = 0.3, 10.0
_ENDED = ("completed", "failed")


@click.command(
    cls=Command,
    examples=("extract", "extract --env env-abc123 --off metrics", "extract --resume TASK"),
)
@click.option("--env", "--environment", "environments", multiple=True, metavar="ID", help="only this environment; can be repeated")
@click.option("--cluster", "clusters", multiple=True, metavar="ID", help="only this Kafka cluster; can be repeated")
@click.option("--source", metavar="NAME", help="name of the source, if there are several of kind confluent")
@click.option("--off", multiple=True, metavar="PLANE", help="skip this plane; can be repeated")
@click.option("--resume", "resumed", metavar="TASK", help="resume a task that was cancelled or interrupted")
@click.option(
    "--enrich/--no-enrich",
    default=None,
    help="read all catalogs that sources observe, or none; without either, those whose reading costs nothing beyond calls",
)
@with_pushes("after the extraction", push_lineage="databricks_uc")
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def extract(
    context: click.Context,
    settings: Settings,
    environments: tuple[str, ...],
    clusters: tuple[str, ...],
    source: str | None,
    off: tuple[str, ...],
    resumed: str | None,
    enrich: bool | None,
    pushes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Extract the lineage of a Confluent Cloud organization.

    The catalogs that sources observe are read too, unless a SQL warehouse would be started for it. Returns when answers contain what was
    read. Ctrl+C cancels the extraction.

    The exit code is 0 if everything was read, 3 if something could not be read, such as a catalog, 1 if the extraction failed, or what was
    to be published after it was not.
    """
    if resumed and (environments or clusters or source or off):
        raise click.UsageError("--resume cannot be combined with --env, --cluster, --source or --off")
    order: dict[str, object] = {"environment_ids": environments, "cluster_ids": clusters, "source": source, "off": off}
    order |= {} if enrich is None else {"enable_enrichment": enrich}
    with connect(settings) as client:
        targets = targets_of(client, pushes)
        path, body = (f"{TASKS}/{resumed}/resume", b"") if resumed else (f"{TASKS}/extract", json.dumps(order).encode())
        task = client.post(path, body)
        enrichments = () if resumed else task["enrichments"]
        try:
            task = follow_task(client, task)
        except KeyboardInterrupt:
            _cancel(client, *enrichments)
            raise
        if not as_json:
            print_task(task)
            for line in task["progress"]:
                if line.startswith("catalog ") and " is left out: " in line:
                    print_line(line)
        catalogs = follow_catalogs(client, enrichments, as_json=as_json)
        reports, is_pushed = run_pushes(client, targets, as_json=as_json) if task["status"] == "completed" else ({}, True)
    if as_json:
        print_json(task | ({"catalogs": catalogs} if catalogs else {}) | ({"pushes": reports} if pushes else {}))
    code = exit_code(task) or (INCOMPLETE if exit_code(*catalogs) else 0)  # a catalog that cannot be read fails no extraction
    context.exit(code if is_pushed else 1)


def follow_task(client: Client, task: Json) -> Json:
    """Show the progress of a task until it ends, and return the ended task. Ctrl+C cancels the task."""
    id_, screen = task["task_id"], console(err=True)
    printed: set[str] = set()
    print_message(f"task {id_}")
    live = Live(_progress(task), console=screen, refresh_per_second=4, transient=True) if screen.is_terminal else None
    try:
        with live or nullcontext():
            while task["status"] not in _ENDED:
                time.sleep(POLL_S)
                task = client.get(f"{TASKS}/{id_}")
                if live:
                    live.update(_progress(task))
                else:
                    _print_new_progress(task, printed)
    except KeyboardInterrupt:
        _cancel(client, id_)
        raise
    return task


def follow_catalogs(client: Client, tasks: Sequence[str], *, as_json: bool) -> list[Json]:
    """Follow tasks that read catalogs until they end, print their results, and return them. Ctrl+C cancels those that have not ended."""
    ended: list[Json] = []
    for number, id_ in enumerate(tasks):
        try:
            task = follow_task(client, client.get(f"{TASKS}/{id_}"))
        except KeyboardInterrupt:
            _cancel(client, *tasks[number + 1 :])
            raise
        ended.append(task)
        if not as_json:
            print_line(f"catalog of source {task['source']}:")
            print_task(task)
    return ended


def print_task(task: Json) -> None:
    """Print the result of a task that has ended, or the progress of one that is running."""
    if task["planes"]:
        print_table(["plane", "scopes", "known", "events", "calls", "s"], _summary(task["planes"]))
    if task["unknown"]:
        print_line("not everything could be read; what was known before stays in the graph:")
        print_table(["state", "scope", "reason"], _unknown_rows(task["unknown"]))
    if task["status"] == "completed":
        size = task["result"]
        print_line(
            f"completed: {format_count(task['events'], 'event')}; the graph has {size['node_count']} nodes and {size['edge_count']} edges"
        )
    elif task["status"] == "failed":
        hint = f" ({task['hint']})" if task["hint"] else ""
        print_line(f"failed: {task['error']}{hint}")
        if task["resumable"]:
            print_line(f"resume it with: {_resume(task)}")
    else:
        print_line(f"{task['status']}: {task['progress'][-1] if task['progress'] else ''}")


def exit_code(*tasks: Json) -> int:
    """The exit code of the command for tasks that have ended."""
    if any(task["status"] == "failed" for task in tasks):
        return 1
    return INCOMPLETE if any(task["unknown"] for task in tasks) else 0


def _summary(planes: Iterable[Json]) -> list[list[str]]:
    by_kind: dict[str, list[Json]] = {}
    for plane in planes:
        by_kind.setdefault(plane["plane"], []).append(plane)
    return [
        [
            kind,
            str(len(listed)),
            str(sum(plane["state"] in ("observed", "gone") for plane in listed)),
            str(sum(plane["events"] for plane in listed)),
            str(sum(plane["requests"] for plane in listed)),
            f"{max(plane['took_s'] for plane in listed):.1f}",
        ]
        for kind, listed in by_kind.items()
    ]


def _unknown_rows(planes: Iterable[Json]) -> list[list[str]]:
    """The rows of a table with what could not be read: one for each state and reason, with the scopes to which they apply."""
    by_state: dict[str, list[tuple[str, str]]] = {}
    for plane in planes:
        hints = f" ({'; '.join(plane['hints'])})" if plane.get("hints") else ""
        failure = f"{plane['plane']} {plane['scope']}".strip(), "; ".join(plane["why"]) + hints
        by_state.setdefault(plane["state"].replace("_", " "), []).append(failure)
    every = [scope for failures in by_state.values() for scope, _ in failures]
    return [
        [state, format_scopes(scopes), cause] for state, failures in by_state.items() for cause, scopes in group_by_cause(failures, every)
    ]


def _progress(task: Json) -> Group:
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in _summary(task["planes"]):
        table.add_row(*(Text(cell) for cell in (row[0], f"{row[2]} of {row[1]}", f"{row[3]} events")))
    return Group(table, Text(f"{task['status']}  {task['progress'][-1] if task['progress'] else ''}"))


def _print_new_progress(task: Json, printed: set[str]) -> None:
    for line in task["progress"]:
        if line not in printed:
            print_message(line)
            printed.add(line)


def _resume(task: Json) -> str:
    return f"lineage-bridge {'extract --resume' if task['task_type'] == 'extract' else 'task resume'} {task['task_id']}"


def _cancel(client: Client, *ids: str) -> None:
    for id_ in ids:
        _cancel_one(client, id_)


def _cancel_one(client: Client, id_: str) -> None:
    with suppress(LineageBridgeError):
        task = client.post(f"{TASKS}/{id_}/cancel")
        until = time.monotonic() + CANCEL_S
        while task["status"] not in _ENDED and time.monotonic() < until:
            time.sleep(POLL_S)
            task = client.get(f"{TASKS}/{id_}")
        print_message(f"cancelled; resume it with: {_resume(task)}")
