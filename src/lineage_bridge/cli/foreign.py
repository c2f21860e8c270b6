"""The command `foreign`: lists what limited keys asserted about datasets outside their namespaces."""

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings

_WHY = {
    "foreign_dataset": "is about a dataset outside the namespaces",
    "foreign_name": "joins names outside the namespaces",
    "foreign_job": "states lineage of a job outside the namespaces",
}


@click.command(
    cls=Command,
    examples=(
        "foreign",
        "foreign --principal etl",
        "foreign --dataset postgres://db:5432 shop.public.orders --json",
        "foreign --job etl-nightly load",
    ),
)
@click.option("--dataset", nargs=2, metavar="NAMESPACE NAME", help="only assertions about this dataset")
@click.option("--job", nargs=2, metavar="NAMESPACE NAME", help="only assertions of this job")
@click.option("--principal", help="only assertions of this principal")
@with_paging("facets", default=50, most=1000)
@names_option
@with_output("print the server's answer as JSON, with the unchanged facets")
@with_settings(*CLIENT)
def foreign(
    settings: Settings,
    dataset: tuple[str, str] | None,
    job: tuple[str, str] | None,
    principal: str | None,
    limit: int,
    offset: int,
    style: str,
    as_json: bool,
) -> None:
    """List what limited keys asserted about datasets of others.

    Events of a key that is limited to namespaces may name any dataset as input or output. Facets about a dataset outside of these
    namespaces, such as its schema or that it was dropped, are kept, but have no effect. The newest assertion comes first.
    """
    about = dict(zip(("namespace", "name"), dataset or (), strict=False))
    by = dict(zip(("job_namespace", "job_name"), job or (), strict=False))
    with connect(settings) as client:
        parameters = {**about, **by, "principal": principal, "limit": limit, "offset": offset, "names": style}
        answer = client.query("/api/v1/graph/facets/foreign", "foreign", **parameters)
    if as_json:
        print_json(answer)
    elif answer["foreign"]:
        rows = [
            [format_time(item["last_seen"]), item["principal"], _name(item.get("job")), item["key"], _name(item["node"]), _WHY[item["why"]]]
            for item in use_preferred_names(answer)["foreign"]
        ]
        print_table(["last asserted", "by", "job", "facet", "of", "no effect, because it"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("there are no assertions without effect")


def _name(node: dict[str, str] | None) -> str:
    return f"{node['namespace']} {node['name']}" if node else ""
