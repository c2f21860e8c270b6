"""The command `publish`: plans and publishes lineage to a target. The server starts the process `publication`, which does the work."""

import json
import threading
import time

import click

from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLIENT, FOLDER, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError

POLL_S = 0.3
CANCEL_S = 30.0
_flags = (
    click.option("--prune", is_flag=True, help="delete objects in the target that have left the graph, if LineageBridge created them"),
    click.option(
        "--overwrite",
        is_flag=True,
        help="also replace what others created, changed or removed there, and try again what was refused",
    ),
)


@click.command(cls=Command, examples=("publish catalog --plan", "publish catalog", "publish catalog --prune"))
@click.argument("name")
@click.option("--plan", "--dry-run", "plan", is_flag=True, help="print the changes that would be made in the target, and make none")
@_flags[0]
@_flags[1]
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def publish(context: click.Context, settings: Settings, name: str, plan: bool, prune: bool, overwrite: bool, as_json: bool) -> None:
    """Publish the graph to the target NAME, where the two differ.

    Only objects that LineageBridge created are ever deleted. Changes that others made in the target are listed, and stay unless you use
    --overwrite. Ctrl+C cancels the publication.

    The exit code is 1 if an operation was refused or failed.
    """
    with connect(settings) as client:
        report = publish_to(client, name, plan=plan, prune=prune, overwrite=overwrite)
    print_json(report) if as_json else print_report(report)
    if not is_published(report):
        context.exit(1)


def publish_to(client: Client, name: str, *, plan: bool, prune: bool, overwrite: bool) -> Json:
    """Publish to a target, or make a plan for it, and return the report at the end. Ctrl+C cancels it."""
    order = {"plan_only": plan, "prune": prune, "overwrite": overwrite}
    client.post(f"/api/v1/targets/{name}/publish", json.dumps(order).encode())
    return _until_ended(client, name)


def is_published(report: Json) -> bool:
    """Whether a plan or publication ended without a refused or failed operation."""
    return report["state"] == "done" and not report["outcomes"].keys() - {"done"}


@click.command(cls=Command, hidden=True)
@click.argument("name")
@click.option("--plan", is_flag=True)
@_flags[0]
@_flags[1]
@with_settings(*FOLDER)
def publication(settings: Settings, name: str, plan: bool, prune: bool, overwrite: bool) -> None:
    """Publish to the target NAME. A byte on standard input, or the end of standard input, cancels the publication."""
    from lineage_bridge.wiring.processes import configure_telemetry, end_with_parent  # noqa: PLC0415  # `publish` needs none of it
    from lineage_bridge.wiring.targets.publishing import publish as run  # noqa: PLC0415  # as above

    configure_telemetry(settings, "publication")
    stop = threading.Event()
    end_with_parent(stop.set)
    run(settings, name, plan_only=plan, prune=prune, overwrite=overwrite, stop=stop)


def _until_ended(client: Client, name: str) -> Json:
    """Wait for the end of a publication, and return its report. Ctrl+C cancels it."""
    try:
        while (report := client.get(f"/api/v1/targets/{name}/publication"))["state"] == "running":
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        _cancel(client, name)
        raise
    return report


def _cancel(client: Client, name: str) -> None:
    try:
        client.post(f"/api/v1/targets/{name}/cancel")
        until = time.monotonic() + CANCEL_S
        while (state := client.get(f"/api/v1/targets/{name}/publication")["state"]) == "running" and time.monotonic() < until:
            time.sleep(POLL_S)
    except LineageBridgeError as error:
        print_message(f"the publication was not cancelled, and may still be running: {error}")
        return
    ending = {"cancelled": "cancelled", "running": "the publication is still ending"}.get(
        state, f"the publication had already ended: {state}"
    )
    print_message(f"{ending}; `lineage-bridge target show {name}` shows what was published")


def print_report(report: Json) -> None:
    """Print a plan, or the result of a publication."""
    columns = ["action", "kind", "namespace", "name", "reason", "outcome"]
    rows = [[*(item[column] for column in columns[:-1]), _outcome(item)] for item in report["operations"]]
    if rows:
        print_table(columns, rows)
    for finding in report["drift"]:
        print_line(f"drift: {finding['kind']} {finding['namespace']} {finding['name']} {finding['finding']}")
    for left_out, what in ((report["operations_left_out"], "operation"), (report["drift_left_out"], "finding")):
        if left_out:
            print_line(f"{format_count(left_out, what)} more not listed")
    for reason, count in (
        *report["kept"].items(),
        *((f"not expressible in the target: {k}", n) for k, n in report["not_expressible"].items()),
    ):
        print_line(f"{count} {reason}")
    for unmatched in report.get("unmatched", ()):
        print_line(f"nothing in the graph matches the filter {unmatched}")
    counted = report["counts"] if report["plan_only"] else report["outcomes"]
    summary = ", ".join(f"{count} {_past(what)}" for what, count in counted.items()) or "nothing to do"
    print_line(f"{'plan' if report['plan_only'] else report['state']}: {summary}; {report['unchanged']} of {report['desired']} unchanged")
    if "error" in report:
        print_line(f"error: {report['error']}" + (f" ({report['hint']})" if "hint" in report else ""))


def _past(what: str) -> str:
    return {"create": "to create", "update": "to update", "delete": "to delete", "not_tried": "not tried"}.get(what, what)


def _outcome(item: Json) -> str:
    return f"{item['outcome']}: {item['detail']}" if item["detail"] else str(item["outcome"])
