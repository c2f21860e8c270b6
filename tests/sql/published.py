"""Statements that others published, with the columns that they fill and where these come from. CONVENTIONS.md has the form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name

BOOK = Path(__file__).parent / "published"

Origin = tuple[Name, str]

_PART = re.compile(r"`((?:[^`]|``)+)`|([^\s`.,+=:]+)")
_COLUMN = re.compile(r"((?:`[^`]+`|[^\s`=])+)(=?)((?:`[^`]+`|[^\s`])*)")
_SHORT = re.compile(r"(stream|table) (\S+?)\((.*)\)")
_ANSWER = re.compile(r"> ((?:`[^`]+`|[^`:])+): (.*)")


@dataclass(frozen=True)
class Sink:
    """A table that one statement of a script fills: its columns in order, each with the columns that it contains."""

    table: Name
    columns: tuple[tuple[str, frozenset[Origin]], ...]

    @property
    def flows(self) -> frozenset[tuple[Origin, str]]:
        """All flows into the table."""
        return frozenset((origin, column) for column, origins in self.columns for origin in origins)


@dataclass(frozen=True)
class Published:
    """A script and the sinks of its statements."""

    name: str
    dialect: str
    sql: str
    sinks: tuple[Sink, ...]


@cache
def published() -> tuple[Published, ...]:
    """All scripts of the book, in its order. Raises ValueError for what is not in the book's form."""
    return tuple(script for path in sorted(BOOK.glob("*.txt")) for script in _read(path))


def found(lineage: Lineage, table: Name) -> frozenset[tuple[Origin, str]]:
    """What flows into a table."""
    return frozenset(((flow.in_table, flow.in_column), flow.out_column) for flow in lineage.columns if flow.out_table == table)


def _read(path: Path) -> Iterator[Published]:
    for block in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        yield _script(f"{path.stem}/{name.strip()}", path.stem.partition("_")[0], body.strip().splitlines())


def _script(name: str, dialect: str, lines: list[str]) -> Published:
    sql: list[str] = []
    sinks: list[Sink] = []
    tables: set[str] = set()
    for line in lines:
        short, answer = _SHORT.fullmatch(line), _ANSWER.fullmatch(line)
        if short is not None:
            sql.append(
                f"CREATE {short[1].upper()} {short[2]} ({short[3]}) WITH (kafka_topic = '{short[2].lower()}', value_format = 'JSON');"
            )
            tables |= {short[2].upper()} if short[1] == "table" else set()
        elif answer is not None:
            sinks.append(_sink(answer[1], answer[2], f"O{len(sinks)}"))
        elif line.startswith(("SELECT ", "WITH ")) and (not sql or sql[-1].endswith(";")):
            source = re.split(r"\bFROM\s+", line, maxsplit=1, flags=re.IGNORECASE)[1].split()[0].upper()
            kind = "TABLE" if " GROUP BY " in line or source in tables else "STREAM"
            sql.append(f"CREATE {kind} O{len(sinks)} AS {line};")
        elif not line.startswith("> "):
            sql.append(line)
        else:
            raise ValueError(f"{name}: {line}")
    return Published(name, dialect, "\n".join(sql), tuple(sinks))


def _sink(head: str, columns: str, made: str) -> Sink:
    names = [_names(text) for text in re.findall(r"(?:`[^`]+`|[^\s`])+", head)]
    table, source = (names[0], names[1]) if len(names) == 2 else ((made,), names[0])
    return Sink(table, tuple(_column(found, source) for found in _COLUMN.findall(columns)))


def _column(written: tuple[str, str, str], source: Name) -> tuple[str, frozenset[Origin]]:
    (name,), equals, origins = _names(written[0]), written[1], written[2]
    if not equals:
        return name, frozenset()
    paths = [_names(text) for text in re.findall(r"(?:`[^`]+`|[^`+])+", origins)] or [(name,)]
    return name, frozenset((path[:-1] or source, path[-1]) for path in paths)


def _names(text: str) -> Name:
    return tuple(quoted or bare for quoted, bare in _PART.findall(text))
