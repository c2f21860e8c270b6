"""The command `alias`: lists, states and vetoes aliases, which are names of the same dataset or job."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO, TypeVar

import click

from lineage_bridge.cli.client import Json, connect
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import format_count, print_json, print_line, print_message, print_table
from lineage_bridge.cli.notes import print_next_page
from lineage_bridge.cli.options import CLIENT, with_output, with_paging, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError

BATCH_SIZE = 10_000
"""The maximum number of statements in one request."""
OPERATIONS = ("alias", "veto", "lift", "prefer", "withdraw")
CommandT = TypeVar("CommandT", bound=Callable[..., None])
KINDS = ("operator", "symlink", "facet", "rule")
_DONE = {"alias": "added", "veto": "vetoed", "lift": "restored", "prefer": "chosen", "withdraw": "withdrawn"}
_MOST_UNKNOWN = 20
"""The maximum number of unknown names that are printed for one request."""
_NOUNS = {"prefer": "name", "withdraw": "name"}


def _alias_options(command: CommandT) -> CommandT:
    """Add to a command the arguments and options that describe one alias."""
    for option in (
        click.argument("names", nargs=-1, metavar="NAMESPACE NAME NAMESPACE NAME | NAMESPACE NAMESPACE"),
        click.option("--entity", type=click.Choice(["dataset", "job"]), default="dataset", show_default=True, help="what the names denote"),
        click.option("--prefix", default="", help="for two namespaces: prefix of every name in the second one"),
        click.option("--evidence", default="", help="the reason for the alias; for a veto: only this evidence is vetoed"),
    ):
        command = option(command)
    return command


@click.group(
    cls=Group,
    examples=(
        "alias add confluent://env-1/lkc-1 kafka://broker:9092 --evidence 'its own page'",
        "alias veto --kind rule --evidence path-date",
    ),
)
def alias() -> None:
    """List, add and veto aliases: several names of one node."""


@alias.command(name="list", examples=("alias list --kind operator", "alias list --namespace kafka://broker:9092"))
@click.option(
    "--kind", type=click.Choice([*KINDS, "preferred", "veto"]), help="only aliases with this kind of evidence, chosen names, or vetoes"
)
@click.option("--entity", type=click.Choice(["dataset", "job"]), help="only aliases of datasets, or of jobs")
@click.option("--namespace", help="only aliases with a name in this namespace")
@click.option("--name", help="only aliases with this name; needs --namespace")
@with_paging("aliases", default=100, most=1000)
@with_output()
@with_settings(*CLIENT)
def list_(
    settings: Settings,
    kind: str | None,
    entity: str | None,
    namespace: str | None,
    name: str | None,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """List aliases with their evidence, and which are vetoed."""
    if name and not namespace:
        raise click.UsageError("--name needs --namespace")
    with connect(settings) as client:
        answer = client.get("/api/v1/aliases", kind=kind, entity=entity, namespace=namespace, name=name, limit=limit, offset=offset)
    if as_json:
        print_json(answer)
    elif answer["aliases"]:
        rows = [[_state(item), item["entity"], _end(item["a"]), _end(item["b"]), _evidence(item)] for item in answer["aliases"]]
        print_table(["state", "entity", "name", "same as", "evidence"], rows)
        print_next_page(exists=client.has_next_page, limit=limit, offset=offset)
    else:
        print_message("no aliases found")


@alias.command(
    examples=(
        "alias add kafka://broker.internal:9092 orders kafka://10.0.0.7:9092 orders",
        "alias add aws://eu-west-1 arn:aws:glue:eu-west-1:123456789012",
    )
)
@_alias_options
@with_output()
@with_settings(*CLIENT)
def add(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, as_json: bool) -> None:
    """Declare that two names, or two namespaces, are the same.

    With two namespaces, every name in the first is also a name in the second, with --prefix in front of it.
    """
    _send(settings, "alias", [_statement(names, entity=entity, prefix=prefix, evidence=evidence)], as_json=as_json)


@alias.command(
    examples=(
        "alias veto s3://lake orders hive://metastore:9083 shop.orders --kind symlink",
        "alias veto s3://lake s3://lake --kind rule --evidence path-date",
        "alias veto --kind rule --evidence path-epoch",
    )
)
@_alias_options
@click.option("--kind", type=click.Choice(KINDS), default=None, help="only aliases with this kind of evidence")
@with_output()
@with_settings(*CLIENT)
def veto(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, kind: str | None, as_json: bool) -> None:
    """Veto an alias, so that it has no effect.

    Without names, veto a naming rule everywhere. With the same namespace twice, veto a rule within that namespace.
    """
    _send(settings, "veto", [_statement(names, entity=entity, prefix=prefix, evidence=evidence, kind=kind or "")], as_json=as_json)


@alias.command(examples=("alias lift --kind rule --evidence path-epoch",))
@_alias_options
@click.option("--kind", type=click.Choice(KINDS), default=None, help="the --kind of the veto")
@with_output()
@with_settings(*CLIENT)
def lift(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, kind: str | None, as_json: bool) -> None:
    """Remove a veto; repeat its arguments and options."""
    _send(settings, "lift", [_statement(names, entity=entity, prefix=prefix, evidence=evidence, kind=kind or "")], as_json=as_json)


def _name_options(command: CommandT) -> CommandT:
    """Add to a command the arguments and options that describe one name."""
    for option in (
        click.argument("name"),
        click.argument("namespace"),
        click.option("--entity", type=click.Choice(["dataset", "job"]), default="dataset", show_default=True, help="what the name denotes"),
    ):
        command = option(command)
    return command


@alias.command(examples=("alias prefer postgres://db:5432 shop.public.orders",))
@_name_options
@with_output()
@with_settings(*CLIENT)
def prefer(settings: Settings, namespace: str, name: str, entity: str, as_json: bool) -> None:
    """Choose the name that a dataset or job goes by, among its names.

    If there were several choices, the latest counts. Answers as of an earlier time use the choice of that time.
    """
    _send(settings, "prefer", [{"a": {"namespace": namespace, "name": name}, "entity": entity}], as_json=as_json)


@alias.command(examples=("alias withdraw postgres://db:5432 shop.public.orders",))
@_name_options
@with_output()
@with_settings(*CLIENT)
def withdraw(settings: Settings, namespace: str, name: str, entity: str, as_json: bool) -> None:
    """Withdraw the choice of a preferred name."""
    _send(settings, "withdraw", [{"a": {"namespace": namespace, "name": name}, "entity": entity}], as_json=as_json)


@alias.command(examples=("alias load clusters.ndjson",))
@click.argument("file", type=click.File("rb"))
@with_output()
@with_settings(*CLIENT)
def load(settings: Settings, file: BinaryIO, as_json: bool) -> None:
    """Add, veto or restore aliases listed in a file.

    FILE (- for standard input) holds one JSON object a line: {"a": {"namespace", "name"}, "b": {...}, "evidence"}.

    Leave the names out for whole namespaces. "operation" is alias (the default), veto, lift, prefer or withdraw. The order of lines does
    not matter.
    """
    statements: dict[str, list[Json]] = {operation: [] for operation in OPERATIONS}
    for number, line in enumerate(file, 1):
        if line.strip():
            operation, statement = _parse_line(line, number)
            statements[operation].append(statement)
    for operation, listed in statements.items():
        for batch in _batches(listed):
            _send(settings, operation, batch, as_json=as_json)


def _parse_line(line: bytes, number: int) -> tuple[str, Json]:
    try:
        statement = json.loads(line)
    except ValueError as error:
        raise RequestError(f"line {number} is not JSON: {error}", "write one JSON object in each line") from error
    operation = statement.pop("operation", "alias") if isinstance(statement, dict) else ""
    if operation not in OPERATIONS:
        raise RequestError(
            f"line {number} is not a statement about an alias", f"write a JSON object whose `operation` is one of {', '.join(OPERATIONS)}"
        )
    return operation, statement


def _batches(statements: Iterable[Json]) -> Iterator[list[Json]]:
    remaining = iter(statements)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch


def _statement(names: tuple[str, ...], **members: str) -> Json:
    """Build one alias in the form that the API takes. Raises UsageError."""
    if len(names) == 4:
        ends: Json = {"a": {"namespace": names[0], "name": names[1]}, "b": {"namespace": names[2], "name": names[3]}}
    elif len(names) == 2:
        ends = {"a": {"namespace": names[0]}, "b": {"namespace": names[1]}}
    elif not names and "kind" in members:
        ends = {}
    else:
        raise click.UsageError("give NAMESPACE NAME NAMESPACE NAME for two datasets or jobs, or two namespaces")
    return {**ends, **{key: value for key, value in members.items() if value}}


def _send(settings: Settings, operation: str, statements: list[Json], *, as_json: bool) -> None:
    with connect(settings) as client:
        answer = client.post(f"/api/v1/operations/{operation}", json.dumps({"aliases": statements}).encode())
    if as_json:
        print_json(answer)
        return
    print_line(f"{format_count(answer['aliases'], _NOUNS.get(operation, 'alias'))} {_DONE[operation]}")
    _print_unknown(answer.get("unknown", []))


def _print_unknown(ends: list[Json]) -> None:
    """Warn about names that no dataset or job has. They are mistyped, or their events have not arrived yet."""
    for end in ends[:_MOST_UNKNOWN]:
        name = f"is called {_end(end)!r}" if "name" in end else f"is in the namespace {end['namespace']!r}"
        print_message(f"warning: there is no {end['entity']} {name} yet; check the spelling unless its events arrive later")
    if len(ends) > _MOST_UNKNOWN:
        print_message(f"warning: at least {len(ends) - _MOST_UNKNOWN} further names are unknown, too; --json lists them")


def _state(item: Json) -> str:
    if item["kind"] == "preferred":
        return "active" if item["standing"] else "other name"
    return "vetoed" if not item["standing"] else "stale" if item.get("stale") else "active"


def _end(end: Json) -> str:
    return f"{end['namespace']} {end['name']}" if "name" in end else f"{end['namespace']} *"


def _evidence(item: Json) -> str:
    prefix = f"prefix {item['prefix']}" if "prefix" in item else ""
    return " ".join(text for text in (item["kind"], item["evidence"], prefix, _asserters(item)) if text)


def _asserters(item: Json) -> str:
    """The latest asserter of a symlink (a job or dataset), and the number of the others."""
    if "asserted_by" not in item:
        return ""
    others = f" and {item['asserters'] - 1} more" if item["asserters"] > 1 else ""
    return f"by {_end(item['asserted_by'][0])}{others}"
