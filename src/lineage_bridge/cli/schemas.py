"""`schemas`: the schema versions of a dataset, and how they differ."""

from typing import Any

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "schemas kafka://broker:9092 orders",
        "schemas kafka://broker:9092 orders --diff",
        "schemas kafka://broker:9092 orders --diff --before 2026-05-01",
    ),
)
@click.argument("namespace")
@click.argument("name")
@click.option("--at", metavar="TIME", help="as far as had been said by this time")
@click.option("--diff", "differ", is_flag=True, help="how the version now differs from the one before")
@click.option("--before", metavar="VERSION|TIME", help="with --diff: from this version, or the one of this time")
@click.option("--after", metavar="VERSION|TIME", help="with --diff: to this version, or the one of this time")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most versions")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def schemas(settings: Settings, namespace: str, name: str, differ: bool, style: str, as_json: bool, **asked: str | int | None) -> None:
    """List the schema versions of a dataset, or tell how two differ.

    Versions come newest first, with when each was first and last seen.
    """
    before, after = asked.pop("before"), asked.pop("after")
    if (before or after) and not differ:
        raise click.UsageError("--before and --after go with --diff")
    with Client(settings.address) as client:
        if differ:
            said = client.get("/api/v1/graph/schemas/diff", namespace=namespace, name=name, before=before, after=after, names=style)
        else:
            said = client.get("/api/v1/graph/schemas", namespace=namespace, name=name, fields=False, names=style, **asked)
    if as_json:
        write_json(said)
    elif differ:
        _tell_diff(spelt(said))
    else:
        _tell_versions(spelt(said))


def _tell_versions(said: dict[str, Any]) -> None:
    if not said["versions"]:
        say("nobody has told a schema of it")
        return
    rows = [[v["version"][:12] or "withdrawn", v["first"]["at"], v["last"]["at"], _mark(v)] for v in said["versions"]]
    write_table(["version", "first seen", "last seen", ""], rows)
    for node in said["renamed_from"]:
        say(f"it was named {node['namespace']} {node['name']} before")
    if said["truncated"]:
        say("only the newest days were read")


def _mark(version: dict[str, Any]) -> str:
    return "now" if version.get("current") else "brief" if version.get("brief") else ""


def _tell_diff(said: dict[str, Any]) -> None:
    write(f"{said['before'][:12] or 'withdrawn'} -> {said['after'][:12] or 'withdrawn'}")
    for mark, key in (("+", "added"), ("-", "removed")):
        for field in said[key]:
            write(f"  {mark} {' > '.join(field['path'])} {field.get('type', '')}".rstrip())
    for field in said["changed"]:
        write(f"  ~ {' > '.join(field['path'])} {field.get('before', 'untold')} -> {field.get('after', 'untold')}")
    for node in said["renamed"]:
        write(f"  renamed from {node['namespace']} {node['name']}")
