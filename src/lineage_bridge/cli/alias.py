"""`alias`: names that stand for one dataset or job."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO, TypeVar

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import counted, say, write, write_json, write_table
from lineage_bridge.cli.options import CLIENT, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError

AT_ONCE = 10_000
OPERATIONS = ("alias", "veto", "lift")
_COMMAND = TypeVar("_COMMAND", bound=Callable[..., None])
_json_flag = click.option("--json", "as_json", is_flag=True, help="print the server's own answer")


def _ends(command: _COMMAND) -> _COMMAND:
    """The options of one alias."""
    for option in (
        click.argument("names", nargs=-1, metavar="NAMESPACE NAME NAMESPACE NAME | NAMESPACE NAMESPACE"),
        click.option("--entity", type=click.Choice(["dataset", "job"]), default="dataset", show_default=True, help="what the names are of"),
        click.option("--prefix", default="", help="of namespaces: what the second has before the names of the first"),
        click.option("--evidence", default="", help="why; of a veto: which evidence alone"),
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
    """See, state and take back names that stand for one thing."""


@alias.command(name="list", examples=("alias list --kind operator", "alias list --namespace kafka://broker:9092"))
@click.option(
    "--kind", type=click.Choice(["operator", "symlink", "facet", "rule", "veto"]), help="only on this kind of evidence, or what is vetoed"
)
@click.option("--entity", type=click.Choice(["dataset", "job"]), help="only these")
@click.option("--namespace", help="only where either end is in this namespace")
@click.option("--name", help="only where either end has this name; with --namespace")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="most aliases")
@_json_flag
@with_settings(*CLIENT)
def list_(
    settings: Settings, kind: str | None, entity: str | None, namespace: str | None, name: str | None, limit: int, as_json: bool
) -> None:
    """List aliases with their evidence and whether they stand."""
    with Client(settings.address) as client:
        said = client.get("/api/v1/aliases", kind=kind, entity=entity, namespace=namespace, name=name, limit=limit)
    if as_json:
        write_json(said)
    elif said["aliases"]:
        rows = [[_state(item), item["entity"], _end(item["a"]), _end(item["b"]), _why(item)] for item in said["aliases"]]
        write_table(["", "entity", "name", "is", "because of"], rows)
    else:
        say("no alias is known")


@alias.command(
    examples=(
        "alias add kafka://broker.internal:9092 orders kafka://10.0.0.7:9092 orders",
        "alias add aws://eu-west-1 arn:aws:glue:eu-west-1:123456789012 --evidence 'our own'",
    )
)
@_ends
@_json_flag
@with_settings(*CLIENT)
def add(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, as_json: bool) -> None:
    """State that two names, or two whole namespaces, stand for one thing.

    Each name of the first namespace is a name of the second, with --prefix before it.
    """
    _send(settings, "alias", [_word(names, entity=entity, prefix=prefix, evidence=evidence)], as_json=as_json)


@alias.command(
    examples=(
        "alias veto s3://lake orders hive://metastore:9083 shop.orders --kind symlink",
        "alias veto s3://lake s3://lake --kind rule --evidence path-date",
        "alias veto --kind rule --evidence path-epoch",
    )
)
@_ends
@click.option("--kind", type=click.Choice(["operator", "symlink", "facet", "rule"]), default=None, help="only evidence of this kind")
@_json_flag
@with_settings(*CLIENT)
def veto(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, kind: str | None, as_json: bool) -> None:
    """Take an alias back, as if it had never been.

    Without names: a rule everywhere. With one namespace twice: a rule within it.
    """
    _send(settings, "veto", [_word(names, entity=entity, prefix=prefix, evidence=evidence, kind=kind or "")], as_json=as_json)


@alias.command(examples=("alias lift --kind rule --evidence path-epoch",))
@_ends
@click.option("--kind", type=click.Choice(["operator", "symlink", "facet", "rule"]), default=None, help="as the veto was given")
@_json_flag
@with_settings(*CLIENT)
def lift(settings: Settings, names: tuple[str, ...], entity: str, prefix: str, evidence: str, kind: str | None, as_json: bool) -> None:
    """Take a veto back; give it as it was given."""
    _send(settings, "lift", [_word(names, entity=entity, prefix=prefix, evidence=evidence, kind=kind or "")], as_json=as_json)


@alias.command(examples=("alias load clusters.ndjson",))
@click.argument("file", type=click.File("rb"))
@_json_flag
@with_settings(*CLIENT)
def load(settings: Settings, file: BinaryIO, as_json: bool) -> None:
    """State, veto or lift what a file says.

    FILE is NDJSON, - for standard input: {"a": {"namespace", "name"}, "b": {...}, "evidence"} a line, names left out for whole
    namespaces; "operation" is alias by itself, else veto or lift. The order of lines does not matter.
    """
    words: dict[str, list[Json]] = {operation: [] for operation in OPERATIONS}
    for number, line in enumerate(file, 1):
        if line.strip():
            operation, word = _read(line, number)
            words[operation].append(word)
    for operation, some in words.items():
        for part in _parts(some):
            _send(settings, operation, part, as_json=as_json)


def _read(line: bytes, number: int) -> tuple[str, Json]:
    try:
        word = json.loads(line)
    except ValueError as error:
        raise RequestError(f"line {number} is no JSON: {error}") from error
    operation = word.pop("operation", "alias") if isinstance(word, dict) else ""
    if operation not in OPERATIONS:
        raise RequestError(f"line {number} is no alias", f"an object; operation is one of {', '.join(OPERATIONS)}")
    return operation, word


def _parts(words: Iterable[Json]) -> Iterator[list[Json]]:
    waiting = iter(words)
    while part := list(islice(waiting, AT_ONCE)):
        yield part


def _word(names: tuple[str, ...], **members: str) -> Json:
    """An alias as it is sent. Raises UsageError."""
    if len(names) == 4:
        ends: Json = {"a": {"namespace": names[0], "name": names[1]}, "b": {"namespace": names[2], "name": names[3]}}
    elif len(names) == 2:
        ends = {"a": {"namespace": names[0]}, "b": {"namespace": names[1]}}
    elif not names and "kind" in members:
        ends = {}
    else:
        raise click.UsageError("give two names, each with its namespace before it, or two namespaces")
    return {**ends, **{key: value for key, value in members.items() if value}}


def _send(settings: Settings, operation: str, words: list[Json], *, as_json: bool) -> None:
    with Client(settings.address) as client:
        said = client.post(f"/api/v1/operations/{operation}", json.dumps({"aliases": words}).encode())
    if as_json:
        write_json(said)
        return
    done = {"alias": "stated", "veto": "vetoed", "lift": "free of their veto"}[operation]
    write(f"{counted(said['aliases'], 'alias') if said['aliases'] == 1 else str(said['aliases']) + ' aliases'} {done}")


def _state(item: Json) -> str:
    return "stands" if item["standing"] else "vetoed"


def _end(end: Json) -> str:
    return f"{end['namespace']} {end['name']}" if "name" in end else f"{end['namespace']} *"


def _why(item: Json) -> str:
    prefix = f"prefix {item['prefix']}" if "prefix" in item else ""
    return " ".join(text for text in (item["kind"], item["evidence"], prefix) if text)
