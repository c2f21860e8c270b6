"""The command `target`: manages the systems that lineage is published to."""

import json

import click

from lineage_bridge.cli.checks import pause_or_resume, remove_one, run_test
from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.notes import print_higher_limit
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.cli.setting_values import parse_setting, setting_row
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError

_ORIGINS = {"file": "from the settings file", "environment": "from the environment", "added": "added"}
_PAGE = 1000
"""How many objects of a ledger one request returns at most."""
_name = click.argument("name")


@click.group(cls=Group, examples=("target add catalog openlineage url=https://catalog.internal", "target test catalog", "target list"))
def target() -> None:
    """Add, test and list the targets that lineage is published to.

    `lineage-bridge publish NAME` publishes.

    Targets can also be defined in the settings file: docs/catalogs.md.
    """


@target.command(examples=("target kinds", "target kinds openlineage"))
@click.argument("kind", required=False)
@with_output()
@with_settings(*CLIENT)
def kinds(settings: Settings, kind: str | None, as_json: bool) -> None:
    """List the kinds of targets, or the settings of a KIND."""
    with connect(settings) as client:
        found = client.get("/api/v1/target-kinds")["kinds"]
    chosen = [item for item in found if kind in (None, item["kind"])]
    if kind is not None and not chosen:
        raise RequestError(f"unknown kind of target {kind!r}", f"use one of {', '.join(item['kind'] for item in found)}")
    if as_json:
        print_json(chosen)
    elif kind is None:
        print_table(["kind", "publishes to"], [[item["kind"], item["description"]] for item in chosen])
    else:
        print_line(chosen[0]["description"])
        print_table(["setting", "default", "description"], [setting_row(item) for item in chosen[0]["settings"]])


@target.command(examples=("target add catalog openlineage url=https://catalog.internal token='${sealed:catalog}'",))
@_name
@click.argument("kind")
@click.argument("settings_", nargs=-1, metavar="SETTING=VALUE...")
@click.option("--replace", is_flag=True, help="replace an existing target with this name")
@with_output()
@with_settings(*CLIENT)
def add(settings: Settings, name: str, kind: str, settings_: tuple[str, ...], replace: bool, as_json: bool) -> None:
    """Add the target NAME. Nothing is published yet, unless publish=continuous.

    A value can be JSON. Give secrets as references, which the server resolves: docs/secrets.md.
    """
    order = {"name": name, "kind": kind, "settings": dict(map(parse_setting, settings_)), "replace": replace}
    with connect(settings) as client:
        answer = client.post("/api/v1/targets", json.dumps(order).encode())
    if as_json:
        print_json(answer)
    else:
        is_continuous = answer["settings"].get("publish") == "continuous"
        follows = "; the graph is published to it continuously" if is_continuous else ""
        print_line(f"{name} is added{follows}; see what would be published with: lineage-bridge publish {name} --plan")


@target.command(name="list", examples=("target list",))
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, as_json: bool) -> None:
    """List all targets with their state."""
    with connect(settings) as client:
        answer = client.get("/api/v1/targets")
    if as_json:
        print_json(answer)
    elif answer["targets"]:
        print_table(
            ["target", "kind", "state", "published", "lag", "last success", "last error"], [_row(item) for item in answer["targets"]]
        )
    else:
        print_message("there are no targets; see: lineage-bridge target add --help")


