"""The command `status`: shows the state of a running server, its sources, its inputs and its targets."""

import click
from rich.filesize import decimal

from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_table
from lineage_bridge.cli.input import describe_reading
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.source import describe_problem
from lineage_bridge.cli.target import describe_failure, describe_lag
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("status",))
@with_output("print the server's answers as JSON")
@with_settings(*CLIENT)
@click.pass_context
def status(context: click.Context, settings: Settings, as_json: bool) -> None:
    """Show the state of parts, sources, inputs and targets.

    The exit code is 1 if the server is not ready, or damage to its log is not acknowledged. Failing sources, inputs and targets do not
    change the exit code.
    """
    with connect(settings) as client:
        answer = client.readiness()
        sources, inputs = client.get("/api/v1/sources")["sources"], client.get("/api/v1/inputs")["inputs"]
        targets = client.get("/api/v1/targets")["targets"]
    if as_json:
        print_json({**answer, "sources": sources, "inputs": inputs, "targets": targets})
    else:
        _print_status(settings.address, answer, sources, inputs, targets)
    if not answer["ready"] or answer["log"]["unacknowledged"]:
        context.exit(1)


def _print_status(address: str, answer: Json, sources: list[Json], inputs: list[Json], targets: list[Json]) -> None:
    state, detail = _completeness(answer)
    print_line(
        f"{address} is {'ready' if answer['ready'] else 'not ready'}{'' if answer['lag']['caught_up'] else f'; answers are {state}'}"
    )
    disk = answer["disk"]
    rows = [[name, part["state"], part["detail"]] for name, part in answer["parts"].items()]
    rows.append(["answers", state, detail])
    rows.append(["disk", "", f"the log uses {decimal(disk['used_bytes'])}, {decimal(disk['free_bytes'])} are free"])
    rows += [[f"source {source['name']}", source["state"], describe_problem(source)] for source in sources]
    rows += [[f"input {item['name']}", item["state"], describe_reading(item)] for item in inputs]
    rows += [[f"target {item['name']}", item.get("continuous", item)["state"], _describe_target(item)] for item in targets]
    print_table(["part", "state", "detail"], rows)


def _describe_target(item: Json) -> str:
    if "continuous" not in item:
        return str(item.get("last_error", ""))
    stands = item["continuous"]
    return describe_failure(stands) or f"lag: {describe_lag(stands)}; last success: {stands.get('last_success_at', 'never')}"


def _completeness(answer: Json) -> tuple[str, str]:
    """How complete the answers are: a state, and a sentence."""
    lag = answer["lag"]
    if lag["bytes"] < 0:
        return "unknown", "the log and the graph do not match"
    if lag["bytes"] > 0:
        return "lagging", f"{decimal(lag['bytes'])} of events are not in the answers yet"
    if not lag["caught_up"] and not answer["settling"]:
        return "lagging", "the pipeline has not read all events from the topic of the intake yet"
    if answer["settling"]:
        return "settling", "all events are in the answers, but not all flows are computed yet"
    return "complete", "all events are in the answers"
