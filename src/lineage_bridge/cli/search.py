"""`search`: datasets and jobs by their names and by what is said of them."""

import click

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import say, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings

_FIELDS = ["name", "column", "owner", "tag", "description", "sql"]


@click.command(
    cls=Command,
    examples=(
        'search "orders fact" --kind dataset',
        "search customer_id --in column --in sql",
        "search --owner team:data --has schema",
    ),
)
@click.argument("text", required=False)
@click.option("--in", "where", type=click.Choice(_FIELDS), multiple=True, help="where to search; everywhere, if not given")
@click.option("--kind", type=click.Choice(["dataset", "job"]), help="only these")
@click.option("--namespace", help="only in this namespace")
@click.option("--owner", help="only what this owner owns")
@click.option("--tag", metavar="KEY[=VALUE]", help="only what is so tagged")
@click.option("--has", multiple=True, metavar="KEY", help="only what has a facet of this key")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="most results")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def search(
    settings: Settings, text: str | None, where: tuple[str, ...], has: tuple[str, ...], style: str, as_json: bool, **asked: str | int | None
) -> None:
    """Find datasets and jobs by name and by what is said.

    Every word of TEXT is a part of the name, or begins a word of a column, owner, tag, description or SQL text.
    """
    if text is None and asked["owner"] is None and asked["tag"] is None:
        raise click.UsageError("TEXT, --owner or --tag says what to search for")
    with Client(settings.address) as client:
        said = client.get("/api/v1/search", q=text, has=list(has) or None, names=style, **{"in": list(where) or None}, **asked)
    if as_json:
        write_json(said)
        return
    if not said["results"]:
        say(f"nothing is named like {text!r}, and nothing said of anything matches" if text else "there is nothing of that kind")
        return
    rows = [
        [n["kind"], n["namespace"], n["name"], "; ".join(f"{m['in']}: {m['text']}" for m in n.get("matched", []))]
        for n in spelt(said)["results"]
    ]
    write_table(["kind", "namespace", "name", "matched"], rows)
    if said.get("truncated"):
        say("very much matches; only some of it was looked at")
