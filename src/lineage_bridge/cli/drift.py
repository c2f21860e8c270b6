"""`drift`: where what jobs were declared to do and what they were seen to do differ."""

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import counted, say, write_json, write_table
from lineage_bridge.cli.name_styles import spelt, with_names
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings

_WORDS = {"declared": "declared, not observed", "observed": "observed, not declared"}


@click.command(cls=Command, examples=("drift", "drift 'flink*' --job 'orders*'"))
@click.argument("namespace", required=False, metavar="[NAMESPACE GLOB]")
@click.option("--job", metavar="GLOB", help="only jobs of these names")
@click.option("--limit", type=click.IntRange(1, 5000), default=1000, show_default=True, help="most lines")
@click.option("--offset", type=click.IntRange(0), default=0, help="declared jobs to leave out at the start")
@with_names
@click.option("--json", "as_json", is_flag=True, help="print the server's own answer")
@with_settings(*CLIENT)
def drift(settings: Settings, namespace: str | None, job: str | None, limit: int, offset: int, style: str, as_json: bool) -> None:
    """List where jobs do something else than was declared.

    Only jobs that something has declared are compared; each line says since when it is known.
    """
    with Client(settings.address) as client:
        said = client.get("/api/v1/graph/drift", namespace=namespace, name=job, limit=limit, offset=offset, names=style)
    if as_json:
        write_json(said)
        return
    if said["drifts"]:
        write_table(["job", "drift", "what", "name", "since"], [_row(one) for one in spelt(said)["drifts"]])
    else:
        say(f"no drift in {counted(said['jobs'], 'declared job')}")
    if "next" in said:
        say(f"there is more: --offset {said['next']}")


def _row(one: Json) -> list[str]:
    ends = [f"{end['namespace']} {end['name']}" for end in (one["node"], one.get("target")) if end]
    job = f"{one['job']['namespace']} {one['job']['name']}"
    return [job, _WORDS[one["drift"]], one["what"], " -> ".join(ends), one.get("since", "")]
