"""`extract`: the lineage of an organization of Confluent Cloud, now."""

import json
import time
from collections.abc import Iterable
from contextlib import nullcontext, suppress

import click
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, counted, say, write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError

TASKS = "/api/v1/tasks"
UNKNOWN = 3
"""The exit code of an extraction that completed, although something is unknown."""
TICK_S, CANCEL_S = 0.3, 10.0
_ENDED = ("completed", "failed")


@click.command(
    cls=Command,
    examples=("extract", "extract --env env-abc123 --off metrics", "extract --resume TASK"),
)
@click.option("--env", "environments", multiple=True, metavar="ID", help="only this environment, repeatable")
@click.option("--cluster", "clusters", multiple=True, metavar="ID", help="only this Kafka cluster, repeatable")
@click.option("--source", metavar="NAME", help="the source, if there are several of kind confluent")
@click.option("--off", multiple=True, metavar="PLANE", help="leave this plane out, repeatable")
@click.option("--resume", "resumed", metavar="TASK", help="go on with a task that was cancelled or interrupted")
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
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
    as_json: bool,
) -> None:
    """Look at an organization of Confluent Cloud now.

    Ends when answers contain what was seen. Ctrl+C cancels it.

    The exit code is 0 for done, 3 for done with something unknown, 1 for failed.
    """
    if resumed and (environments or clusters or source or off):
        raise click.UsageError("--resume goes on with the task as it was ordered, and takes no other choice")
    order = {"environment_ids": environments, "cluster_ids": clusters, "source": source, "off": off}
    with Client(settings.address) as client:
        path, body = (f"{TASKS}/{resumed}/resume", b"") if resumed else (f"{TASKS}/extract", json.dumps(order).encode())
        task = follow(client, client.post(path, body))
    if as_json:
        write_json(task)
    else:
        tell(task)
    context.exit(code_of(task))


def follow(client: Client, task: Json) -> Json:
    """The task when it has ended. Its progress is shown meanwhile; an interrupt of the user's cancels it."""
    id_, screen = task["task_id"], console(err=True)
    said: set[str] = set()
    say(f"task {id_}")
    live = Live(_progress(task), console=screen, refresh_per_second=4, transient=True) if screen.is_terminal else None
    try:
        with live or nullcontext():
            while task["status"] not in _ENDED:
                time.sleep(TICK_S)
                task = client.get(f"{TASKS}/{id_}")
                if live:
                    live.update(_progress(task))
                else:
                    _say_new(task, said)
    except KeyboardInterrupt:
        _cancel(client, id_)
        raise
    return task


def tell(task: Json) -> None:
    """What came of a task that has ended, or how far it is."""
    write_table(["plane", "scopes", "known", "events", "calls", "s"], _summary(task["planes"]))
    if task["unknown"]:
        write("unknown; what was known of it before stands:")
        write_table(["plane", "scope", "", "why"], [_unknown(plane) for plane in task["unknown"]])
    if task["status"] == "completed":
        size = task["result"]
        write(f"completed: {counted(task['events'], 'event')}; the graph has {size['node_count']} nodes and {size['edge_count']} edges")
    elif task["status"] == "failed":
        hint = f" ({task['hint']})" if task["hint"] else ""
        write(f"failed: {task['error']}{hint}")
        if task["resumable"]:
            write(f"go on with: lineage-bridge extract --resume {task['task_id']}")
    else:
        write(f"{task['status']}: {task['progress'][-1] if task['progress'] else ''}")


def code_of(task: Json) -> int:
    """The exit code that an ended task gives."""
    if task["status"] == "failed":
        return 1
    return UNKNOWN if task["unknown"] else 0


def _summary(planes: Iterable[Json]) -> list[list[str]]:
    kinds: dict[str, list[Json]] = {}
    for plane in planes:
        kinds.setdefault(plane["plane"], []).append(plane)
    return [
        [
            kind,
            str(len(some)),
            str(sum(plane["state"] in ("observed", "gone") for plane in some)),
            str(sum(plane["events"] for plane in some)),
            str(sum(plane["requests"] for plane in some)),
            f"{max(plane['took_s'] for plane in some):.1f}",
        ]
        for kind, some in kinds.items()
    ]


def _unknown(plane: Json) -> list[str]:
    return [plane["plane"], plane["scope"], plane["state"].replace("_", " "), "; ".join(plane["why"])]


def _progress(task: Json) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in _summary(task["planes"]):
        table.add_row(*(Text(cell) for cell in (row[0], f"{row[2]} of {row[1]}", f"{row[3]} events")))
    table.add_row(Text(task["status"]), Text(task["progress"][-1] if task["progress"] else ""))
    return table


def _say_new(task: Json, said: set[str]) -> None:
    for line in task["progress"]:
        if line not in said:
            say(line)
            said.add(line)


def _cancel(client: Client, id_: str) -> None:
    with suppress(LineageBridgeError):
        task = client.post(f"{TASKS}/{id_}/cancel")
        until = time.monotonic() + CANCEL_S
        while task["status"] not in _ENDED and time.monotonic() < until:
            time.sleep(TICK_S)
            task = client.get(f"{TASKS}/{id_}")
        say(f"cancelled; go on with: lineage-bridge extract --resume {id_}")
