"""The command `audit`: shows who changed what. It reads the data folder on this machine, whether or not a server is running."""

from contextlib import suppress
from typing import BinaryIO

import click
import msgspec

from lineage_bridge.access.audit import as_json as item_of
from lineage_bridge.access.audit import format_head, parse_head
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.model.audit import AuditEntry
from lineage_bridge.wiring.audit import audit_repository, audit_trail, by_command, heads_in_log


@click.group(cls=Group, examples=("audit list", "audit verify --head 12:9f86d0..."))
def audit() -> None:
    """Show who changed what, and check the audit trail.

    Each entry has a hash that covers the one before it. docs/security.md describes the audit trail.
    """


@audit.command(name="list", examples=("audit list", "audit list --principal ada --action DELETE --limit 5"))
@click.option("--principal", help="only changes of this principal; an empty text: changes of programs without a key")
@click.option("--action", help="only changes of this kind, exactly")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="how many entries to show")
@with_output("print the entries as JSON")
@with_settings("data_dir")
def list_(settings: Settings, principal: str | None, action: str | None, limit: int, as_json: bool) -> None:
    """List changes, the newest first."""
    found = audit_trail(settings).newest(limit + 1, None, principal, action)
    if as_json:
        print_json([item_of(entry) for entry in found[:limit]])
    elif found:
        print_table(["entry", "time", "who", "from", "action", "what", "details"], [_row(entry) for entry in found[:limit]])
    else:
        print_message("no change is recorded")
    if len(found) > limit:
        print_message(f"there are more entries; --limit {limit * 2} shows more, audit export writes all")


@audit.command(examples=("audit head",))
@with_settings("data_dir")
def head(settings: Settings) -> None:
    """Print the head of the trail, its last entry. Keep it elsewhere, and pass it to `audit verify` later."""
    print_line(format_head(audit_repository(settings).head()))


@audit.command(examples=("audit verify", "audit verify --log --head 12:9f86d0..."))
@click.option("--head", "heads", multiple=True, metavar="HEAD", help="a head that was printed earlier; can be repeated")
@click.option("--log", "with_log", is_flag=True, help="also compare with the heads in the event log, which is read as a whole")
@with_settings("data_dir")
@click.pass_context
def verify(context: click.Context, settings: Settings, heads: tuple[str, ...], *, with_log: bool) -> None:
    """Check that no entry was changed, removed or inserted.

    Someone who can write to the data folder can replace the trail; heads in the log, and heads that you kept elsewhere, reveal this. The
    exit code is 1 if something is wrong.
    """
    known = [parse_head(text) for text in heads]
    if with_log:
        known += heads_in_log(settings, lambda count: print_message(f"read {format_count(count, 'record')} of the log"))
    found = list(audit_trail(settings).faults(known))
    for fault in found:
        print_line(fault)
    end = audit_repository(settings).head()
    if found:
        context.exit(1)
    print_line(f"the trail of {format_count(end.sequence, 'change')} is whole; compared with {format_count(len(known), 'head')}")


@audit.command(examples=("audit export -o audit.ndjson",))
@click.option("-o", "--output", type=click.File("wb", atomic=True), default="-", metavar="FILE", help="write to this file")
@with_settings("data_dir")
def export(settings: Settings, output: BinaryIO) -> None:
    """Write all entries as NDJSON, the oldest first, with the salts and hashes by which anyone can check the entries."""
    output.writelines(msgspec.json.encode(item_of(entry)) + b"\n" for entry in audit_repository(settings).all())


@audit.command(examples=("audit erase ada@example.com",))
@click.argument("principal")
@with_settings("data_dir")
def erase(settings: Settings, principal: str) -> None:
    """Erase the changes of PRINCIPAL, and the changes of others that name PRINCIPAL, as a person may request.

    Of these entries, only the time, the kind and the hashes stay, so that the trail can still be verified. Events in the log keep the name
    of their sender.
    """
    erased = audit_trail(settings).erase(principal, by_command("audit erase", ""))
    print_line(f"{format_count(erased, 'change')} erased")


def _row(entry: AuditEntry) -> list[str]:
    at = format_time(str(item_of(entry)["at"]))
    if entry.change is None:
        return [str(entry.sequence), at, "(erased)", "", entry.action, "", ""]
    principal, origin, action, target, details = entry.change
    with suppress(msgspec.DecodeError):
        details = msgspec.json.format(details, indent=-1)
    return [str(entry.sequence), at, principal or "-", origin, action, target, details]
