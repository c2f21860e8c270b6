"""The command `quarantine`: lists, shows and retries rejected events."""

import sys

import click

from lineage_bridge.cli.client import Client, Json, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

PAGE = 1000


@click.group(cls=Group, examples=("quarantine list --code not_json",))
def quarantine() -> None:
    """List, show and retry rejected events."""


@quarantine.command(name="list", examples=("quarantine list --limit 5",))
@click.option("--code", help="only events rejected with this code")
@with_paging("events", default=20, most=PAGE)
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, code: str | None, limit: int, offset: int, as_json: bool) -> None:
    """List rejected events, newest first.

    Also lists the job and the producer of each event, if they could be read.
    """
    with connect(settings) as client:
        answer = client.get("/api/v1/quarantine", code=code, limit=limit, offset=offset)
    if as_json:
        print_json(answer)
        return
    if answer["items"]:
        print_table(["event", "arrived", "job", "producer", "code", "path", "message"], list(map(_row, answer["items"])))
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message(f"no event in quarantine has the code {code!r}" if code and answer["counts"] else "the quarantine is empty")
    if answer["counts"]:
        print_message("total: " + ", ".join(f"{count} {name}" for name, count in sorted(answer["counts"].items())))
    if answer["counts_truncated"]:
        print_message("only the newest 10,000 events in quarantine are counted; there are more")


def _row(item: Json) -> list[str]:
    job = item.get("job", {})
    named = " ".join(text for text in (job.get("namespace", ""), job.get("name", "")) if text)
    return [
        item["event_id"],
        format_time(item["arrived_at"]),
        named,
        item.get("producer", ""),
        item["code"],
        item["path"],
        item["message"],
    ]


@quarantine.command(examples=("quarantine show 9f86d081884c7d659a2feaa0c55ad015 > event.json",))
@click.argument("event_id")
@with_settings(*CLIENT)
def show(settings: Settings, event_id: str) -> None:
    """Print the body of a rejected event. Secrets are masked; all other bytes are unchanged."""
    with connect(settings) as client:
        body = client.get_bytes(f"/api/v1/quarantine/{event_id}/body")
    sys.stdout.buffer.write(body)


@quarantine.command(
    examples=(
        "quarantine retry 9f86d081884c7d659a2feaa0c55ad015",
        "quarantine retry --all --code bad_time",
    )
)
@click.argument("event_ids", nargs=-1)
@click.option("--all", "retry_all", is_flag=True, help="retry all rejected events")
@click.option("--code", help="with --all: only events rejected with this code")
@with_output("print the outcome of each event as JSON")
@with_settings(*CLIENT)
@click.pass_context
def retry(context: click.Context, settings: Settings, event_ids: tuple[str, ...], retry_all: bool, code: str | None, as_json: bool) -> None:
    """Validate events again, for example after an update.

    Events that are accepted now go into the graph. The exit code is 1 if one is still rejected.
    """
    if retry_all == bool(event_ids):
        raise click.UsageError("give event ids, or --all")
    with connect(settings) as client:
        ids = _rejected_ids(client, code) if retry_all else list(event_ids)
        outcomes = [client.post_events(b"", "application/json", f"/api/v1/quarantine/{event_id}/retry") for event_id in ids]
    results = [{**outcome, "event_id": event_id} for event_id, outcome in zip(ids, outcomes, strict=True)]
    rejected = [result for result in results if result["status"] == "rejected"]
    if as_json:
        print_json(results)
    else:
        _print_outcomes(len(ids), rejected)
    if rejected:
        context.exit(1)


def _rejected_ids(client: Client, code: str | None) -> list[str]:
    ids: list[str] = []
    while True:
        items = client.get("/api/v1/quarantine", code=code, limit=PAGE, offset=len(ids))["items"]
        ids += [item["event_id"] for item in items]
        if len(items) < PAGE:
            return list(dict.fromkeys(ids))


def _print_outcomes(count: int, rejected: list[Json]) -> None:
    for outcome in rejected:
        print_message(f"still rejected {outcome['event_id']}: {outcome['code']} at {outcome['path']}: {outcome['message']}")
    print_line(f"{format_count(count, 'event')} retried: {count - len(rejected)} accepted, {len(rejected)} rejected")
