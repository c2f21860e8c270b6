"""The command `input`: manages the topics and files from which LineageBridge reads events."""

import json
from pathlib import Path
from typing import Any

import click
import yaml

from lineage_bridge.cli.checks import pause_or_resume, remove_one, run_test
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.setting_values import parse_setting, setting_row
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError

OPENMETADATA = "openmetadata"
_ORIGINS = {"file": "from the settings file", "added": "added"}
_name = click.argument("name")


@click.group(
    name="input",
    cls=Group,
    examples=(
        "input add events kafka bootstrap_servers=broker:9092 topics='[\"lineage\"]'",
        "input test events",
        "input list",
    ),
)
def input_() -> None:
    """Add, test and list the inputs to read events from.

    For producers that write OpenLineage events to Kafka or to files instead of HTTP. LineageBridge ingests each event once.

    Inputs can also be defined in the settings file: docs/inputs.md.
    """


@input_.command(examples=("input kinds", "input kinds kafka"))
@click.argument("kind", required=False)
@with_output()
@with_settings(*CLIENT)
def kinds(settings: Settings, kind: str | None, as_json: bool) -> None:
    """List the kinds of inputs, or the settings of a KIND."""
    with connect(settings) as client:
        found = client.get("/api/v1/input-kinds")["kinds"]
    chosen = [item for item in found if kind in (None, item["kind"])]
    if kind is not None and not chosen:
        raise RequestError(f"unknown kind of input {kind!r}", f"use one of {', '.join(item['kind'] for item in found)}")
    if as_json:
        print_json(chosen)
    elif kind is None:
        print_table(["kind", "reads"], [[item["kind"], item["description"]] for item in chosen])
    else:
        print_line(chosen[0]["description"])
        print_table(["setting", "default", "description"], [setting_row(item) for item in chosen[0]["settings"]])


@input_.command(
    examples=(
        "input add events kafka bootstrap_servers=broker:9092 topics='[\"lineage\"]'",
        "input add events openmetadata --file openlineage.yaml",
    )
)
@_name
@click.argument("kind")
@click.argument("settings_", nargs=-1, metavar="SETTING=VALUE...")
@click.option("--file", "file", type=click.Path(dir_okay=False, path_type=Path), help="JSON or YAML file with settings")
@click.option("--replace", is_flag=True, help="replace an existing input with this name")
@with_output()
@with_settings(*CLIENT)
def add(settings: Settings, name: str, kind: str, settings_: tuple[str, ...], file: Path | None, replace: bool, as_json: bool) -> None:
    """Add the input NAME. Reading starts immediately.

    A value can be JSON. Give secrets as references, which the server resolves: docs/secrets.md.

    The kind openmetadata takes the settings of OpenMetadata's OpenLineage connector: docs/inputs.md.
    """
    given = {**(_read_file(file) if file else {}), **dict(map(parse_setting, settings_))}
    order = {"name": name, "kind": kind, "settings": given, "replace": replace}
    with connect(settings) as client:
        answer = client.post("/api/v1/inputs", json.dumps(order).encode())
    if as_json:
        print_json(answer)
    else:
        print_line(f"{name} is added; check it with: lineage-bridge input test {name}")


@input_.command(name="list", examples=("input list",))
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, as_json: bool) -> None:
    """List all inputs with their state."""
    with connect(settings) as client:
        answer = client.get("/api/v1/inputs")
    if as_json:
        print_json(answer)
    elif answer["inputs"]:
        columns = ["input", "kind", "state", "accepted", "rejected", "lag", "rate", "problem"]
        print_table(columns, [_row(item) for item in answer["inputs"]])
    else:
        print_message("there are no inputs; see: lineage-bridge input add --help")


@input_.command(examples=("input show events",))
@_name
@with_output()
@with_settings(*CLIENT)
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show the input NAME: its settings, its state, and the events read from it."""
    with connect(settings) as client:
        answer = client.get(f"/api/v1/inputs/{name}")
    print_json(answer) if as_json else _print_input(answer)


@input_.command(examples=("input test events",))
@_name
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def test(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Test each step of reading the input NAME. No event is ingested.

    The exit code is 1 if a step fails.
    """
    run_test(context, settings, f"/api/v1/inputs/{name}", as_json=as_json)


@input_.command(examples=("input pause events",))
@_name
@with_output()
@with_settings(*CLIENT)
def pause(settings: Settings, name: str, as_json: bool) -> None:
    """Stop reading the input NAME until it is resumed."""
    pause_or_resume(settings, f"/api/v1/inputs/{name}", "pause", f"{name} is paused", as_json=as_json)


