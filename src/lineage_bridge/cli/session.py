"""The command `session`: lists and ends the sessions of people who have logged in with a browser."""

from urllib.parse import quote

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings


@click.group(cls=Group, examples=("session list", "session end 9f86d081884c7d65", "session end 'company:ada#8f2c'"))
def session() -> None:
    """List and end the sessions of people in browsers.

    docs/security.md describes sessions.
    """


@session.command(name="list", examples=("session list", "session list --principal 'company:ada#8f2c'"))
@click.option("--principal", help="only sessions of this principal, exactly")
@with_paging("sessions", default=100, most=1000)
@with_output()
@with_settings(*CLIENT)
def list_(settings: Settings, principal: str | None, limit: int, offset: int, as_json: bool) -> None:
    """List the sessions, the one that began last first."""
    with connect(settings) as client:
        answer = client.get("/api/v1/sessions", principal=principal, limit=limit, offset=offset)
    if as_json:
        print_json(answer)
    elif answer["sessions"]:
        times = ("began_at", "last_used_at", "expires_at")
        rows = [
            [item["id"], item["principal"], item.get("address", ""), *(format_time(item[name]) for name in times)]
            for item in answer["sessions"]
        ]
        print_table(["session", "who", "from", "since", "last used", "expires"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("nobody is logged in with a browser" if principal is None else f"{principal!r} is not logged in with a browser")


@session.command(examples=("session end 9f86d081884c7d65", "session end 'company:ada#8f2c'"))
@click.argument("name")
@with_output()
@with_settings(*CLIENT)
def end(settings: Settings, name: str, as_json: bool) -> None:
    """End the session with the id NAME, or all sessions of the principal NAME. Their next requests are refused."""
    with connect(settings) as client:
        answer = client.delete(f"/api/v1/sessions/{quote(name, safe='')}")
    if as_json:
        print_json(answer)
    else:
        print_line(f"{format_count(answer['ended'], 'session')} ended")
