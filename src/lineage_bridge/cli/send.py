"""The command `send`: sends events from files to the server."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from lineage_bridge.cli.client import Client, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import console, format_count, print_json, print_line, print_message
from lineage_bridge.cli.files import STDIN, EventBatch, batches, read_events
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import UnavailableError

RETRY_S = 60.0


@dataclass
class Tally:
    """Counts the outcomes of the events that were sent so far."""

    outcomes: list[dict[str, Any]] = field(default_factory=list)
    position: str = ""

    def add(self, batch: EventBatch, answer: dict[str, Any]) -> None:
        """Add the outcomes in the answer to one request."""
        self.position = answer.get("position") or self.position
        rejected_request = [{**answer, "index": index} for index in range(len(batch.events))]
        for outcome in answer.get("events", rejected_request):
            event = batch.events[outcome["index"]]
            members = {name: outcome[name] for name in ("status", "event_id", "repairs", "code", "path", "message") if name in outcome}
            self.outcomes.append({"source": event.source, "index": event.index, **members})

    def count(self, status: str) -> int:
        """The number of events that have this status."""
        return sum(outcome["status"] == status for outcome in self.outcomes)

    @property
    def repaired(self) -> int:
        """The number of accepted events that were repaired."""
        return sum(bool(outcome.get("repairs")) for outcome in self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """The counts, the position and all outcomes, as JSON."""
        counts = {"accepted": self.count("accepted"), "repaired": self.repaired, "rejected": self.count("rejected")}
        return {**counts, "position": self.position, "events": self.outcomes}


@click.command(
    cls=Command,
    examples=(
        "send events.ndjson more.json.gz",
        "cat event.json | lineage-bridge send -",
    ),
)
@click.argument("files", nargs=-1, required=True)
@with_output("print the outcome of each event as JSON")
@click.option("--wait", is_flag=True, help="wait until answers contain the events")
@with_settings(*CLIENT)
@click.pass_context
def send(context: click.Context, settings: Settings, files: tuple[str, ...], as_json: bool, wait: bool) -> None:
    """Send the OpenLineage events in FILES ("-" is standard input).

    A file holds one event, an array of events, or one event a line (NDJSON), and can be compressed with gzip.

    Rejected events are listed with the reason, and make the exit code 1.
    """
    tally = Tally()
    with connect(settings) as client:
        for batch, answer in _send_all(client, files):
            tally.add(batch, answer)
        if wait and tally.position:
            client.wait_for(tally.position)
    if as_json:
        print_json(tally.as_json())
    else:
        _print_answer(tally)
    if tally.count("rejected"):
        context.exit(1)


def _send_all(client: Client, files: tuple[str, ...]) -> Iterator[tuple[EventBatch, dict[str, Any]]]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    out = console(err=True)
    with Progress(*columns, console=out, disable=not out.is_terminal, transient=True) as progress:
        for name in files:
            task = progress.add_task(Path(name).name if name != STDIN else "standard input", total=None)
            for batch in batches(read_events(name)):
                yield batch, post_batch(client, batch)
                progress.advance(task, len(batch.events))
            progress.update(task, total=progress.tasks[task].completed)


def post_batch(client: Client, batch: EventBatch) -> dict[str, Any]:
    """Send one batch, and retry for a minute while the server is overloaded. An event that is sent twice counts once."""
    retrying = Retrying(
        retry=retry_if_exception_type(UnavailableError),
        wait=wait_random_exponential(multiplier=0.5, max=10),
        stop=stop_after_delay(RETRY_S if client.has_connected() else 0),
        reraise=True,
    )
    answer: dict[str, Any] = retrying(client.post_events, batch.body, batch.kind)
    return answer


def _print_answer(tally: Tally) -> None:
    for outcome in tally.outcomes:
        if outcome["status"] == "rejected":
            origin = f"{outcome['source']}[{outcome['index']}]"
            print_message(f"rejected {origin}: {outcome['code']} at {outcome['path']}: {outcome['message']}")
    repaired = f" ({tally.repaired} of them repaired)" if tally.repaired else ""
    counts = f"{tally.count('accepted')} accepted{repaired}, {tally.count('rejected')} rejected"
    print_line(f"{format_count(len(tally.outcomes), 'event')} sent: {counts}")
    if tally.count("rejected"):
        print_message("Rejected events are kept; see: lineage-bridge quarantine list")
