"""`watch`: have a source polled again and again, and follow what it tells."""

import json
import time

import click

from lineage_bridge.cli.changes import PATH as CHANGES
from lineage_bridge.cli.changes import describe
from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import counted, say, write, write_line
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import GoneError, RequestError, UnavailableError

KIND = "confluent"
TICK_S = 1.0
_PAGE = 1000


@click.command(cls=Command, examples=("watch", "watch --source cloud --interval 60 --env env-abc123"))
@click.option("--source", metavar="NAME", help="the source; by itself the only one of kind confluent")
@click.option("--interval", type=click.FloatRange(1, 86_400), metavar="S", help="seconds between two polls, from now on")
@click.option("--env", "environments", multiple=True, metavar="ID", help="only this environment from now on, repeatable")
@click.option("--polls", type=click.IntRange(1), metavar="N", help="end after so many polls")
@click.option("--json", "as_json", is_flag=True, help="one poll or change a line, as JSON")
@with_settings(*CLIENT)
def watch(
    settings: Settings, source: str | None, interval: float | None, environments: tuple[str, ...], polls: int | None, as_json: bool
) -> None:
    """Have a source polled continuously, and print what changes.

    A paused source is resumed; --interval and --env are written into its settings. The server goes on polling after Ctrl+C.
    """
    with Client(settings.address) as client:
        item = _see_to_it(client, source, interval, environments)
        cursor = _now(client)
        say(f"{item['name']} is polled every {_interval_of(client, item):g} s; Ctrl+C ends the watching, not the polling")
        _follow(client, item, cursor, polls, as_json=as_json)


def _follow(client: Client, seen: Json, cursor: str | None, left: int | None, *, as_json: bool) -> None:
    """Print polls and changes for ever, or until so many polls. A server that is away is waited for."""
    away = False
    while left is None or left > 0:
        time.sleep(TICK_S)
        try:
            item = client.get(f"/api/v1/sources/{seen['name']}")
            if item["polls"] > seen["polls"]:
                _tell_poll(seen, item, as_json=as_json)
                seen, left = item, None if left is None else left - 1
            cursor, away = _tell_changes(client, cursor, as_json=as_json), False
        except UnavailableError as error:
            if not away:
                say(f"{error}; waiting for it")
            away = True


def _see_to_it(client: Client, source: str | None, interval: float | None, environments: tuple[str, ...]) -> Json:
    """The source, which is polled, with the settings that were asked for. Raises RequestError."""
    item = _find(client.get("/api/v1/sources")["sources"], source)
    wanted = dict(item["settings"])
    if interval is not None:
        wanted["interval_s"] = interval
    if environments:
        wanted["environments"] = list(environments)
    if wanted != item["settings"]:
        if item["origin"] == "file":
            raise RequestError(f"source {item['name']} is in the settings file", "set interval_s and environments there")
        order = {"name": item["name"], "kind": item["kind"], "settings": wanted, "replace": True}
        item = client.post("/api/v1/sources", json.dumps(order).encode())
    if item["state"] == "paused":
        item = client.post(f"/api/v1/sources/{item['name']}/resume")
    return item


def _find(items: list[Json], source: str | None) -> Json:
    found = [item for item in items if (item["name"] == source if source else item["kind"] == KIND)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RequestError(f"there are {len(found)} sources of kind {KIND}", f"--source {' or '.join(item['name'] for item in found)}")
    raise RequestError(
        f"there is no source {source or f'of kind {KIND}'}",
        "lineage-bridge source add NAME confluent, or LINEAGE_BRIDGE_CONFLUENT_CLOUD_API_KEY and _SECRET where the server runs",
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


def _tell_poll(before: Json, item: Json, *, as_json: bool) -> None:
    if as_json:
        write_line({"poll": item})
        return
    if item["state"] == "failing":
        write(f"{item['last_poll_at']} failed: {item['last_error']['message']}")
        return
    told = counted(item["events"] - before["events"], "event")
    unseen = f", {len(item['unseen'])} unknown" if item["unseen"] else ""
    write(f"{item['last_poll_at']} {told}, took {item.get('took_s', 0):.1f} s{unseen}")
    was, now = ({one["what"]: one["why"] for one in some["unseen"]} for some in (before, item))
    for what in sorted(now.keys() - was.keys()):
        write(f"  unknown: {what}: {now[what]}")
    for what in sorted(was.keys() - now.keys()):
        write(f"  known again: {what}")


def _now(client: Client) -> str | None:
    """The cursor behind the newest change; None before there is a graph."""
    try:
        return str(client.get(CHANGES, after="now")["next"])
    except UnavailableError:
        return None


def _tell_changes(client: Client, cursor: str | None, *, as_json: bool) -> str | None:
    """Print what changed behind a cursor; the one to go on with."""
    try:
        said = client.get(CHANGES, after=cursor, limit=_PAGE)
    except GoneError:
        say("changes were missed: the graph was computed again")
        return _now(client)
    for change in said["changes"]:
        if as_json:
            write_line({"change": change})
        else:
            write(f"  {describe(change)}")
    return str(said["next"])