@input_.command(examples=("input resume events",))
@_name
@with_output()
@with_settings(*CLIENT)
def resume(settings: Settings, name: str, as_json: bool) -> None:
    """Resume the input NAME at the position where it was paused."""
    pause_or_resume(settings, f"/api/v1/inputs/{name}", "resume", f"{name} is resumed", as_json=as_json)


@input_.command(examples=("input remove events",))
@_name
@with_output()
@with_settings(*CLIENT)
def remove(settings: Settings, name: str, as_json: bool) -> None:
    """Remove the input NAME. Its events stay in the graph.

    If an input of the same name is added later, it continues at the position of the removed one.
    """
    remove_one(settings, f"/api/v1/inputs/{name}", f"{name} is removed; its events stay in the graph", as_json=as_json)


def describe_input(item: Json) -> str:
    """Describe the state of an input in a few words: its error, or else its lag."""
    if item["state"] in ("failing", "waiting") and "last_error" in item:
        return str(item["last_error"]["message"])
    if item["problems"]:
        return str(item["problems"][0])
    return f"lag {lag}" if (lag := _lag(item)) else ""


def describe_reading(item: Json) -> str:
    """Describe how the reading of an input goes: its error or its lag, its rate, how many events were rejected, and its last record."""
    parts = [
        describe_input(item),
        f"{item['records_per_s']:g} records a second",
        f"rejected: {_rejected(item)}" if item["rejected"] else "",
    ]
    parts.append(f"last record at {item['last_record']['taken_in_at']}" if "last_record" in item else "")
    return "; ".join(filter(None, parts))


def _rejected(item: Json) -> str:
    return ", ".join(f"{count} {code}" for code, count in item["rejected"].items())


def _read_file(path: Path) -> dict[str, Any]:
    """Read settings from a file. Raises RequestError."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise RequestError(f"cannot read {str(path)!r}: {error}", "the file must be JSON or YAML") from error
    if not isinstance(found, dict):
        raise RequestError(f"{str(path)!r} contains no settings", "its content must be an object with settings")
    return found


def _lag(item: Json) -> str:
    if item.get("lag_files"):
        return f"{format_count(item['lag_files'], 'file')}, {format_count(item['lag_bytes'], 'byte')}"
    if "lag_records" not in item:
        return f"{item['lag_s']:g} s" if "lag_s" in item else ""
    return format_count(item["lag_records"], "record") + (f", {item['lag_s']:g} s" if item.get("lag_s") else "")


def _row(item: Json) -> list[str]:
    problem = describe_input({name: value for name, value in item.items() if not name.startswith("lag_")})
    rate = f"{item['records_per_s']:g}/s"
    return [item["name"], item["kind"], item["state"], str(item["accepted"]), _rejected(item), _lag(item), rate, problem]


def _print_input(item: Json) -> None:
    print_line(f"{item['name']} ({item['kind']}, {_ORIGINS[item['origin']]}): {item['state']}")
    for setting, value in item["settings"].items():
        print_line(f"  {setting} = {value if isinstance(value, str) else json.dumps(value)}")
    print_line(f"accepted {format_count(item['accepted'], 'event')}; rejected {_rejected(item) or 'none'}")
    counts = f"{item['read']} records read, {item['skipped']} without a value, {item['lost']} deleted before they were read"
    left_out = f"; {format_count(item['filtered'], 'event')} left out by the setting jobs" if item["filtered"] else ""
    print_line(f"records since its process started: {counts}{left_out}; {item['records_per_s']:g} a second")
    lag = [f"lag {found}"] if (found := _lag(item)) else []
    assigned = [] if "lag_files" in item else [f"{format_count(item['partitions'], 'partition')} assigned"]
    print_line("; ".join((*lag, *assigned)))
    if "last_record" in item:
        last = item["last_record"]
        partition = f", partition {last['partition']}" if last["partition"] else ""
        part = f", part {last['part']}" if "part" in last else ""
        print_line(f"last record: {last['stream']}{partition}, offset {last['offset']}{part}, at {last['taken_in_at']}")
    if "last_error" in item:
        hint = f" ({item['last_error']['hint']})" if item["last_error"]["hint"] else ""
        print_line(f"last error {format_time(item['last_error']['at'])}: {item['last_error']['message']}{hint}")
    for problem in item["problems"]:
        print_line(f"problem: {problem}")
