"""The SQL cases as scripts for Flink's planner, which needs every table declared and every column typed."""

import re
from collections.abc import Iterator

from tests.sql.cases import Case

# The cases give only the names of columns. A name not listed here is an INT.
TYPES = {
    "TIMESTAMP(3)": (
        "ts at order_time update_time taken_at sold_at clicked_at quoted_at read_at reached_at made_at seen_at closed_at changed since"
        " win_start win_end win_time window_start window_end ws we wt started ended began upto until_t end_ts pt minute_time"
    ),
    "STRING": (
        "name first_name last_name surname given nick shown other spare body note fixed status state kind country currency url page sku"
        " carrier city txt sep word title label reason symbol sym day_of day_txt shop product category origin joined customer region"
        " item seller ip k s u worker boss mood subject reply tag host doc clerk first_val attr"
    ),
    "BOOLEAN": "vip ok deleted",
    "DATE": "d next_week",
    "ARRAY<STRING>": "tags list_of",
    "ARRAY<ROW<sku STRING, qty INT>>": "items",
    "ROW<city STRING, kind STRING, address ROW<city STRING>, items ARRAY<ROW<sku STRING>>>": "payload",
    "MAP<STRING, STRING>": "props attrs",
    "MAP<STRING, BYTES>": "hdrs",
}
# Cases in which a name has another type.
TYPES_IN = {
    "casts-and-operators": {"b": "STRING", "c": "STRING", "d": "STRING"},
    "collecting-aggregates": {"v": "STRING"},
    "own-scalar-function": {"b": "STRING"},
    "case-inside-case": {"d": "INT"},
    "in-sub-query": {"since": "DATE"},
}
_TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names.split()}
_LEXEME = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`(?:[^`]|``)*`|;|\s+|\w+|.", re.DOTALL)
_SET_OPENS = ("STATEMENT", "SET", "BEGIN")  # after EXECUTE or EXPLAIN


def statements_for(case: Case) -> list[str]:
    """The tables of the case's schema, declared, and the statements of its script."""
    return [*_declarations(case), *_statements(case.sql)]


def _declarations(case: Case) -> Iterator[str]:
    catalogs = {name.split(".")[0] for name in case.schema if name.count(".") == 2}
    databases = {name.rpartition(".")[0] for name in case.schema if "." in name}
    yield from (f"CREATE CATALOG `{catalog}` WITH ('type' = 'any')" for catalog in sorted(catalogs))
    yield from (f"CREATE DATABASE IF NOT EXISTS {_quoted(database)}" for database in sorted(databases))
    for name, columns in case.schema.items():
        types = {column: TYPES_IN.get(case.name, {}).get(column, _TYPE_OF.get(column, "INT")) for column in columns}
        definitions = [f"`{column}` {kind}" for column, kind in types.items()]
        times = [column for column, kind in types.items() if kind == "TIMESTAMP(3)"]
        definitions += [f"WATERMARK FOR `{column}` AS `{column}`" for column in times[:1]]
        yield f"CREATE TABLE {_quoted(name)} ({', '.join(definitions)})"


def _quoted(name: str) -> str:
    return ".".join(f"`{identifier}`" for identifier in name.split("."))


def _statements(sql: str) -> Iterator[str]:
    """The script at its semicolons; a STATEMENT SET BEGIN ... END is one statement, and comments are left out."""
    lexemes: list[str] = []
    for lexeme in _LEXEME.findall(sql):
        keywords = tuple(text.upper() for text in lexemes if not text.isspace())
        if lexeme == ";" and (keywords[1:4] != _SET_OPENS or keywords[-1] == "END"):
            if keywords:
                yield "".join(lexemes)
            lexemes = []
        elif not lexeme.startswith("--") and (not lexeme.startswith("/*") or lexeme.startswith("/*+")):
            lexemes.append(lexeme)
    if "".join(lexemes).strip():
        yield "".join(lexemes)
