"""The command `schemas`: lists the schema versions of a dataset, or compares two of them."""

from typing import Any

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings


@click.command(
    cls=Command,
    examples=(
        "schemas",
        "schemas kafka://broker:9092 orders",
        "schemas kafka://broker:9092 orders --diff",
        "schemas kafka://broker:9092 orders --diff --before 2026-05-01",
    ),
)
@click.argument("namespace", required=False)
@click.argument("name", required=False)
@click.option("--since", metavar="TIME", help="without NAMESPACE and NAME: changes since this time, RFC 3339 (default: a week ago)")
@click.option("--at", metavar="TIME", help="as known at this time, RFC 3339")
@click.option("--diff", "differ", is_flag=True, help="show how the current version differs from the previous one")
@click.option("--before", metavar="VERSION|TIME", help="with --diff: the earlier version, or a time")
@click.option("--after", metavar="VERSION|TIME", help="with --diff: the later version, or a time")
@with_paging("versions", default=20, most=1000)
@names_option
@with_output()
@with_settings(*CLIENT)
def schemas(
    settings: Settings,
    namespace: str | None,
    name: str | None,
    since: str | None,
    differ: bool,
    before: str | None,
    after: str | None,
    at: str | None,
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
) -> None:
    """List the schema versions of a dataset, or compare two.

    The newest version comes first, each with the times at which it was first and last seen. Without NAMESPACE and NAME, the latest schema
    changes of all datasets are listed.
    """
    if namespace is None:
        if differ or before or after or at or offset:
            raise click.UsageError("--diff, --before, --after, --at and --offset need a NAMESPACE and a NAME")
        _list_changes(settings, {"since": since, "limit": min(limit, 100), "names": style}, as_json=as_json)
        return
    _check_dataset_options(name, since)
    if (before or after) and not differ:
        raise click.UsageError("--before and --after need --diff")
    if at and differ:
        raise click.UsageError("--diff takes the times as --before and --after, not as --at")
    dataset = {"namespace": namespace, "name": name, "names": style}
    with connect(settings) as client:
        if differ:
            answer = client.query("/api/v1/graph/schemas/diff", before=before, after=after, **dataset)
        else:
            answer = client.query("/api/v1/graph/schemas", "versions", at=at, limit=limit, offset=offset, **dataset)
    if as_json:
        print_json(answer)
    elif differ:
        _print_diff(use_preferred_names(answer))
    else:
        _print_versions(use_preferred_names(answer))
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
        if answer["truncated"]:
            print_message("the oldest versions are left out; --at shows them")


def _check_dataset_options(name: str | None, since: str | None) -> None:
    """Check what is given beside a NAMESPACE. Raises UsageError."""
    if name is None:
        raise click.UsageError("a dataset has a NAMESPACE and a NAME; without both, the latest changes of all are listed")
    if since:
        raise click.UsageError("--since needs no NAMESPACE and NAME; of one dataset, all versions are listed")


def _list_changes(settings: Settings, query: dict[str, Any], *, as_json: bool) -> None:
    with connect(settings) as client:
        answer = client.query("/api/v1/graph/schemas/changes", **query)
    if as_json:
        print_json(answer)
        return
    answer = use_preferred_names(answer)
    if not answer["changes"]:
        print_message(f"no schema changed since {format_time(answer['since'])}")
    for change in answer["changes"]:
        print_line(f"{format_time(change['at'])}  {change['dataset']['namespace']} {change['dataset']['name']}")
        _print_fields(change)
    if not answer["exhaustive"]:
        print_message("changes from before the graph was last computed may be missing, because there are too many datasets to examine")
    if answer["truncated"]:
        print_message("there are more changes; --limit and --since show others")


def _print_versions(answer: dict[str, Any]) -> None:
    if not answer["versions"]:
        print_message("no event stated a schema for this dataset")
        return
    rows = [
        [v["version"][:12] or "withdrawn", str(len(v["fields"])), format_time(v["first"]["at"]), format_time(v["last"]["at"]), _mark(v)]
        for v in answer["versions"]
    ]
    print_table(["version", "columns", "first seen", "last seen", "note"], rows)
    for node in answer["renamed_from"]:
        print_message(f"its earlier name was {node['namespace']} {node['name']}")


def _mark(version: dict[str, Any]) -> str:
    return "current" if version.get("current") else "in use for less than ten minutes" if version.get("brief") else ""


def _print_diff(answer: dict[str, Any]) -> None:
    print_line(f"{answer['before'][:12] or 'withdrawn'} -> {answer['after'][:12] or 'withdrawn'}")
    _print_fields(answer)
    for node in answer["renamed"]:
        print_line(f"  renamed from {node['namespace']} {node['name']}")


def _print_fields(answer: dict[str, Any]) -> None:
    for mark, key in (("+", "added"), ("-", "removed")):
        for field in answer[key]:
            print_line(f"  {mark} {' > '.join(field['path'])} {field.get('type', '')}".rstrip())
    for field in answer["changed"]:
        print_line(f"  ~ {' > '.join(field['path'])} {field.get('before', '(no type)')} -> {field.get('after', '(no type)')}")
