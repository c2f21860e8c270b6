"""`task`: extractions that run or ran."""

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.extract import TASKS, code_of, follow, tell
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings

_json_flag = click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
_id = click.argument("task_id", metavar="TASK")


@click.group(cls=Group, examples=("task list --status running", "task show TASK"))
def task() -> None:
    """See extractions, cancel and resume them."""


@task.command(name="list", examples=("task list", "task list --status failed"))
@click.option("--status", type=click.Choice(("pending", "running", "completed", "failed")), help="only these")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="at most so many")
@_json_flag
@with_settings(*CLIENT)
def list_(settings: Settings, status: str | None, limit: int, as_json: bool) -> None:
    """List tasks, the newest first."""
    with Client(settings.address) as client:
        found = client.get(TASKS, status=status, limit=limit)
    if as_json:
        write_json(found)
    elif found:
        rows = [
            [
                one["task_id"],
                one["source"],
                one["status"],
                one["created_at"],
                str(one["events"]),
                str(len(one["unknown"])),
                one["error"] or "",
            ]
            for one in found
        ]
        write_table(["task", "source", "status", "created", "events", "unknown", ""], rows)
    else:
        say("there are no tasks; see: lineage-bridge extract --help")


@task.command(examples=("task show TASK",))
@_id
@_json_flag
@with_settings(*CLIENT)
def show(settings: Settings, task_id: str, as_json: bool) -> None:
    """Tell how far a task is, and what came of each plane."""
    with Client(settings.address) as client:
        found = client.get(f"{TASKS}/{task_id}")
    if as_json:
        write_json(found)
        return
    for line in found["progress"]:
        write(line)
    tell(found)


@task.command(examples=("task cancel TASK",))
@_id
@with_settings(*CLIENT)
def cancel(settings: Settings, task_id: str) -> None:
    """Stop a task soon. What it has told stays."""
    with Client(settings.address) as client:
        client.post(f"{TASKS}/{task_id}/cancel")
    write(f"{task_id} is cancelled; go on with: lineage-bridge extract --resume {task_id}")


@task.command(examples=("task resume TASK",))
@_id
@_json_flag
@with_settings(*CLIENT)
@click.pass_context
def resume(context: click.Context, settings: Settings, task_id: str, as_json: bool) -> None:
    """Go on with a task that was cancelled or interrupted, and follow it.

    As `extract --resume`, with its exit codes.
    """
    with Client(settings.address) as client:
        ended = follow(client, client.post(f"{TASKS}/{task_id}/resume"))
    if as_json:
        write_json(ended)
    else:
        tell(ended)
    context.exit(code_of(ended))
