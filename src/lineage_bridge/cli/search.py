"""The command `search`: finds datasets and jobs by their names and metadata."""

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

_FIELDS = ["name", "column", "owner", "tag", "description", "sql", "failure"]


@click.command(
    cls=Command,
    examples=(
        'search "orders fact" --kind dataset',
        "search customer_id --in column --in sql",
        "search --owner team:data --has schema",
        "search --has dataQualityAssertions",
    ),
)
@click.argument("text", required=False)
@click.option("--in", "where", type=click.Choice(_FIELDS), multiple=True, help="where to search; can be repeated [default: everywhere]")
@click.option("--kind", type=click.Choice(["dataset", "job"]), help="only datasets, or only jobs")
@click.option("--namespace", help="only in this namespace")
@click.option("--owner", help="only with this owner")
@click.option("--tag", metavar="KEY[=VALUE]", help="only with this tag")
@click.option("--has", multiple=True, metavar="KEY", help="only with this facet; can be repeated")
@with_paging("results", default=20, most=1000)
@names_option
@with_output()
@with_settings(*CLIENT)
def search(
    settings: Settings,
    text: str | None,
    where: tuple[str, ...],
    has: tuple[str, ...],
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
    **parameters: str | int | None,
) -> None:
    """Find datasets and jobs by name and metadata.

    Every word of TEXT must be part of the name, or the beginning of a word in a column, owner, tag, description or SQL text.
    """
    if text is None and parameters["owner"] is None and parameters["tag"] is None and not has:
        raise click.UsageError("give TEXT, --owner, --tag or --has")
    page = {"limit": limit, "offset": offset}
    with connect(settings) as client:
        answer = client.query(
            "/api/v1/search", "results", q=text, has=list(has) or None, names=style, **{"in": list(where) or None}, **parameters, **page
        )
    if as_json:
        print_json(answer)
        return
    if not answer["results"]:
        print_message(f"no dataset or job matches {text!r}" if text else "no dataset or job matches")
        return
    rows = [
        [n["kind"], n["namespace"], n["name"], "; ".join(f"{m['in']}: {m['text']}" for m in n.get("matched", []))]
        for n in use_preferred_names(answer)["results"]
    ]
    print_table(["kind", "namespace", "name", "matched"], rows)
    print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    if answer.get("truncated"):
        print_message("too many matches: only some of them were examined; narrow the search with more words, --in, --kind or --namespace")
