"""The law: every relation of the graph, its key, and how two rows with one key become one.

A column is part of the key, a **min**, a **max** (of values of which any is told, where it may be NULL), the value of a **greatest** or
**least** (chosen together with its order, a tuple that ends with an event id and is therefore total), or the **same** wherever the key is
the same. Every merge is commutative, associative and idempotent, so events may come late, twice, and in any order. Nothing counts:
counts are queries.

The law is executed by `merge` (plain Python), `upsert_sql` (a store) and `pipeline.law` (a replay), all generated from `RELATIONS`.
Rows are flat tuples: the key's columns, then the others, in the order they are declared. Times are int64 microseconds UTC; ids of events,
runs, contents and facets are 16 bytes; node ids are signed 64-bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import Any

Row = tuple[Any, ...]

NEVER_US = -(2**63)
"""The time of an order that nothing has been said under."""
NO_EVENT = b""
"""The event id of such an order."""


class Side(IntEnum):
    """From which side a run or a statement speaks of something."""

    INPUT = 0
    OUTPUT = 1
    SELF = 2
    RUN = 3
    INPUT_ACCESS = 4
    OUTPUT_ACCESS = 5


class Origin(IntEnum):
    """Whether something was seen to happen, said at design time, or concluded."""

    OBSERVED = 1
    DECLARED = 2
    INFERRED = 3


class Evidence(IntEnum):
    """What a flow rests on, strongest first."""

    EXPLICIT = 1
    COLUMN = 2
    CO_OCCURRENCE = 3
    STITCHED = 4
    RENAMED = 5

    @property
    def text(self) -> str:
        """How answers write it."""
        return self.name.lower().replace("_", "-")


class Type(Enum):
    """The type of a column."""

    INT = "int"
    TEXT = "text"
    BYTES = "bytes"


class Law(Enum):
    """How a column of two rows with one key becomes one value."""

    KEY = "key"
    SAME = "same"
    MIN = "min"
    MAX = "max"
    GREATEST = "greatest"
    LEAST = "least"


@dataclass(frozen=True)
class Column:
    """One column. `group` names the order it is chosen with; the group's `ordinal` columns are that order, compared from left to right."""

    name: str
    type: Type
    law: Law
    group: str = ""
    ordinal: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Relation:
    """One relation: a name and its columns, key first."""

    name: str
    columns: tuple[Column, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All column names, in the order of a row."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The names of the key's columns."""
        return tuple(column.name for column in self.columns if column.law is Law.KEY)

    @cached_property
    def key_size(self) -> int:
        """How many columns the key has."""
        return len(self.key)

    @cached_property
    def merge(self) -> Callable[[Row, Row], Row]:
        """The plain execution of the law: two rows of values (without the key) to one."""
        return _merger(self)


def _key(name: str, type_: Type) -> Column:
    return Column(name, type_, Law.KEY)


def _same(name: str, type_: Type, *, optional: bool = False) -> Column:
    return Column(name, type_, Law.SAME, optional=optional)


def _span() -> tuple[Column, Column]:
    return Column("first", Type.INT, Law.MIN), Column("last", Type.INT, Law.MAX)


def _least(group: str, *order: tuple[str, Type]) -> tuple[Column, ...]:
    return tuple(Column(name, type_, Law.LEAST, group, True) for name, type_ in order)


def _greatest(group: str, values: tuple[tuple[str, Type], ...], *order: tuple[str, Type]) -> tuple[Column, ...]:
    chosen = tuple(Column(name, type_, Law.GREATEST, group, optional=True) for name, type_ in values)
    return chosen + tuple(Column(name, type_, Law.GREATEST, group, True) for name, type_ in order)


def _relation(name: str, *columns: Column) -> Relation:
    return Relation(name, columns)


NODE = _relation(
    "node",
    _key("id", Type.INT),
    _key("kind", Type.INT),
    _key("namespace", Type.TEXT),
    _key("name", Type.TEXT),
    Column("first", Type.INT, Law.MIN),
)
"""One row per dataset or job that an event or a facet names, and when first. Two names with one id would be two rows: the store refuses the
second."""

EVENT = _relation(
    "event",
    _key("time", Type.INT),
    _key("event", Type.BYTES),
    Column("effective", Type.INT, Law.MIN),
    _same("type", Type.TEXT),
    _same("asserted_by", Type.BYTES),
    _same("job", Type.INT),
    _same("dataset", Type.INT),
    _same("repairs", Type.TEXT),
)
"""One row per event. Its time is a function of its bytes and leads the key, so that events lie in the order of time. `type` is empty when
absent, `subject` the run or the design-time statement, `job` and `dataset` 0 when it speaks of none."""

EVENT_RECORD = _relation(
    "event_record",
    _key("time", Type.INT),
    _key("event", Type.BYTES),
    _key("source", Type.TEXT),
    _key("partition", Type.INT),
    _key("offset", Type.INT),
    _same("arrival", Type.INT),
    _same("channel", Type.TEXT),
    _same("principal", Type.TEXT),
)
"""One row per record that carried an event: where it lies, when and how it came."""

QUARANTINE = _relation(
    "quarantine",
    _key("event", Type.BYTES),
    _key("source", Type.TEXT),
    _key("partition", Type.INT),
    _key("offset", Type.INT),
    _same("code", Type.TEXT),
    _same("path", Type.TEXT),
    _same("message", Type.TEXT),
    _same("sample", Type.TEXT),
    _same("size", Type.INT),
    _same("arrival", Type.INT),
    _same("channel", Type.TEXT),
    _same("principal", Type.TEXT),
)
"""One row per record that is kept but not used, with the reason. `sample` is the start of its text."""

RUN = _relation(
    "run",
    _key("run", Type.BYTES),
    _key("job", Type.INT),
    *_greatest(
        "parent",
        (("parent_run", Type.BYTES), ("parent_job", Type.INT), ("root_run", Type.BYTES), ("root_job", Type.INT)),
        ("parent_time", Type.INT),
        ("parent_event", Type.BYTES),
    ),
    *_greatest(
        "nominal",
        (("nominal_start", Type.INT), ("nominal_end", Type.INT)),
        ("nominal_time", Type.INT),
        ("nominal_event", Type.BYTES),
    ),
    *_greatest("raw", (("raw_id", Type.TEXT),), ("raw_event", Type.BYTES)),
)
"""One row per run and job; a run seen under two jobs has two. A parent that never spoke is known by those that name it.
`raw_id` is the run id as it was sent, where that was no UUID."""

RUN_EVENT = _relation("run_event", _key("run", Type.BYTES), _key("type", Type.TEXT), _key("day", Type.INT), *_span())
"""One row per run, event type and UTC day: when it was first and last said. State is read from these (see runs.py)."""

RUN_IO = _relation(
    "run_io",
    _key("run", Type.BYTES),
    _key("job", Type.INT),
    _key("dataset", Type.INT),
    _key("side", Type.INT),
    _key("day", Type.INT),
    *_span(),
)
"""One row per run, job, dataset, side and UTC day."""

IO_SAMPLE = _relation(
    "io_sample",
    _key("run", Type.BYTES),
    _key("job", Type.INT),
    _key("dataset", Type.INT),
    _key("side", Type.INT),
    _key("time", Type.INT),
    *(Column(counter, Type.INT, Law.MAX, optional=True) for counter in ("rows", "bytes", "files")),
    Column("event", Type.BYTES, Law.MAX),
)
"""What a run said at one time of the amount it read or wrote: rows, bytes, files. Of several events at that time each counter is the
greatest that one of them told, and `event` the greatest id."""

ASSERTION = _relation(
    "assertion",
    _key("asserted_by", Type.BYTES),
    _key("job", Type.INT),
    _key("node", Type.INT),
    _key("side", Type.INT),
    _key("origin", Type.INT),
    _key("facet_set", Type.BYTES),
    _key("day", Type.INT),
    *_least("first", ("first", Type.INT), ("first_event", Type.BYTES)),
    *_greatest("last", (), ("last", Type.INT), ("last_event", Type.BYTES)),
)
"""What a run, or a design-time statement, said about a node: the address of the content, and when on that UTC day first and last."""

FACET_SET = _relation("facet_set", _key("facet_set", Type.BYTES), _key("key", Type.TEXT), _same("facet", Type.BYTES))
"""The facets of one content: facet key to facet."""

DECLARED_IO = _relation(
    "declared_io",
    _key("facet_set", Type.BYTES),
    _key("side", Type.INT),
    _key("dataset", Type.INT),
    _key("dataset_facet_set", Type.BYTES),
)
"""The inputs and outputs of one design-time statement, each with the address of its facets."""

FACET = _relation("facet", _key("facet", Type.BYTES), _same("deleted", Type.INT), _same("text", Type.TEXT))
"""One row per facet text, stored once; `deleted` is 1 for a tombstone."""

ENDING = _relation(
    "ending",
    _key("source", Type.INT),
    _key("target", Type.INT),
    _key("job", Type.INT),
    *_greatest("ending", (("ended", Type.INT), ("at", Type.INT)), ("ending_time", Type.INT), ("ending_event", Type.BYTES)),
)
"""What operators said last of a flow: that it has ended `at` a time (`standing` 1), or that it has not (0).
A source or target of 0 is any."""

LIFECYCLE = _relation(
    "lifecycle",
    _key("asserted_by", Type.BYTES),
    _key("job", Type.INT),
    _key("dataset", Type.INT),
    _key("change", Type.TEXT),
    _key("previous", Type.INT),
    _key("day", Type.INT),
    *_least("first", ("first", Type.INT), ("first_event", Type.BYTES)),
    *_greatest("last", (), ("last", Type.INT), ("last_event", Type.BYTES)),
)
"""What a run, or a design-time statement, said of a dataset's life: ALTER, CREATE, DROP, OVERWRITE, RENAME or TRUNCATE, and when on that
UTC day first and last. `job` is 0 when none is named, `previous` the dataset's earlier name (0: none stated)."""

JOB_DEPENDENCY = _relation(
    "job_dependency",
    _key("run", Type.BYTES),
    _key("job", Type.INT),
    _key("direction", Type.INT),
    _key("other_job", Type.INT),
    _key("other_run", Type.BYTES),
    _key("dependency", Type.TEXT),
    _key("sequence", Type.TEXT),
    _key("status", Type.TEXT),
    *_span(),
)
"""What a run said of control flow, which is no data flow: a job, and perhaps a run of it (else empty), that it waits for (`direction` 0,
upstream) or that waits for it (1, downstream). `dependency`, `sequence` and `status` are words of the jobDependencies facet, or empty."""

ERASED = _relation("erased", _key("run", Type.BYTES), Column("since", Type.INT, Law.MIN))
"""Runs that an operator has erased: nothing said under them counts, before or after."""

RELEASED = _relation("released", _key("event", Type.BYTES), Column("since", Type.INT, Law.MIN))
"""Events that were in quarantine and have been accepted since."""

_ALIAS_KEY = (
    _key("entity", Type.INT),
    _key("whole", Type.INT),
    _key("a_namespace", Type.TEXT),
    _key("a_name", Type.TEXT),
    _key("b_namespace", Type.TEXT),
    _key("b_name", Type.TEXT),
    _key("kind", Type.TEXT),
    _key("evidence", Type.TEXT),
)
ALIAS = _relation(
    "alias",
    *_ALIAS_KEY,
    *_greatest("stated", (("stated_by", Type.TEXT),), ("stated_at", Type.INT), ("stated_event", Type.BYTES)),
    *_greatest("veto", (("vetoed", Type.INT),), ("vetoed_at", Type.INT), ("vetoed_event", Type.BYTES)),
)
"""What operators said of one alias and its evidence: whether they stated it, and whether it is vetoed. By names: either end may be one that
nobody has used yet. With `whole`, of two namespaces: a name `n` of `a_namespace` is `b_name + n` of `b_namespace`. A veto on a rule
everywhere has no names; on a rule within a namespace, that namespace twice."""

ALIAS_STATEMENT = _relation(
    "alias_statement",
    *_ALIAS_KEY,
    _key("at", Type.INT),
    _key("event", Type.BYTES),
    _same("operation", Type.TEXT),
    _same("stated_by", Type.TEXT),
)
"""Each thing that operators ever said of an alias (`word`: alias, veto, lift), and when: what `alias` was made of at an earlier time."""

RELATIONS: tuple[Relation, ...] = (
    NODE,
    EVENT,
    EVENT_RECORD,
    QUARANTINE,
    RUN,
    RUN_EVENT,
    RUN_IO,
    IO_SAMPLE,
    ASSERTION,
    FACET_SET,
    DECLARED_IO,
    FACET,
    ERASED,
    RELEASED,
    ALIAS,
    ALIAS_STATEMENT,
    LIFECYCLE,
    JOB_DEPENDENCY,
    ENDING,
)
BY_NAME = {relation.name: relation for relation in RELATIONS}


def groups_of(relation: Relation) -> dict[str, list[Column]]:
    """The columns that are chosen together, by the name of their group."""
    groups: dict[str, list[Column]] = {}
    for column in relation.columns:
        if column.group:
            groups.setdefault(column.group, []).append(column)
    return groups


def _merger(relation: Relation) -> Callable[[Row, Row], Row]:
    """Compile the law of one relation to a function over the values of two rows: one expression, since a fold spends its time here."""
    values = relation.columns[relation.key_size :]
    parts: list[str] = []
    for place, column in enumerate(values):
        if column.law is Law.MIN:
            parts.append(f"a[{place}] if a[{place}] <= b[{place}] else b[{place}]")
        elif column.law is Law.MAX and column.optional:
            parts.append(f"a[{place}] if b[{place}] is None or (a[{place}] is not None and a[{place}] >= b[{place}]) else b[{place}]")
        elif column.law is Law.MAX:
            parts.append(f"a[{place}] if a[{place}] >= b[{place}] else b[{place}]")
        elif column.law is Law.SAME:
            parts.append(f"a[{place}]")
        elif place == 0 or values[place - 1].group != column.group:
            parts.append(_choice(values, place))
    merge: Callable[[Row, Row], Row] = eval(f"lambda a, b: a if a == b else ({''.join(part + ', ' for part in parts)})")  # noqa: S307 - ours
    return merge


def _choice(values: tuple[Column, ...], first: int) -> str:
    """The expression of a group's columns, which stand side by side and end with their order: those of the row whose order wins."""
    group = [column for column in values if column.group == values[first].group]
    end = first + len(group)
    order = end - sum(column.ordinal for column in group)
    sign = ">" if group[0].law is Law.GREATEST else "<"
    return f"*(b[{first}:{end}] if b[{order}:{end}] {sign} a[{order}:{end}] else a[{first}:{end}])"


def upsert_sql(relation: Relation, source: str, *, least: str = "min", greatest: str = "max") -> str:
    """The SQL execution of the law: merge the rows that `source` (VALUES or a SELECT) gives into the relation's table.

    `least` and `greatest` are the dialect's functions of two arguments. A row that changes nothing is not written.
    """
    columns = ", ".join(f'"{name}"' for name in relation.names)
    key = ", ".join(f'"{name}"' for name in relation.key)
    head = f'INSERT INTO "{relation.name}" ({columns}) {source} ON CONFLICT ({key})'
    sets, changes = _updates(relation, least, greatest)
    if not sets:
        return f"{head} DO NOTHING"
    return f"{head} DO UPDATE SET {', '.join(sets)} WHERE {' OR '.join(changes)}"


def _updates(relation: Relation, least: str, greatest: str) -> tuple[list[str], list[str]]:
    """The assignments of an upsert and the conditions under which one of them changes something."""
    table, sets, changes = relation.name, [], []
    for column in relation.columns:
        ours, theirs = f'"{table}"."{column.name}"', f'excluded."{column.name}"'
        if column.law is Law.MIN:
            sets.append(f'"{column.name}" = {least}({ours}, {theirs})')
            changes.append(f"{theirs} < {ours}")
        elif column.law is Law.MAX:
            known = (f"coalesce({ours}, {theirs})", f"coalesce({theirs}, {ours})") if column.optional else (ours, theirs)
            sets.append(f'"{column.name}" = {greatest}({known[0]}, {known[1]})')
            changes.append(f"({theirs} IS NOT NULL AND ({ours} IS NULL OR {theirs} > {ours}))" if column.optional else f"{theirs} > {ours}")
    for columns in groups_of(relation).values():
        order = [c.name for c in columns if c.ordinal]
        sign = ">" if columns[0].law is Law.GREATEST else "<"
        ours = ", ".join(f'"{table}"."{name}"' for name in order)
        theirs = ", ".join(f'excluded."{name}"' for name in order)
        wins = f"({theirs}) {sign} ({ours})"
        changes.append(wins)
        sets += [f'"{c.name}" = CASE WHEN {wins} THEN excluded."{c.name}" ELSE "{table}"."{c.name}" END' for c in columns]
    return sets, changes