@target.command(examples=("target show catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show the target NAME: its settings, its state, and what was published to it."""
    with connect(settings) as client:
        item = client.get(f"/api/v1/targets/{name}")
    if as_json:
        print_json(item)
        return
    print_line(f"{item['name']} ({item['kind']}, {_ORIGINS[item['origin']]}): {item['state']}")
    for setting, value in item["settings"].items():
        print_line(f"  {setting} = {value if isinstance(value, str) else json.dumps(value)}")
    print_line(f"objects: {_counts(item)}")
    if "last_error" in item:
        print_line(f"last error {item['last_at']}: {item['last_error']}")
    if "continuous" in item:
        _print_continuous(item["continuous"])


@target.command(examples=("target ledger catalog", "target ledger catalog --limit 5000 --json"))
@_name
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=100, show_default=True, help="maximum number of objects")
@with_output()
@with_settings(*CLIENT)
def ledger(settings: Settings, name: str, limit: int, as_json: bool) -> None:
    """List the objects that were published to the target NAME, with their state.

    `sending` and `deleting` are changes whose outcome is unknown; the next publication repeats them.
    """
    objects = list[Json]()
    after: str | None = ""
    with connect(settings) as client:
        while after is not None and len(objects) < limit:
            page = client.get(f"/api/v1/targets/{name}/ledger", after=after, limit=min(limit - len(objects), _PAGE))
            objects += page["objects"]
            after = page.get("next")
    if as_json:
        print_json({"objects": objects, **({"next": after} if after else {})})
        return
    if not objects:
        print_message(f"nothing was published to {name} yet; see: lineage-bridge publish {name} --plan")
        return
    rows = [[item.get(member, "") for member in ("kind", "namespace", "name", "state", "changed_at", "detail")] for item in objects]
    print_table(["kind", "namespace", "name", "state", "changed", "detail"], rows)
    print_higher_limit("objects", exists=after is not None)


@target.command(examples=("target test catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
@click.pass_context
def test(context: click.Context, settings: Settings, name: str, as_json: bool) -> None:
    """Test each step of publishing to the target NAME, without changing the target.

    The exit code is 1 if a step fails.
    """
    run_test(context, settings, f"/api/v1/targets/{name}", as_json=as_json)


@target.command(examples=("target pause catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
def pause(settings: Settings, name: str, as_json: bool) -> None:
    """Pause the target NAME: nothing is published to it until it is resumed."""
    pause_or_resume(settings, f"/api/v1/targets/{name}", "pause", f"{name} is paused", as_json=as_json)


@target.command(examples=("target resume catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
def resume(settings: Settings, name: str, as_json: bool) -> None:
    """Resume the target NAME."""
    pause_or_resume(settings, f"/api/v1/targets/{name}", "resume", f"{name} is resumed", as_json=as_json)


@target.command(examples=("target cancel catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
def cancel(settings: Settings, name: str, as_json: bool) -> None:
    """Cancel the publication to the target NAME. What it has published stays."""
    pause_or_resume(settings, f"/api/v1/targets/{name}", "cancel", f"the publication to {name} is being cancelled", as_json=as_json)


@target.command(examples=("target remove catalog",))
@_name
@with_output()
@with_settings(*CLIENT)
def remove(settings: Settings, name: str, as_json: bool) -> None:
    """Remove the target NAME. Published objects stay in the target.

    If a target of the same name and address is added later, it continues with the record of published objects.
    """
    remove_one(settings, f"/api/v1/targets/{name}", f"{name} is removed; what was published stays there", as_json=as_json)


def _counts(item: Json) -> str:
    return ", ".join(f"{count} {state}" for state, count in item["published"].items()) or "none"


def _row(item: Json) -> list[str]:
    shown = [item["name"], item["kind"], item["state"], _counts(item)]
    if "continuous" not in item:
        return [*shown, "", "", item.get("last_error", "")]
    stands = item["continuous"]
    shown[2] = stands["state"]
    return [*shown, describe_lag(stands), stands.get("last_success_at", "never"), describe_failure(stands)]


def describe_lag(stands: Json) -> str:
    """Describe the lag of continuous publishing to a target."""
    if "lag_changes" not in stands:
        return "the whole graph will be compared with the target"
    return f"{format_count(stands['lag_changes'], 'change')}, {stands['lag_s']:.0f} s" if stands["lag_changes"] else "none"


def describe_failure(stands: Json) -> str:
    """Describe why continuous publishing failed last; empty if it has succeeded since."""
    if "last_error" not in stands:
        return ""
    error = stands["last_error"]
    return f"{error['code']}: {error['message']}" + (f" ({error['hint']})" if error["hint"] else "")


def _print_continuous(stands: Json) -> None:
    print_line(f"continuous: {stands['state']}; lag: {describe_lag(stands)}; last success: {stands.get('last_success_at', 'never')}")
    print_line(
        f"  {format_count(stands['publications'], 'publication')}, {stands['failed']} failed; {stands['operations']} changes made in the "
        "target"
    )
    if stands.get("drift"):
        print_line(f"  {format_count(stands['drift'], 'object')} changed by others in the target, and left unchanged; a plan lists them")
    if "last_error" in stands:
        print_line(f"  last error {stands['last_error_at']}: {describe_failure(stands)}; the next attempt is at {stands['next_at']}")
