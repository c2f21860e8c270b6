"""`sql`: what statements of SQL read, write and do to columns. Needs no server."""

import json
from pathlib import Path
from typing import Any

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import write, write_json, write_table
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
    "--dialect", required=True, metavar="DIALECT", help="flink, confluent-flink, ksqldb, or a dialect of sqlglot, such as snowflake"
)
@click.option(
    "--schema", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="tables that the script does not define: JSON or DDL"
)
@click.option("--kafka", default="", metavar="SERVERS", help="bootstrap servers of the cluster that ksqlDB's topics are in")
@click.option("--json", "as_json", is_flag=True, help="print everything, as JSON")
def sql(file: str, dialect: str, schema: Path | None, kafka: str, as_json: bool) -> None:
    """Tell what a script of SQL reads, writes and does to columns.

    FILE may be - for standard input. What is not understood is told with its place, and its tables are told all the same.
    --schema takes an object of tables, each a list of columns or an object of columns and types, or CREATE TABLE statements.
    """
    if dialect not in dialects():
        raise click.UsageError(f"there is no dialect {dialect}; there are {', '.join(dialects())}")
    with click.open_file(file, encoding="utf-8") as opened:
        text = opened.read()
    found = lineage_of(text, dialect, _tables(schema, dialect), kafka).as_json()
    if as_json:
        write_json(found)
    else:
        _tell(found)


def _tables(path: Path | None, dialect: str) -> dict[Name, tuple[str, ...]]:
    if path is None:
        return {}
    text = path.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return tables_of(text, dialect)
    try:
        said = json.loads(text)
    except ValueError as error:
        raise RequestError(
            f"{path} is not JSON: {error}", "Give an object of tables with their columns, or CREATE TABLE statements."
        ) from error
    return {parsed(name): _columns(path, name, columns) for name, columns in said.items()}


def _columns(path: Path, table: str, columns: object) -> tuple[str, ...]:
    if isinstance(columns, dict):
        return tuple(map(str, columns))
    if isinstance(columns, list):
        names = [column.get("name") if isinstance(column, dict) else column for column in columns]
        if all(isinstance(name, str) for name in names):
            return tuple(map(str, names))
    raise RequestError(
        f"{path}: {table} has no columns that can be read", "A table is a list of columns, or an object of columns and types."
    )


def _tell(found: dict[str, Any]) -> None:
    for title, key in (("reads", "inputs"), ("writes", "outputs"), ("defines", "declares"), ("models", "models")):
        if found[key]:
            write(f"{title}: {', '.join(found[key])}")
    for table, dataset in found["datasets"].items():
        write(f"{table} is {dataset['namespace']} {dataset['name']}")
    if found["columns"]:
        rows = [
            [f"{c['in_table']}.{c['in_column']}", f"{c['out_table']}.{c['out_column']}", c["subtype"].lower(), _sure(c["confidence"])]
            for c in found["columns"]
        ]
        write_table(["column", "into", "as", ""], rows)
    if found["indirect"]:
        write_table(
            ["column", "decides about", "as"],
            [[f"{i['in_table']}.{i['in_column']}", i["out_table"], i["kind"].lower()] for i in found["indirect"]],
        )
    for fault in found["errors"]:
        write(f"line {fault['line']}, column {fault['column']}: {fault['message']}")


def _sure(confidence: float) -> str:
    return "" if confidence >= _CONFIDENT else "as written" if confidence > 0.5 else "one of several"
