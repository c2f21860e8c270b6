"""The command `task`: lists, shows, cancels and resumes extractions and enrichments."""

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.extract import TASKS, exit_code, follow_task, print_task
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

_id = click.argument("task_id", metavar="TASK")


@click.group(cls=Group, examples=("task list --status running", "task show TASK"))
def task() -> None:
    """List, show, cancel and resume extractions and enrichments."""


@task.command(name="list", examples=("task list", "task list --status failed"))
@click.option("--status", type=click.Choice(("pending", "running", "completed", "failed")), help="only tasks with this status")
@with_paging("tasks", default=20, most=500)
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, status: str | None, limit: int, offset: int, as_json: bool) -> None:
    """List tasks, newest first."""
    with connect(settings) as client:
        found = client.get(TASKS, status=status, limit=limit, offset=offset)
    if as_json:
        print_json(found)
    elif found:
        rows = [
            [
                item["task_id"],
                item["source"],
                item["status"],
                format_time(item["created_at"]),
                str(item["events"]),
                str(len(item["unknown"])),
                item["error"] or "",
            ]
            for item in found
        ]
        print_table(["task", "source", "status", "created", "events", "unknown", "error"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("there are no tasks; see: lineage-bridge extract --help, lineage-bridge enrich --help")


@task.command(examples=("task show TASK",))
@_id
@with_output()
@with_settings(*CLIENT)
def show(settings: Settings, task_id: str, as_json: bool) -> None:
    """Show the progress of a task, and the result of each plane."""
    with connect(settings) as client:
        found = client.get(f"{TASKS}/{task_id}")
    if as_json:
        print_json(found)
        return
    for line in found["progress"]:
        print_line(line)
    print_task(found)


@task.command(examples=("task cancel TASK",))
@_id
@with_output()
@with_settings(*CLIENT)
def cancel(settings: Settings, task_id: str, as_json: bool) -> None:
    """Cancel a task. The events that it has sent stay in the graph."""
    with connect(settings) as client:
        answer = client.post(f"{TASKS}/{task_id}/cancel")
    print_json(answer) if as_json else print_line(f"{task_id} is cancelled; resume it with: lineage-bridge task resume {task_id}")


@task.command(examples=("task resume TASK",))
@_id
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def resume(context: click.Context, settings: Settings, task_id: str, as_json: bool) -> None:
    """Resume a cancelled or interrupted task, and follow it.

    Exit codes are those of `extract` and `enrich`.
    """
    with connect(settings) as client:
        ended = follow_task(client, client.post(f"{TASKS}/{task_id}/resume"))
    if as_json:
        print_json(ended)
    else:
        print_task(ended)
    context.exit(exit_code(ended))
