"""`source`: what is observed from outside."""

import json
import time
from typing import Any

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import counted, say, write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError, UnavailableError

PATIENCE_S, TICK_S = 120.0, 0.3
_ORIGINS = {"file": "in the settings file", "environment": "in the environment", "added": "added"}
_json_flag = click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
_name = click.argument("name")


@click.group(
    cls=Group,
    examples=(
        "source kinds connect",
        "source add cdc connect url=http://connect:8083 token='${env:CONNECT_TOKEN}'",
        "source test cdc",
    ),
)
def source() -> None:
    """Say what is observed from outside, and how it fares.

    That is Kafka, Kafka Connect, schema registries, Flink, ksqlDB.

    Sources may also stand in the settings file: docs/sources.md.
    """


@source.command(examples=("source kinds", "source kinds kafka"))
@click.argument("kind", required=False)
@_json_flag
@with_settings(*CLIENT)
def kinds(settings: Settings, kind: str | None, as_json: bool) -> None:
    """List what can be observed, or what can be set of a KIND."""
    with Client(settings.address) as client:
        found = client.get("/api/v1/source-kinds")["kinds"]
    chosen = [item for item in found if kind in (None, item["kind"])]
    if kind is not None and not chosen:
        raise RequestError(f"there is no kind of source {kind!r}", f"there are {', '.join(item['kind'] for item in found)}")
    if as_json:
        write_json(chosen)
    elif kind is None:
        write_table(["kind", ""], [[item["kind"], item["description"]] for item in chosen])
    else:
        write(chosen[0]["description"])
        write_table(["setting", "default", ""], [_setting(item) for item in chosen[0]["settings"]])


@source.command(
    examples=(
        "source add prod kafka bootstrap_servers=broker-1:9092,broker-2:9092",
        "source add cdc connect url=http://connect:8083 interval_s=30",
    )
)
@_name
@click.argument("kind")
@click.argument("settings_", nargs=-1, metavar="SETTING=VALUE...")
@click.option("--replace", is_flag=True, help="write a source of this name anew")
@_json_flag
@with_settings(*CLIENT)
def add(settings: Settings, name: str, kind: str, settings_: tuple[str, ...], replace: bool, as_json: bool) -> None:
    """Add the source NAME. It is polled at once.

    A value may be JSON. Secrets are references, read where the server runs: docs/secrets.md.
    """
    order = {"name": name, "kind": kind, "settings": dict(map(_said, settings_)), "replace": replace}
    with Client(settings.address) as client:
        said = client.post("/api/v1/sources", json.dumps(order).encode())
    if as_json:
        write_json(said)
    else:
        write(f"{name} is added; see: lineage-bridge source test {name}, lineage-bridge source list")


@source.command(name="list", examples=("source list", "source list cdc"))
@click.argument("name", required=False)
@_json_flag
@with_settings(*CLIENT)
def list_(settings: Settings, name: str | None, as_json: bool) -> None:
    """List all sources and how each fares, or tell all of the source NAME."""
    with Client(settings.address) as client:
        said = client.get(f"/api/v1/sources/{name}") if name else client.get("/api/v1/sources")
    if as_json:
        write_json(said)
    elif name:
        _tell(said)
    elif said["sources"]:
        write_table(["source", "kind", "state", "last success", "next poll", "events", ""], [_row(item) for item in said["sources"]])
    else:
        say("nothing is observed; see: lineage-bridge source add --help")


