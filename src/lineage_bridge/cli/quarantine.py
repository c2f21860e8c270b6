"""`quarantine`: events that are kept and not used."""

import sys

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import counted, say, write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings

PAGE = 1000
_json_flag = click.option("--json", "as_json", is_flag=True, help="print the server's own answer")


@click.group(cls=Group, examples=("quarantine list --code not_json",))
def quarantine() -> None:
    """See and retry events that are kept and not used."""


@quarantine.command(name="list", examples=("quarantine list --limit 5",))
@click.option("--code", help="only those refused for this reason")
@click.option("--limit", type=click.IntRange(1, PAGE), default=20, show_default=True, help="most events")
@_json_flag
@with_settings(*CLIENT)
def list_(settings: Settings, code: str | None, limit: int, as_json: bool) -> None:
    """List what is kept aside, newest first."""
    with Client(settings.address) as client:
        said = client.get("/api/v1/quarantine", code=code, limit=limit)
    if as_json:
        write_json(said)
        return
    if not said["items"]:
        say("nothing is kept aside")
        return
    rows = [[item["event_id"], item["arrived_at"], item["code"], item["path"], item["message"]] for item in said["items"]]
    write_table(["event", "arrived", "code", "path", "message"], rows)
    say("in all: " + ", ".join(f"{count} {name}" for name, count in sorted(said["counts"].items())))


@quarantine.command(examples=("quarantine show 9f86d081884c7d659a2feaa0c55ad015 > event.json",))
@click.argument("event_id")
@with_settings(*CLIENT)
def show(settings: Settings, event_id: str) -> None:
    """Print an event that is kept aside, byte for byte but for secrets, which are masked."""
    with Client(settings.address) as client:
        body = client.get_bytes(f"/api/v1/quarantine/{event_id}/body")
    sys.stdout.buffer.write(body)


@quarantine.command(
    examples=(
        "quarantine retry 9f86d081884c7d659a2feaa0c55ad015",
        "quarantine retry --all --code bad_time",
    )
)
@click.argument("event_ids", nargs=-1)
@click.option("--all", "every", is_flag=True, help="try all that is kept aside")
@click.option("--code", help="with --all: only those refused for this reason")
@with_settings(*CLIENT)
@click.pass_context
def retry(context: click.Context, settings: Settings, event_ids: tuple[str, ...], every: bool, code: str | None) -> None:
    """Judge events once more, as after an update; those accepted now are used. The exit code is 1 if one is still rejected."""
    if every == bool(event_ids):
        raise click.UsageError("name events, or say --all")
    with Client(settings.address) as client:
        ids = _ids(client, code) if every else list(event_ids)
        rejected = sum(not _retry(client, event_id) for event_id in ids)
    write(f"{counted(len(ids), 'event')} judged again: {len(ids) - rejected} accepted, {rejected} rejected")
    if rejected:
        context.exit(1)


def _ids(client: Client, code: str | None) -> list[str]:
    ids: list[str] = []
    while True:
        items = client.get("/api/v1/quarantine", code=code, limit=PAGE, offset=len(ids))["items"]
        ids += [item["event_id"] for item in items]
        if len(items) < PAGE:
            return list(dict.fromkeys(ids))


def _retry(client: Client, event_id: str) -> bool:
    said = client.post_events(b"", "application/json", f"/api/v1/quarantine/{event_id}/retry")
    if said["status"] == "rejected":
        say(f"still rejected {event_id}: {said['code']} at {said['path']}: {said['message']}")
    return bool(said["status"] == "accepted")
