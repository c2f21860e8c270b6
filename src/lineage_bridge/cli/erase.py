"""The command `erase`: erases a person, a run, a dataset or a namespace from the data folder, and shows the proofs."""

from contextlib import nullcontext

import click
import msgspec

from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, format_time, print_json, print_line, print_message, print_table
from lineage_bridge.cli.options import STORE, with_output, with_settings
from lineage_bridge.cli.process import ATTACHED, begin
from lineage_bridge.config import Settings
from lineage_bridge.model.erasing.erasure import DATASET, INCOMPLETE, NAMESPACE, PERSON, RUN, ErasureReport, ErasureRequest
from lineage_bridge.openlineage.times import format_time as text_of_time
from lineage_bridge.store.state.erasures import ErasureRepository
from lineage_bridge.wiring.backup import server_stopped
from lineage_bridge.wiring.erasing.requests import digest_of, erasure_requests
from lineage_bridge.wiring.erasing.server import carry_out, resume_all
from lineage_bridge.wiring.shared import state_database

_DRY_RUN = click.option("--dry-run", is_flag=True, help="only count what would be erased")
_JSON = with_output("print the proof as JSON")
_SETTINGS = with_settings("data_dir", *STORE)


@click.group(cls=Group, examples=("erase person ada@example.com --dry-run", "erase person ada@example.com"))
def erase() -> None:
    """Erase from every file of the data folder, for good.

    A running server stops its other programs meanwhile, and clients wait. docs/operating.md says what is erased where.
    """


@erase.command(examples=("erase person ada@example.com --dry-run", "erase person ada@example.com"))
@click.argument("identifier")
@_DRY_RUN
@_JSON
@_SETTINGS
@click.pass_context
def person(context: click.Context, settings: Settings, identifier: str, dry_run: bool, as_json: bool) -> None:
    """Erase every event that contains IDENTIFIER, such as an e-mail address.

    It is found anywhere in an event, whatever the case of its letters. Events that this person only sent stay, without the name.
    """
    _erase(context, settings, PERSON, identifier, "", dry_run=dry_run, as_json=as_json)


@erase.command(name=RUN, examples=("erase run 0194f2a0-7c1e-7a55-b6b4-2f6c1f0a9c11",))
@click.argument("run_id")
@_DRY_RUN
@_JSON
@_SETTINGS
@click.pass_context
def run_(context: click.Context, settings: Settings, run_id: str, dry_run: bool, as_json: bool) -> None:
    """Erase every event of the run RUN_ID."""
    _erase(context, settings, RUN, run_id, "", dry_run=dry_run, as_json=as_json)


@erase.command(examples=("erase dataset kafka://broker:9092 customers",))
@click.argument("namespace")
@click.argument("name")
@_DRY_RUN
@_JSON
@_SETTINGS
@click.pass_context
def dataset(context: click.Context, settings: Settings, namespace: str, name: str, dry_run: bool, as_json: bool) -> None:
    """Erase every event that names the dataset NAME in NAMESPACE, exactly as written.

    Such an event is erased whole, with what it says about other datasets.
    """
    _erase(context, settings, DATASET, name, namespace, dry_run=dry_run, as_json=as_json)


@erase.command(examples=("erase namespace kafka://old:9092",))
@click.argument("namespace")
@_DRY_RUN
@_JSON
@_SETTINGS
@click.pass_context
def namespace(context: click.Context, settings: Settings, namespace: str, dry_run: bool, as_json: bool) -> None:
    """Erase every event that names a job or a dataset in NAMESPACE."""
    _erase(context, settings, NAMESPACE, "", namespace, dry_run=dry_run, as_json=as_json)


@erase.command(examples=("erase resume",))
@ATTACHED
@click.option("--dry-runs", is_flag=True, hidden=True, help="only count what would be erased, while a server runs")
@_SETTINGS
def resume(settings: Settings, attached: bool, dry_runs: bool) -> None:
    """Carry out the erasures that were requested and are not finished. The server does so when it starts."""
    if attached:
        begin(settings, "erase", attached=True)
    with nullcontext() if attached else server_stopped(settings.paths):
        found = resume_all(settings, _print_step, dry_runs=dry_runs if attached else None)
    print_line(f"{format_count(len(found), 'erasure')} carried out")


@erase.command(name="list", examples=("erase list",))
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="how many erasures to show")
@with_output("print the proofs as JSON")
@_SETTINGS
def list_(settings: Settings, limit: int, as_json: bool) -> None:
    """List the erasures, the newest first."""
    found = ErasureRepository(state_database(settings)).records(limit)
    if as_json:
        print_json([_as_json(report) for report in found])
    elif found:
        rows = [
            [report.id, format_time(text_of_time(report.requested_us)), _kind(report), report.status, str(report.erased)]
            for report in found
        ]
        print_table(["erasure", "requested", "of", "status", "records"], rows)
    else:
        print_message("nothing was ever erased")


@erase.command(examples=("erase show ID", "erase show ID --of ada@example.com"))
@click.argument("erasure")
@click.option("--of", "whose", metavar="TEXT", help="check that this is what was erased")
@click.option("--namespace", default="", help="the namespace, if a dataset or namespace was erased")
@_JSON
@_SETTINGS
@click.pass_context
def show(context: click.Context, settings: Settings, erasure: str, whose: str | None, namespace: str, as_json: bool) -> None:
    """Show the proof of an erasure. It does not contain what was erased; --of compares."""
    state = state_database(settings)
    report = ErasureRepository(state).record(erasure)
    _print(report, as_json=as_json)
    if whose is None and not namespace:
        return
    if digest_of(ErasureRequest(report.id, report.kind, (whose or "").strip(), namespace), state.key()) != report.digest:
        print_message("no match: something else was erased")
        context.exit(1)
    print_message("match: this is what was erased")


def _print_step(request: ErasureRequest, step: str) -> None:
    print_message(f"erasure {request.id}: {step}")


def _erase(context: click.Context, settings: Settings, kind: str, name: str, namespace: str, *, dry_run: bool, as_json: bool) -> None:
    report = erasure_requests(settings).request(kind, name, namespace, dry_run)
    report = carry_out(settings, report.id, print_message)
    _print(report, as_json=as_json)
    if report.status == INCOMPLETE:
        context.exit(1)


def _print(report: ErasureReport, *, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(report))
        return
    would = "would be " if report.dry_run else ""
    print_line(f"erasure {report.id} of a {_kind(report)}: {report.status}{f', {report.error}' if report.error else ''}")
    print_line(
        f"of {format_count(report.records, 'record')}, {report.erased} {would}erased and {report.masked} {would}masked, "
        f"in {format_count(len(report.files), 'file')}"
    )
    for table, count in report.rows.items():
        print_line(f"{format_count(count, 'row')} of {table} in state.db {would}deleted or masked")
    for title, names in (("removed", report.removed), ("left", report.left), ("not reached", report.elsewhere)):
        for name in names:
            print_line(f"{title}: {name}")


def _kind(report: ErasureReport) -> str:
    return f"{report.kind} (dry run)" if report.dry_run else report.kind


def _as_json(report: ErasureReport) -> object:
    return {**msgspec.to_builtins(report), "erased": report.erased, "masked": report.masked}
