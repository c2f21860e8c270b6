"""The command `life`: lists the lifecycle changes of a dataset."""

import click

from lineage_bridge.cli.client import connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings


@click.command(cls=Command, examples=("life kafka://broker:9092 orders",))
@click.argument("namespace")
@click.argument("name")
@with_paging("changes", default=20, most=1000)
@names_option
@with_output()
@with_settings(*CLIENT)
def life(settings: Settings, limit: int, offset: int, style: str, as_json: bool, **parameters: str | int | None) -> None:
    """List the lifecycle changes of a dataset.

    Producers report that a dataset was created, altered, renamed, truncated, overwritten or dropped. The newest change comes first.
    """
    with connect(settings) as client:
        answer = client.query("/api/v1/graph/life", "life", limit=limit, offset=offset, names=style, **parameters)
    if as_json:
        print_json(answer)
    elif answer["life"]:
        rows = [
            [format_time(e["first"]["at"]), e["change"], _name(e["dataset"]), _name(e.get("previous")), _name(e.get("job"))]
            for e in use_preferred_names(answer)["life"]
        ]
        print_table(["at", "change", "dataset", "before", "by"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("no event reported a lifecycle change of this dataset")


def _name(node: dict[str, str] | None) -> str:
    return f"{node['namespace']} {node['name']}" if node else ""
