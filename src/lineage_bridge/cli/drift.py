"""The command `drift`: shows where the declared and the observed inputs and outputs of jobs differ."""

import click

from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import format_count, format_time, print_json, print_message, print_table
from lineage_bridge.cli.name_styles import names_option, use_preferred_names
from lineage_bridge.cli.options import CLIENT, with_output, with_settings
from lineage_bridge.config import Settings

_DRIFTS = {"declared": "declared, not observed", "observed": "observed, not declared"}


@click.command(cls=Command, examples=("drift", "drift 'flink*' --job 'orders*'"))
@click.argument("namespace", required=False, metavar="[NAMESPACE GLOB]")
@click.option("--job", metavar="GLOB", help="only jobs with these names")
@click.option("--limit", type=click.IntRange(1, 5000), default=1000, show_default=True, help="maximum number of lines")
@click.option("--offset", type=click.IntRange(0), default=0, help="number of declared jobs to skip")
@names_option
@with_output()
@with_settings(*CLIENT)
def drift(settings: Settings, namespace: str | None, job: str | None, limit: int, offset: int, style: str, as_json: bool) -> None:
    """List where jobs differ from their declarations.

    Compares the jobs that have a declaration. Each line says since when the difference is known.
    """
    with connect(settings) as client:
        answer = client.get("/api/v1/graph/drift", namespace=namespace, name=job, limit=limit, offset=offset, names=style)
    if as_json:
        print_json(answer)
        return
    if answer["drifts"]:
        print_table(["job", "drift", "what", "name", "since"], [_row(difference) for difference in use_preferred_names(answer)["drifts"]])
    elif answer["jobs"]:
        print_message(f"no drift in {format_count(answer['jobs'], 'declared job')}")
    else:
        print_message("no drift in 0 declared jobs: there is nothing to compare; events without a run (JobEvent) declare what jobs do")
    if "next" in answer:
        print_message(f"there are more jobs; continue with --offset {answer['next']}")


def _row(difference: Json) -> list[str]:
    ends = [f"{end['namespace']} {end['name']}" for end in (difference["node"], difference.get("target")) if end]
    job = f"{difference['job']['namespace']} {difference['job']['name']}"
    return [job, _DRIFTS[difference["drift"]], difference["what"], " -> ".join(ends), format_time(difference.get("since", ""))]