@source.command(examples=("source test cdc",))
@_name
@_json_flag
@with_settings(*CLIENT)
@click.pass_context
def test(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Try each step that observing the source NAME takes.

    The exit code is 1 if one fails.
    """
    with Client(settings.address) as client:
        said = client.post(f"/api/v1/sources/{name}/test")
    if as_json:
        write_json(said)
    else:
        write_table(["", "step", ""], [["ok" if check["works"] else "FAILS", check["step"], _sentence(check)] for check in said["checks"]])
    if not said["works"]:
        context.exit(1)


@source.command(examples=("source pause cdc",))
@_name
@with_settings(*CLIENT)
def pause(settings: Settings, name: str) -> None:
    """Poll the source NAME no more, until it is resumed."""
    with Client(settings.address) as client:
        client.post(f"/api/v1/sources/{name}/pause")
    write(f"{name} is paused")


@source.command(examples=("source resume cdc",))
@_name
@with_settings(*CLIENT)
def resume(settings: Settings, name: str) -> None:
    """Let the paused source NAME go on, at once."""
    with Client(settings.address) as client:
        client.post(f"/api/v1/sources/{name}/resume")
    write(f"{name} goes on")


@source.command(examples=("source remove cdc",))
@_name
@with_settings(*CLIENT)
def remove(settings: Settings, name: str) -> None:
    """Take the source NAME away. What it told stays in the graph."""
    with Client(settings.address) as client:
        client.delete(f"/api/v1/sources/{name}")
    write(f"{name} is removed; what it told stays")


@source.command(examples=("source poll cdc",))
@_name
@_json_flag
@with_settings(*CLIENT)
@click.pass_context
def poll(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Have the source NAME polled now, and tell what came of it.

    The exit code is 1 if it failed.
    """
    with Client(settings.address) as client:
        before = client.post(f"/api/v1/sources/{name}/poll")
        said, until = before, time.monotonic() + PATIENCE_S
        while said["polls"] == before["polls"]:
            if time.monotonic() > until:
                raise UnavailableError(
                    f"{name} was not polled within {PATIENCE_S:g} s", "does `lineage-bridge observe` run? serve starts it"
                )
            time.sleep(TICK_S)
            said = client.get(f"/api/v1/sources/{name}")
    if as_json:
        write_json(said)
    else:
        _tell(said, counted(said["events"] - before["events"], "event"))
    if said["state"] == "failing":
        context.exit(1)


def trouble(item: Json) -> str:
    """What is wrong with a source, in a few words; empty if nothing is."""
    if item["state"] == "failing":
        return str(item["last_error"]["message"])
    return f"{len(item['unseen'])} unseen" if item["unseen"] else ""


def _said(text: str) -> tuple[str, Any]:
    """SETTING=VALUE; a value that is JSON counts as such, any other as text."""
    setting, equals, value = text.partition("=")
    if not equals or not setting:
        raise RequestError(f"{text!r} is no SETTING=VALUE", "such as url=http://connect:8083")
    try:
        return setting, json.loads(value)
    except ValueError:
        return setting, value


def _setting(item: Json) -> list[str]:
    shown = "(required)" if item["required"] else "" if item["default"] in (None, "") else json.dumps(item["default"])
    return [item["name"], shown, item["description"]]


def _row(item: Json) -> list[str]:
    return [
        item["name"],
        item["kind"],
        item["state"],
        item.get("last_success_at", "never"),
        item.get("next_poll_at", ""),
        str(item["events"]),
        trouble(item),
    ]


def _tell(item: Json, new: str = "") -> None:
    write(f"{item['name']} ({item['kind']}, {_ORIGINS[item['origin']]}): {item['state']}")
    for setting, value in item["settings"].items():
        write(f"  {setting} = {value if isinstance(value, str) else json.dumps(value)}")
    took = f", took {item['took_s']:.1f} s" if "took_s" in item else ""
    told = f"{counted(item['polls'], 'poll')}, {counted(item['events'], 'event')} in all"
    write(f"last success {item.get('last_success_at', 'never')}{took}; {told}")
    if new:
        write(f"this poll told {new}")
    if "next_poll_at" in item:
        write(f"next poll {item['next_poll_at']}")
    if "last_error" in item:
        failing = f", failing since {item['failing_since']}" if "failing_since" in item else ", over"
        hint = f" ({item['last_error']['hint']})" if item["last_error"]["hint"] else ""
        write(f"last error {item['last_error']['at']}{failing}: {item['last_error']['message']}{hint}")
    if item["unseen"]:
        write_table(["unseen", "since", "why"], [[unseen["what"], unseen["since"], unseen["why"]] for unseen in item["unseen"]])


def _sentence(check: Json) -> str:
    return f"{check['told']} ({check['hint']})" if check["hint"] else str(check["told"])
