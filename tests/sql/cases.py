"""The answer book of streaming SQL: scripts with the lineage that a reader would write down. CONVENTIONS.md has its rules and form."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BOOK = Path(__file__).parent / "cases"
# What Flink's own planner answers, written by `make oracle`.
PLANNER = Path(__file__).parent / "planner.json"
DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
INDIRECT = ("FILTER", "JOIN", "GROUP_BY", "WINDOW", "SORT", "CONDITIONAL")

_PART = r"(?:`(?:[^`]|``)+`|[^\s.,`]+)"
_NAME = rf"{_PART}(?:\.{_PART})*"
_DIRECT = re.compile(rf"(?P<source>{_NAME}) -> (?P<target>{_NAME}) (?P<kinds>[A-Z_|]+)")
_INDIRECT = re.compile(rf"(?P<maybe>\? )?(?P<source>{_NAME}) ~> (?P<target>{_NAME}) (?P<kinds>[A-Z_|]+)")
_DATASET = re.compile(rf"(?P<table>{_NAME}) = (?P<namespace>\S+) (?P<name>.+)")
_ERROR = re.compile(r"line (?P<line>\d+)(?: column (?P<column>\d+))?")
_TABLE = re.compile(r"(?P<name>[^()]+)\((?P<columns>[^()]*)\)")
_CASE = re.compile(r"(?P<head>.*?)^--- sql\n(?P<sql>.*?)^--- answer\n(?P<answer>.*)", re.DOTALL | re.MULTILINE)
_HEAD = ("dialect", "schema")
_ONCE = ("inputs", "outputs", "declares", "models", "errors")
_OFTEN = ("datasets", "error")


@dataclass(frozen=True)
class Flow:
    """A direct flow from column to column. Tables are names as the answer writes them, columns bare; any of `kinds` is right."""

    in_table: str
    in_column: str
    out_table: str
    out_column: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Influence:
    """An indirect flow from a column onto a table: at least one of `kinds` is there, unless it is `optional`."""

    in_table: str
    in_column: str
    out_table: str
    kinds: frozenset[str]
    optional: bool


@dataclass(frozen=True)
class Case:
    """One script and its answer. `errors` are counted, `positions` are their (line, column), column 0 where only the line is."""

    name: str
    group: str
    dialect: str
    schema: dict[str, tuple[str, ...]]
    sql: str
    inputs: frozenset[str]
    optional_inputs: frozenset[str]
    outputs: frozenset[str]
    declares: frozenset[str]
    models: frozenset[str]
    datasets: dict[str, tuple[str, str]]
    errors: int
    positions: tuple[tuple[int, int], ...]
    columns: tuple[Flow, ...]
    indirect: tuple[Influence, ...]

    @property
    def digest(self) -> str:
        """What is asked, in short: it changes with the script and the schema."""
        return hashlib.sha256(repr((self.dialect, self.schema, self.sql)).encode()).hexdigest()[:16]


@cache
def cases() -> tuple[Case, ...]:
    """All cases, by group and in the order of the book. Raises ValueError for what is not in the book's form."""
    return tuple(case for path in sorted(BOOK.glob("*.txt")) for case in _read(path))


def planned_cases() -> list[Case]:
    """The cases that Flink's planner is asked: those of Flink's dialects without an error."""
    return [case for case in cases() if case.dialect in ("flink", "confluent-flink") and not case.errors]


def _read(path: Path) -> Iterator[Case]:
    before, *texts = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{path.name} starts with text of no case")
    for text in texts:
        name, _, body = text.partition("\n")
        try:
            yield _case(name.strip(), path.stem, body)
        except ValueError as e:
            raise ValueError(f"{path.name}, {name}: {e}") from None


def _case(name: str, group: str, body: str) -> Case:
    parts = _CASE.fullmatch(body)
    if not parts:
        raise ValueError("no sql or no answer")
    head = dict(_fields(parts["head"].splitlines(), _HEAD))
    lines = [line.rstrip() for line in parts["answer"].splitlines() if line.strip()]
    flows = [line for line in lines if " -> " in line]
    influences = [line for line in lines if " ~> " in line]
    fields = list(_fields([line for line in lines if line not in flows and line not in influences], _ONCE + _OFTEN))
    once = {key: value for key, value in fields if key in _ONCE}
    if len(once) != sum(key in _ONCE for key, _ in fields):
        raise ValueError("a list is given twice")
    inputs = _names(once.get("inputs", ""))
    return Case(
        name=name,
        group=group,
        dialect=head["dialect"],
        schema=dict(_table(text) for text in head.get("schema", "").split(";") if text.strip()),
        sql=parts["sql"],
        inputs=frozenset(name for name in inputs if not name.startswith("?")),
        optional_inputs=frozenset(name[1:] for name in inputs if name.startswith("?")),
        outputs=_names(once.get("outputs", "")),
        declares=_names(once.get("declares", "")),
        models=_names(once.get("models", "")),
        datasets=dict(_dataset(value) for key, value in fields if key == "datasets"),
        errors=int(once.get("errors", 0)),
        positions=tuple(_position(value) for key, value in fields if key == "error"),
        columns=tuple(_flow(line) for line in flows),
        indirect=tuple(_influence(line) for line in influences),
    )


def _fields(lines: list[str], allowed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for line in lines:
        key, colon, value = line.partition(":")
        if not colon or key not in allowed:
            raise ValueError(f"not understood: {line!r}")
        yield key, value.strip()


def _names(text: str) -> frozenset[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        _match(re.compile(rf"\??{_NAME}"), name)
    if len(set(names)) != len(names):
        raise ValueError(f"a name is given twice: {text}")
    return frozenset(names)


def _table(text: str) -> tuple[str, tuple[str, ...]]:
    found = _match(_TABLE, text.strip())
    return found["name"].strip(), tuple(column.strip() for column in found["columns"].split(","))


def _dataset(text: str) -> tuple[str, tuple[str, str]]:
    found = _match(_DATASET, text)
    return found["table"], (found["namespace"], found["name"])


def _position(text: str) -> tuple[int, int]:
    found = _match(_ERROR, text)
    return int(found["line"]), int(found["column"] or 0)


def _flow(line: str) -> Flow:
    found = _match(_DIRECT, line)
    return Flow(*_column(found["source"]), *_column(found["target"]), _kinds(found["kinds"], DIRECT))


def _influence(line: str) -> Influence:
    found = _match(_INDIRECT, line)
    return Influence(*_column(found["source"]), found["target"], _kinds(found["kinds"], INDIRECT), bool(found["maybe"]))


def _column(text: str) -> tuple[str, str]:
    parts = re.findall(_PART, text)
    if len(parts) < 2:
        raise ValueError(f"a column without its table: {text}")
    last = parts[-1][1:-1].replace("``", "`") if parts[-1].startswith("`") else parts[-1]
    return ".".join(parts[:-1]), last


def _kinds(text: str, allowed: tuple[str, ...]) -> frozenset[str]:
    kinds = frozenset(text.split("|"))
    if not kinds <= set(allowed):
        raise ValueError(f"no such kind: {text}")
    return kinds


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if not found:
        raise ValueError(f"not understood: {text!r}")
    return found
