"""The command `pin`: keeps, lists and removes short links to views of the web page."""

import json
from urllib.parse import quote, urlsplit

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command, Group
from lineage_bridge.cli.console import format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

_EXAMPLES = (
    "pin add 'view/impact?namespace=ns&name=orders' --name revenue",
    "pin list",
    "pin remove gezdgnbvgy3tqojq",
)


@click.group(cls=Group, examples=_EXAMPLES)
def pin() -> None:
    """Keep, list and remove short links to views of the web page.

    A pin contains the address of a view, and none of its data.
    """


@pin.command(cls=Command, examples=_EXAMPLES[:1])
@click.argument("address")
@click.option("--name", default="", help="what the view shows")
@with_output()
@with_settings(*CLIENT)
def add(settings: Settings, address: str, name: str, as_json: bool) -> None:
    """Keep a view of the page under a short address, and print this address.

    ADDRESS is the view's whole address, or the part of it that begins with view/.
    """
    with connect(settings) as client:
        answer = client.post("/api/v1/pins", json.dumps({"address": _relative(address), "name": name}).encode())
    if as_json:
        print_json(answer)
    else:
        print_line(f"view/pin/{answer['id']}")


@pin.command(name="list", cls=Command, examples=_EXAMPLES[1:2])
@with_paging("pins", default=100, most=1000)
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, limit: int, offset: int, as_json: bool) -> None:
    """List the pins, the newest first."""
    with connect(settings) as client:
        answer = client.get("/api/v1/pins", limit=limit, offset=offset)
    if as_json:
        print_json(answer)
    elif answer["pins"]:
        rows = [[item["id"], item["name"], item["author"], format_time(item["created_at"]), item["address"]] for item in answer["pins"]]
        print_table(["pin", "name", "who", "since", "address"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("there are no pins")


@pin.command(cls=Command, examples=_EXAMPLES[2:])
@click.argument("pin_id", metavar="ID")
@with_output()
@with_settings(*CLIENT)
def remove(settings: Settings, pin_id: str, as_json: bool) -> None:
    """Remove the pin ID. Its short address then no longer works."""
    with connect(settings) as client:
        answer = client.delete(f"/api/v1/pins/{quote(pin_id, safe='')}")
    if as_json:
        print_json(answer)
    else:
        print_line(f"{pin_id} removed")


def _relative(address: str) -> str:
    """The part of a view's address that a pin contains: the address relative to the page."""
    path, _, query = address.partition("?") if "://" not in address else (urlsplit(address).path, "", urlsplit(address).query)
    _, found, view = f"/{path}".rpartition("/view/")
    return f"view/{view}?{query}" if found and query else f"view/{view}" if found else address
