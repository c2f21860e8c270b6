"""The command `sql`: prints the lineage of a SQL script. It needs no server."""

import json
from pathlib import Path
from typing import Any

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line, print_table
from lineage_bridge.cli.options import with_output
from lineage_bridge.errors import RequestError
from lineage_bridge.sql.names import Name, parsed
from lineage_bridge.sql.reading import dialects, lineage_of, tables_of

_CONFIDENT = 1.0


@click.command(
    cls=Command,
    examples=(
        "sql --dialect flink pipeline.sql",
        "sql --dialect ksqldb --json - < queries.sql",
        "sql --dialect snowflake --schema tables.json model.sql",
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--dialect", required=True, metavar="DIALECT", help="flink, confluent-flink, ksqldb, or one of sqlglot's dialects, such as snowflake"
)
@click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="columns of tables that the script does not define: JSON or DDL",
)
@click.option("--kafka", default="", metavar="SERVERS", help="bootstrap servers of the Kafka cluster behind ksqlDB")
@with_output("print all details as JSON")
def sql(file: str, dialect: str, schema: Path | None, kafka: str, as_json: bool) -> None:
    """Print the inputs, outputs and column lineage of a SQL script.

    FILE can be - for standard input. Statements that cannot be parsed are listed with line and column; their tables are still found.

    --schema takes CREATE TABLE statements, or a JSON object of tables, each a list of columns or an object of columns and types.
    """
    if dialect not in dialects():
        raise click.UsageError(f"unknown dialect {dialect!r}; use one of {', '.join(dialects())}")
    with click.open_file(file, encoding="utf-8") as opened:
        text = opened.read()
    found = lineage_of(text, dialect, _tables(schema, dialect), kafka).as_json()
    if as_json:
        print_json(found)
    else:
        _print_answer(found)


def _tables(path: Path | None, dialect: str) -> dict[Name, tuple[str, ...]]:
    if path is None:
        return {}
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return tables_of(text, dialect)
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise RequestError(
            f"{path} is not JSON: {error}", "write an object of tables with their columns, or CREATE TABLE statements"
        ) from error
    return {parsed(name): _columns(path, name, columns) for name, columns in answer.items()}


def _columns(path: Path, table: str, columns: object) -> tuple[str, ...]:
    if isinstance(columns, dict):
        return tuple(map(str, columns))
    if isinstance(columns, list):
        names = [column.get("name") if isinstance(column, dict) else column for column in columns]
        if all(isinstance(name, str) for name in names):
            return tuple(map(str, names))
    raise RequestError(
        f"{path}: the columns of {table!r} are in an unknown format", "write a list of columns, or an object of columns and types"
    )


def _print_answer(found: dict[str, Any]) -> None:
    for title, key in (("reads", "inputs"), ("writes", "outputs"), ("defines", "declares"), ("models", "models")):
        if found[key]:
            print_line(f"{title}: {', '.join(found[key])}")
    for table, dataset in found["datasets"].items():
        print_line(f"{table} is {dataset['namespace']} {dataset['name']}")
    if found["columns"]:
        rows = [
            [f"{c['in_table']}.{c['in_column']}", f"{c['out_table']}.{c['out_column']}", c["subtype"].lower(), _certainty(c["confidence"])]
            for c in found["columns"]
        ]
        print_table(["column", "into", "as", "certainty"], rows)
    if found["indirect"]:
        print_table(
            ["column", "affects rows of", "as"],
            [[f"{i['in_table']}.{i['in_column']}", i["out_table"], i["kind"].lower()] for i in found["indirect"]],
        )
    for error in found["errors"]:
        print_line(f"line {error['line']}, column {error['column']}: {error['message']}")


def _certainty(confidence: float) -> str:
    return "" if confidence >= _CONFIDENT else "by name" if confidence > 0.5 else "ambiguous"
