"""The command `key`: manages the API keys of a data folder of this machine, whether or not a server runs on it."""

import json
import re
from typing import Any, Final

import click

from lineage_bridge.access.keys import ApiKeys
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.model.access import AccessScope, ApiKey, KeyOptions
from lineage_bridge.openlineage import times
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.wiring.access import key_service
from lineage_bridge.wiring.audit import audit_trail, by_command
from lineage_bridge.wiring.processes import now_us

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"(\d{1,6})([smhdw])")
_name = click.argument("name")


@click.group(cls=Group, examples=("key create etl --scope ingest", "key list", "key revoke etl"))
def key() -> None:
    """Create, list, revoke and rotate API keys.

    The keys are those of the data folder, whether or not a server runs on it. docs/security.md describes them.
    """


@key.command(
    examples=(
        "key create etl --scope ingest --namespace 'etl-*' --expires 90d",
        "key create ada --scope read --scope operate --note 'data platform'",
        "key create payments --scope ingest --scope read --team payments",
    )
)
@_name
@click.option(
    "--scope", "scopes", type=click.Choice([scope.value for scope in AccessScope]), multiple=True, required=True, help="what the key may do"
)
@click.option("--namespace", "namespaces", multiple=True, metavar="GLOB", help="limit what the key may send and see to these namespaces")
@click.option(
    "--team", "teams", multiple=True, metavar="TEAM", help="limit the key to the namespaces of this team, as the settings define it"
)
@click.option("--expires", metavar="DURATION", help="how long the key is valid, such as 90d; by default it does not expire")
@click.option("--note", default="", help="what the key is for")
@with_output("print the key as JSON")
@with_settings("data_dir")
def create(
    settings: Settings,
    name: str,
    scopes: tuple[str, ...],
    namespaces: tuple[str, ...],
    teams: tuple[str, ...],
    expires: str | None,
    note: str,
    as_json: bool,
) -> None:
    """Create the API key NAME, and print it. It cannot be shown again.

    A scope is one of ingest (send events), read (ask questions), operate (change the graph and what is observed), admin (manage keys). A
    key that is limited to namespaces or teams can only have ingest and read.
    """
    expires_us = now_us() + _duration_us(expires) if expires else None
    key_options = KeyOptions(name, frozenset(map(AccessScope, scopes)), namespaces, note, expires_us, teams)
    created = _keys(settings).create(key_options, "")
    audit_trail(settings).record(by_command("key create", name, json.dumps({"id": created[0].id, "scopes": sorted(scopes)})))
    _print_new(*created, as_json=as_json)


@key.command(name="list", examples=("key list",))
@with_output("print the keys as JSON")
@with_settings("data_dir")
def list_(settings: Settings, as_json: bool) -> None:
    """List the API keys. Their secrets are not stored, so they cannot be shown."""
    found = [_item(item) for item in _keys(settings).records()]
    if as_json:
        print_json(found)
    elif found:
        columns = ["key", "name", "scopes", "namespaces", "state", "created", "expires", "last used", "note"]
        print_table(columns, [_row(item) for item in found])
    else:
        print_message("there are no keys; see: lineage-bridge key create --help")


@key.command(examples=("key revoke etl", "key revoke u4wcxs2a"))
@_name
@with_settings("data_dir")
def revoke(settings: Settings, name: str) -> None:
    """Revoke the API keys named NAME, or the one with this id. They stop working at once."""
    revoked = _keys(settings).revoke(name)
    audit_trail(settings).record(by_command("key revoke", name))
    print_line(f"{format_count(revoked, 'key')} revoked")


@key.command(examples=("key rotate etl", "key rotate etl --grace 0s"))
@_name
@click.option("--grace", default="1d", show_default=True, metavar="DURATION", help="how long the previous key stays valid")
@with_output("print the key as JSON")
@with_settings("data_dir")
def rotate(settings: Settings, name: str, grace: str, as_json: bool) -> None:
    """Create another key for NAME with the same rights; the previous key expires after --grace."""
    created = _keys(settings).rotate(name, _duration_us(grace), "")
    audit_trail(settings).record(by_command("key rotate", name, json.dumps({"id": created[0].id, "grace": grace})))
    _print_new(*created, as_json=as_json)


def _keys(settings: Settings) -> ApiKeys:
    """Open the API keys of the data folder, which is created if it does not exist."""
    settings.paths.protect()
    return key_service(settings)


def _print_new(created: ApiKey, text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({**_item(created), "key": text})
        return
    print_line(text)
    print_message(f"this is the key {created.name!r}, shown this once; send it as: Authorization: Bearer <key>")


def _item(found: ApiKey) -> dict[str, Any]:
    """An API key as JSON. Members without a value are left out."""
    moments = {"expires_at": found.expires_us, "revoked_at": found.revoked_us, "last_used_at": found.used_us}
    return {
        "id": found.id,
        "name": found.name,
        "scopes": sorted(scope.value for scope in found.scopes),
        "namespaces": list(found.namespaces),
        **({"teams": list(found.teams)} if found.teams else {}),
        "state": found.state(now_us()),
        "note": found.note,
        "created_at": times.format_time(found.created_us),
        "created_by": found.created_by,
        **{name: times.format_time(time_us) for name, time_us in moments.items() if time_us is not None},
    }


def _row(item: dict[str, Any]) -> list[str]:
    times = [format_time(item.get(name, "")) for name in ("created_at", "expires_at", "last_used_at")]
    return [
        item["id"],
        item["name"],
        " ".join(item["scopes"]),
        " ".join([*item["namespaces"], *(f"team:{team}" for team in item.get("teams", ()))]),
        item["state"],
        *times,
        item["note"],
    ]


def _duration_us(text: str) -> int:
    """Parse a duration such as 90d. Returns microseconds. Raises RequestError."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise RequestError(f"{text!r} is not a duration", "write a number and s, m, h, d or w: 90d")
    return int(found[1]) * _SECONDS[found[2]] * SECOND_US
