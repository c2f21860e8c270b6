"""The command `source`: manages the systems that LineageBridge observes from outside."""

import json
import time

import click

from lineage_bridge.cli.causes import format_scopes, group_by_cause
from lineage_bridge.cli.checks import pause_or_resume, remove_one, run_test
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.setting_values import parse_setting, setting_row
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError, UnavailableError

TIMEOUT_S, CHECK_S = 120.0, 0.3
_ORIGINS = {"file": "from the settings file", "environment": "from the environment", "added": "added"}
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
    """Add, test and list the systems to observe.

    LineageBridge observes Confluent Cloud, Kafka, Kafka Connect, schema registries, Flink and ksqlDB.

    Sources can also be defined in the settings file: docs/sources.md.
    """


@source.command(examples=("source kinds", "source kinds kafka"))
@click.argument("kind", required=False)
@with_output()
@with_settings(*CLIENT)
def kinds(settings: Settings, kind: str | None, as_json: bool) -> None:
    """List the kinds of sources, or the settings of a KIND."""
    with connect(settings) as client:
        found = client.get("/api/v1/source-kinds")["kinds"]
    chosen = [item for item in found if kind in (None, item["kind"])]
    if kind is not None and not chosen:
        raise RequestError(f"unknown kind of source {kind!r}", f"use one of {', '.join(item['kind'] for item in found)}")
    if as_json:
        print_json(chosen)
    elif kind is None:
        print_table(["kind", "observes"], [[item["kind"], item["description"]] for item in chosen])
    else:
        print_line(chosen[0]["description"])
        print_table(["setting", "default", "description"], [setting_row(item) for item in chosen[0]["settings"]])


@source.command(
    examples=(
        "source add prod kafka bootstrap_servers=broker-1:9092,broker-2:9092",
        "source add cdc connect url=http://connect:8083 interval_s=30",
        """source add cloud confluent cloud='{"key": "ABC123", "secret": "${env:CLOUD_SECRET}"}'""",
    )
)
@_name
@click.argument("kind")
@click.argument("settings_", nargs=-1, metavar="SETTING=VALUE...")
@click.option("--replace", is_flag=True, help="replace an existing source with this name")
@with_output()
@with_settings(*CLIENT)
def add(settings: Settings, name: str, kind: str, settings_: tuple[str, ...], replace: bool, as_json: bool) -> None:
    """Add the source NAME. It is polled at once.

    A value can be JSON. Give secrets as references, which the server resolves: docs/secrets.md.
    """
    order = {"name": name, "kind": kind, "settings": dict(map(parse_setting, settings_)), "replace": replace}
    with connect(settings) as client:
        answer = client.post("/api/v1/sources", json.dumps(order).encode())
    if as_json:
        print_json(answer)
    else:
        print_line(f"{name} is added; check it with: lineage-bridge source test {name}")


@source.command(name="list", examples=("source list", "source list cdc"))
@click.argument("name", required=False)
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, name: str | None, as_json: bool) -> None:
    """List all sources with their state, or show the source NAME."""
    with connect(settings) as client:
        answer = client.get(f"/api/v1/sources/{name}") if name else client.get("/api/v1/sources")
    if as_json:
        print_json(answer)
    elif name:
        _print_source(answer)
    elif answer["sources"]:
        columns = ["source", "kind", "state", "last success", "next poll", "events", "problem"]
        print_table(columns, [_row(item) for item in answer["sources"]])
    else:
        print_message("there are no sources; see: lineage-bridge source add --help")


@source.command(examples=("source test cdc",))
@_name
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def test(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Test each step of observing the source NAME.

    The exit code is 1 if a step fails.
    """
    run_test(context, settings, f"/api/v1/sources/{name}", as_json=as_json)


@source.command(examples=("source pause cdc",))
@_name
@with_output()
@with_settings(*CLIENT)
def pause(settings: Settings, name: str, as_json: bool) -> None:
    """Stop polling the source NAME until it is resumed."""
    pause_or_resume(settings, f"/api/v1/sources/{name}", "pause", f"{name} is paused", as_json=as_json)


@source.command(examples=("source resume cdc",))
@_name
@with_output()
@with_settings(*CLIENT)
def resume(settings: Settings, name: str, as_json: bool) -> None:
    """Resume polling the source NAME, at once."""
    pause_or_resume(settings, f"/api/v1/sources/{name}", "resume", f"{name} is resumed", as_json=as_json)


@source.command(examples=("source remove cdc",))
@_name
@with_output()
@with_settings(*CLIENT)
def remove(settings: Settings, name: str, as_json: bool) -> None:
    """Remove the source NAME. Its events stay in the graph."""
    remove_one(settings, f"/api/v1/sources/{name}", f"{name} is removed; its events stay in the graph", as_json=as_json)


@source.command(examples=("source poll cdc",))
@_name
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def poll(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Poll the source NAME now, and show the result.

    The exit code is 1 if the poll failed.
    """
    with connect(settings) as client:
        before = client.post(f"/api/v1/sources/{name}/poll")
        answer, until = before, time.monotonic() + TIMEOUT_S
        while answer["polls"] == before["polls"]:
            if time.monotonic() > until:
                raise UnavailableError(
                    f"{name} was not polled within {TIMEOUT_S:g} s",
                    "check that lineage-bridge observe is running; lineage-bridge serve starts it",
                )
            time.sleep(CHECK_S)
            answer = client.get(f"/api/v1/sources/{name}")
    if as_json:
        print_json(answer)
    else:
        _print_source(answer, format_count(answer["events"] - before["events"], "event"))
    if answer["state"] == "failing":
        context.exit(1)


def describe_problem(item: Json) -> str:
    """Describe in a few words what is wrong with a source; empty if nothing is."""
    if item["state"] == "failing":
        return str(item["last_error"]["message"])
    return f"{len(item['unseen'])} objects not readable" if item["unseen"] else ""


def _row(item: Json) -> list[str]:
    return [
        item["name"],
        item["kind"],
        item["state"],
        format_time(item.get("last_success_at", "")) or "never",
        format_time(item.get("next_poll_at", "")),
        str(item["events"]),
        describe_problem(item),
    ]


def _print_source(item: Json, new: str = "") -> None:
    print_line(f"{item['name']} ({item['kind']}, {_ORIGINS[item['origin']]}): {item['state']}")
    for setting, value in item["settings"].items():
        print_line(f"  {setting} = {value if isinstance(value, str) else json.dumps(value)}")
    took = f", took {item['took_s']:.1f} s" if "took_s" in item else ""
    counts = f"{format_count(item['polls'], 'poll')}, {format_count(item['events'], 'event')} in all"
    print_line(f"last success {item.get('last_success_at', 'never')}{took}; {counts}")
    if new:
        print_line(f"new in this poll: {new}")
    if "next_poll_at" in item:
        print_line(f"next poll {item['next_poll_at']}")
    if "last_error" in item:
        failing = f", failing since {item['failing_since']}" if "failing_since" in item else ", resolved"
        hint = f" ({item['last_error']['hint']})" if item["last_error"]["hint"] else ""
        print_line(f"last error {item['last_error']['at']}{failing}: {item['last_error']['message']}{hint}")
    if item["unseen"]:
        print_table(["not readable", "since", "reason"], _unseen_rows(item["unseen"]))


def _unseen_rows(unseen: list[Json]) -> list[list[str]]:
    since = {item["what"]: item["since"] for item in unseen}
    causes = group_by_cause((item["what"], item["why"]) for item in unseen)
    return [[format_scopes(scopes), format_time(min(since[scope] for scope in scopes)), cause] for cause, scopes in causes]
