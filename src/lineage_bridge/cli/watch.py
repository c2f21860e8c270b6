"""The command `watch`: polls a source continuously, and prints its polls and the changes of the graph."""

import json
import time

import click

from lineage_bridge.cli.causes import format_scopes, group_by_cause
from lineage_bridge.cli.changes import PATH as CHANGES
from lineage_bridge.cli.changes import describe_change
from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, print_json_line, print_line, print_message
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.pushes import run_pushes, targets_of, with_pushes
from lineage_bridge.config import Settings
from lineage_bridge.errors import GoneError, RequestError, UnavailableError

KIND = "confluent"
CHECK_S = 1.0
_PAGE = 1000


@click.command(cls=Command, examples=("watch", "watch --source cloud --interval 60 --env env-abc123"))
@click.option("--source", metavar="NAME", help="name of the source [default: the only one of kind confluent]")
@click.option("--interval", type=click.FloatRange(1, 86_400), metavar="S", help="set the seconds between two polls")
@click.option(
    "--env", "--environment", "environments", multiple=True, metavar="ID", help="restrict the source to this environment; can be repeated"
)
@click.option("--polls", type=click.IntRange(1), metavar="N", help="stop after this many polls")
@with_pushes("after a poll that found changes", push_uc="databricks_uc", push_glue="aws_glue")
@with_output("print one JSON object per line: a poll, a change or a push")
@with_settings(*CLIENT)
@click.pass_context
def watch(
    context: click.Context,
    settings: Settings,
    source: str | None,
    interval: float | None,
    environments: tuple[str, ...],
    polls: int | None,
    pushes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Poll a source continuously, and print what changes.

    Resumes the source if it is paused. --interval and --env change its settings. The server keeps polling after Ctrl+C, but only publishes
    to targets with publish=continuous then.

    With --polls, the exit code is 1 if a change that was found was not published.
    """
    with connect(settings) as client:
        targets = targets_of(client, pushes)
        item = _prepare_source(client, source, interval, environments)
        cursor = _latest_cursor(client)
        print_message(f"{item['name']} is polled every {_interval_of(client, item):g} s; Ctrl+C stops watching, not polling")
        if not _follow(client, item, cursor, polls, targets, as_json=as_json):
            context.exit(1)


def _follow(client: Client, seen: Json, cursor: str | None, left: int | None, targets: list[str], *, as_json: bool) -> bool:
    """Print polls and changes, until `left` polls are printed. Waits for a server that does not respond.

    Changes that a poll found are published to `targets` as soon as the graph contains them. After each poll, failed publications are tried
    again. Returns whether everything was published.
    """
    unreachable, is_due, may_try = False, False, False
    while left is None or left > 0 or may_try:
        time.sleep(CHECK_S)
        try:
            item = client.get(f"/api/v1/sources/{seen['name']}")
            if item["polls"] > seen["polls"]:
                _print_poll(seen, item, as_json=as_json)
                may_try = is_due = is_due or (bool(targets) and item["events"] > seen["events"])
                seen, left = item, None if left is None else left - 1
            cursor, unreachable = _print_changes(client, cursor, as_json=as_json), False
            if may_try and not client.lag():
                may_try, is_due = False, not _push(client, targets, as_json=as_json)
        except UnavailableError as error:
            if not unreachable:
                print_message(f"{error}; waiting for the server")
            unreachable = True
    return not is_due


def _push(client: Client, targets: list[str], *, as_json: bool) -> bool:
    """Publish to the targets. Returns whether everything was published."""
    reports, is_pushed = run_pushes(client, targets, as_json=as_json)
    if as_json:
        print_json_line({"pushes": reports})
    return is_pushed


def _prepare_source(client: Client, source: str | None, interval: float | None, environments: tuple[str, ...]) -> Json:
    """Apply the requested settings to the source, and resume it if it is paused. Returns the source. Raises RequestError."""
    item = _find_source(client.get("/api/v1/sources")["sources"], source)
    requested = dict(item["settings"])
    if interval is not None:
        requested["interval_s"] = interval
    if environments:
        requested["environments"] = list(environments)
    if requested != item["settings"]:
        if item["origin"] == "file":
            raise RequestError(f"source {item['name']!r} is defined in the settings file", "change interval_s and environments there")
        order = {"name": item["name"], "kind": item["kind"], "settings": requested, "replace": True}
        item = client.post("/api/v1/sources", json.dumps(order).encode())
    if item["state"] == "paused":
        item = client.post(f"/api/v1/sources/{item['name']}/resume")
    return item


def _find_source(items: list[Json], source: str | None) -> Json:
    found = [item for item in items if (item["name"] == source if source else item["kind"] == KIND)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RequestError(
            f"there are {len(found)} sources of kind {KIND}", f"choose one: --source {' or '.join(item['name'] for item in found)}"
        )
    raise RequestError(
        f"there is no source {source or f'of kind {KIND}'}",
        "add one with lineage-bridge source add NAME confluent, or set LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_KEY and _SECRET for the server",
    )


def _interval_of(client: Client, item: Json) -> float:
    if "interval_s" in item["settings"]:
        return float(item["settings"]["interval_s"])
    kinds = client.get("/api/v1/source-kinds")["kinds"]
    return next(
        float(setting["default"])
        for kind in kinds
        if kind["kind"] == item["kind"]
        for setting in kind["settings"]
        if setting["name"] == "interval_s"
    )


def _print_poll(before: Json, item: Json, *, as_json: bool) -> None:
    if as_json:
        print_json_line({"poll": item})
        return
    if item["state"] == "failing":
        print_line(f"{item['last_poll_at']} failed: {item['last_error']['message']}")
        return
    sent = format_count(item["events"] - before["events"], "event")
    unseen = f", {len(item['unseen'])} objects not readable" if item["unseen"] else ""
    print_line(f"{item['last_poll_at']} {sent}, took {item.get('took_s', 0):.1f} s{unseen}")
    was, now = ({unseen["what"]: unseen["why"] for unseen in state["unseen"]} for state in (before, item))
    for cause, scopes in group_by_cause((what, now[what]) for what in sorted(now.keys() - was.keys())):
        print_line(f"  not readable: {format_scopes(scopes)}: {cause}")
    if visible := sorted(was.keys() - now.keys()):
        print_line(f"  readable again: {format_scopes(visible)}")


def _latest_cursor(client: Client) -> str | None:
    """The cursor after the newest change; None before there is a graph."""
    try:
        return str(client.get(CHANGES, after="now")["next"])
    except UnavailableError:
        return None


def _print_changes(client: Client, cursor: str | None, *, as_json: bool) -> str | None:
    """Print the changes after a cursor. Returns the next cursor."""
    try:
        answer = client.get(CHANGES, after=cursor, limit=_PAGE)
    except GoneError:
        print_message("some changes are missing here, because the graph was recomputed")
        return _latest_cursor(client)
    for change in answer["changes"]:
        if as_json:
            print_json_line({"change": change})
        else:
            print_line(f"  {describe_change(change)}")
    return str(answer["next"])
