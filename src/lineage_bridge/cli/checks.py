"""Functions that the commands `source`, `input` and `target` share: test, pause, resume or remove one of them."""

import click

from lineage_bridge.cli.causes import format_scopes, group_by_cause
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.console import print_json, print_line, print_table
from lineage_bridge.config import Settings


def run_test(context: click.Context, settings: Settings, path: str, *, as_json: bool) -> None:
    """Test the source, input or target at an API path, and print the steps. The exit code is 1 if a step fails."""
    with connect(settings) as client:
        answer = client.post(f"{path}/test")
    if as_json:
        print_json(answer)
    else:
        print_table(["result", "step", "detail"], check_rows(answer["checks"]))
    if not answer["works"]:
        context.exit(1)


def pause_or_resume(settings: Settings, path: str, change: str, line: str, *, as_json: bool) -> None:
    """Pause or resume (`change`) the source, input or target at an API path, and print a line."""
    with connect(settings) as client:
        answer = client.post(f"{path}/{change}")
    print_json(answer) if as_json else print_line(line)


def remove_one(settings: Settings, path: str, line: str, *, as_json: bool) -> None:
    """Remove the source, input or target at an API path, and print a line."""
    with connect(settings) as client:
        answer = client.delete(path)
    print_json(answer) if as_json else print_line(line)


def check_rows(checks: list[Json]) -> list[list[str]]:
    """The rows of a table with test results: one for each step. Similar steps with the same result, such as the same error, share a row."""
    details = {check["step"]: f"{check['told']} ({check['hint']})" if check["hint"] else check["told"] for check in checks}
    working: dict[tuple[str, str], list[str]] = {}
    for check in checks:
        if check["works"]:
            working.setdefault((check["step"].split(" ")[0], details[check["step"]]), []).append(check["step"])
    rows = [["ok", format_scopes(steps), detail] for (_, detail), steps in working.items()]
    for result, skipped in (("FAILS", False), ("not observed", True)):
        chosen = ((check["step"], details[check["step"]]) for check in checks if not check["works"] and check["skipped"] == skipped)
        causes = group_by_cause(chosen, (check["step"] for check in checks))
        rows += [[result, format_scopes(steps), detail] for detail, steps in causes]
    return rows
