"""`demo`: loading the demo pipeline and taking it out again."""

import json
import secrets
from uuid import UUID

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import write
from lineage_bridge.cli.files import FoundEvent, batches
from lineage_bridge.cli.options import with_settings
from lineage_bridge.cli.send import Tally, post
from lineage_bridge.config import Settings
from lineage_bridge.demo.events import events, run_ids
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.wiring import control, now_us

DASHBOARD = ("looker://acme.cloud.looker.com", "Executive Revenue Dashboard")
"""Where the demo's way ends."""


@click.group(cls=Group, examples=("demo load",))
def demo() -> None:
    """Load a demo pipeline, or take it out again.

    It is that of a made-up shop, from its database to its revenue dashboard.
    """


@demo.command(examples=("demo load",))
@with_settings("url", "data_dir")
def load(settings: Settings) -> None:
    """Send the demo's events to the running server. Each loading is a set of runs of its own."""
    with Client(settings.address) as client:
        count, position = load_edition(settings, client)
        client.wait_for(position)
    write(f'{count} events are in. Try: lineage-bridge lineage "{DASHBOARD[0]}" "{DASHBOARD[1]}"')


@demo.command(examples=("demo remove",))
@with_settings("url", "data_dir")
def remove(settings: Settings) -> None:
    """Take the demo out of all answers. What other events say stays."""
    kept = control(settings)
    editions = kept.editions()
    if not editions:
        write("no demo is loaded")
        return
    runs = [str(UUID(bytes=run)) for edition in editions for run in run_ids(edition)]
    with Client(settings.address) as client:
        said = client.post("/api/v1/operations/erase", json.dumps({"runs": runs}).encode())
        client.wait_for(said["position"])
    kept.drop_editions(editions)
    write(f"the demo is out: {len(runs)} runs erased")


def load_edition(settings: Settings, client: Client) -> tuple[int, str]:
    """Send a fresh edition of the demo; how many events it has, and the position that contains them."""
    edition = secrets.token_hex(8)
    # Before anything is sent, so that whatever arrives can be taken out again.
    control(settings).add_edition(edition)
    tally = Tally()
    found = (FoundEvent("demo", index, raw, line=False) for index, raw in enumerate(events(now_us(), edition)))
    for batch in batches(found):
        tally.add(batch, post(client, batch))
    if tally.count("rejected"):
        hint = "lineage-bridge quarantine list tells why"
        raise LineageBridgeError(f"{tally.count('rejected')} of the demo's events were rejected", hint)
    return len(tally.outcomes), tally.position
