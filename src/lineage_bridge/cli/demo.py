"""The command `demo`: loads and removes the demo pipeline."""

import json
import secrets
from collections.abc import Iterable
from uuid import UUID

import click

from lineage_bridge.cli.client import Client, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, print_json, print_line
from lineage_bridge.cli.files import FoundEvent, batches
from lineage_bridge.cli.options import with_output, with_settings
from lineage_bridge.cli.send import Tally, post_batch
from lineage_bridge.config import Settings
from lineage_bridge.demo.events import events, heartbeat_events, run_ids
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import state_database

DASHBOARD = ("looker://acme.cloud.looker.com", "Executive Revenue Dashboard")
"""The dataset at the end of the demo pipeline."""


@click.group(cls=Group, examples=("demo load",))
def demo() -> None:
    """Load or remove a demo pipeline.

    The pipeline is that of a fictional shop, and leads from the shop's database to its revenue dashboard.
    """


@demo.command(examples=("demo load",))
@with_output("print the number of events and their position as JSON")
@with_settings("url", "data_dir")
def load(settings: Settings, as_json: bool) -> None:
    """Send the demo's events to the running server. Every load creates new runs."""
    with connect(settings) as client:
        count, position = load_edition(settings, client)
        client.wait_for(position)
    if as_json:
        print_json({"events": count, "position": position})
    else:
        print_line(f'{count} events loaded. Try: lineage-bridge lineage "{DASHBOARD[0]}" "{DASHBOARD[1]}"')


@demo.command(examples=("demo remove",))
@with_output("print the number of erased runs as JSON")
@with_settings("url", "data_dir")
def remove(settings: Settings, as_json: bool) -> None:
    """Remove the demo's runs from the graph. All other events stay."""
    kept = state_database(settings)
    editions = kept.editions()
    runs = [str(UUID(bytes=run)) for edition in editions for run in run_ids(edition)]
    if runs:
        with connect(settings) as client:
            answer = client.post("/api/v1/operations/erase", json.dumps({"runs": runs}).encode())
            client.wait_for(answer["position"])
        kept.drop_editions(editions)
    if as_json:
        print_json({"runs": len(runs)})
    else:
        print_line(f"the demo is removed: {format_count(len(runs), 'run')} erased" if runs else "the demo is not loaded")


def load_edition(settings: Settings, client: Client) -> tuple[int, str]:
    """Send the demo's events under new run ids: a new edition. Returns the number of events, and the position after them."""
    loaded_us = now_us()
    edition = f"{secrets.token_hex(8)}@{loaded_us}"
    # The edition is recorded before its events are sent, so that `demo remove` finds all that arrived.
    state_database(settings).add_edition(edition)
    return _send(client, events(loaded_us, edition))


def send_heartbeats(settings: Settings, client: Client) -> int:
    """Send the current heartbeats of the demo's streaming jobs, for each time that the demo was loaded. Returns the number of events; 0 if
    the demo was removed.
    """
    at_us = now_us()
    loaded = (
        (edition, int(loaded_us)) for edition in state_database(settings).editions() for _, at, loaded_us in [edition.partition("@")] if at
    )
    found = [event for edition, loaded_us in loaded for event in heartbeat_events(at_us, loaded_us, edition)]
    return _send(client, found)[0] if found else 0


def _send(client: Client, found: Iterable[bytes]) -> tuple[int, str]:
    tally = Tally()
    for batch in batches(FoundEvent("demo", index, raw, line=False) for index, raw in enumerate(found)):
        tally.add(batch, post_batch(client, batch))
    if tally.count("rejected"):
        hint = "lineage-bridge quarantine list shows the reasons"
        raise LineageBridgeError(f"{tally.count('rejected')} of the demo's events were rejected", hint)
    return len(tally.outcomes), tally.position
