"""Joins and stars of ksqlDB against a little interpreter that runs them on one row, whose values are the columns they come from."""

from dataclasses import dataclass

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lineage_bridge.sql.reading import lineage_of, tables_of

Origin = frozenset[tuple[str, str]]
Row = dict[str, Origin]

NAMES = ("ID", "V", "W", "KSQL_COL_0", "ROWKEY")


@dataclass(frozen=True)
class Source:
    """A stream: its name, its alias in the query, the column that is its key, and the others."""

    name: str
    alias: str
    key: str
    values: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.key, *self.values)

    @property
    def declaration(self) -> str:
        columns = [*(f"{value} INT" for value in self.values), f"{self.key} INT KEY"]
        return f"CREATE STREAM {self.name} ({', '.join(columns)}) WITH (kafka_topic = '{self.name}', value_format = 'JSON');"


@dataclass(frozen=True)
class Side:
    """One side of a join's condition: a column, or an expression of it."""

    alias: str
    column: str
    plain: bool

    @property
    def text(self) -> str:
        return f"{self.alias}.{self.column}" if self.plain else f"ABS({self.alias}.{self.column})"


@dataclass(frozen=True)
class Join:
    """The join of one more source."""

    full: bool
    left: Side
    right: Side
    flipped: bool

    @property
    def text(self) -> str:
        sides = (self.right, self.left) if self.flipped else (self.left, self.right)
        return " = ".join(side.text for side in sides)


@dataclass(frozen=True)
class Item:
    """A projection: `*` for all columns, `alias.*`, or a column, perhaps within an expression and with a name of its own."""

    kind: str
    alias: str = ""
    column: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        if self.kind in ("all", "source"):
            return "*" if self.kind == "all" else f"{self.alias}.*"
        path = f"{self.alias}.{self.column}" if self.alias else self.column
        return (f"ABS({path})" if self.kind == "expression" else path) + (f" AS {self.name}" if self.name else "")


@dataclass(frozen=True)
class Query:
    sources: tuple[Source, ...]
    joins: tuple[Join, ...]
    items: tuple[Item, ...]

    @property
    def text(self) -> str:
        script = "".join(source.declaration for source in self.sources)
        first, *others = self.sources
        clauses = "".join(
            f" {'FULL OUTER ' if join.full else ''}JOIN {source.name} {source.alias} WITHIN 1 HOUR ON {join.text}"
            for source, join in zip(others, self.joins, strict=True)
        )
        items = ", ".join(item.text for item in self.items)
        return f"{script}CREATE STREAM result AS SELECT {items} FROM {first.name} {first.alias}{clauses};"


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Queries that ksqlDB would plan, but for the key that it wants in the projection."""
    count = draw(st.integers(1, 3))
    sources = []
    for name in ("LEFT_S", "MID_S", "RIGHT_S")[:count]:
        columns = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
        sources.append(Source(name, draw(st.sampled_from((name, name[0]))), columns[0], tuple(columns[1:])))
    joins = []
    for at in range(1, count):
        before = draw(st.sampled_from(sources[:at]))
        left, right = (Side(first.alias, draw(st.sampled_from(first.columns)), draw(st.booleans())) for first in (before, sources[at]))
        joins.append(Join(draw(st.integers(0, 3)) == 0, left, right, draw(st.booleans())))
    items = draw(st.lists(_items(sources), min_size=1, max_size=4))
    return Query(tuple(sources), tuple(joins), tuple(items))


def _items(sources: list[Source]) -> st.SearchStrategy[Item]:
    aliases = st.sampled_from(sources)
    column = aliases.flatmap(lambda source: st.tuples(st.just(source.alias), st.sampled_from(source.columns)))
    names = st.sampled_from(("", "", "A", "B"))
    once = [name for name in NAMES if sum(name in source.columns for source in sources) == 1]
    choices = [
        st.just(Item("all")),
        aliases.map(lambda source: Item("source", source.alias)),
        st.builds(lambda path, name: Item("column", path[0], path[1], name), column, names),
        st.builds(lambda path, name: Item("expression", path[0], path[1], name), column, names),
    ]
    if once:
        choices.append(st.builds(lambda name, alias: Item("column", "", name, alias), st.sampled_from(once), names))
    return st.one_of(choices)


class Interpreter:
    """Runs a query: each source gives one row, in which every column holds its own name."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.is_join = len(query.sources) > 1
        self.row: Row = {}
        for source in query.sources:
            for column in source.columns:
                self.row[f"{source.alias}.{column}"] = frozenset({(source.name, column)})
        self.equal, self.new_key = self._key()

    def _key(self) -> tuple[list[str], str]:
        """The columns that equal the key of the last join, or the name of the key that it makes."""
        first = self.query.sources[0]
        if not self.is_join:
            return [f"{first.alias}.{first.key}"], ""
        equal: list[str] = []
        for join in self.query.joins:
            sides = [join.left.text, join.right.text]
            equal = [] if join.full else [*(equal if set(sides) & set(equal) else []), *sides]
        plain = [text for text in dict.fromkeys(equal) if text in self.row]
        return plain, "" if plain else self._free("ROWKEY", plain_zero=True)

    def _free(self, stem: str, *, plain_zero: bool = False, nth: int = 0) -> str:
        """The nth name with this stem that no source has."""
        used = {column for source in self.query.sources for column in source.columns}
        names = (stem if plain_zero and not number else f"{stem}_{number}" for number in range(99))
        return [name for name in names if name not in used][nth]

    def result(self) -> tuple[list[str], Row]:
        """The names of the result's columns in order, and the row."""
        keys: list[str] = []
        values: list[str] = []
        row: Row = {}
        unnamed = 0
        chosen = next((text for text in self.equal if self._selects(text)), "")
        for item in self.query.items:
            for name, text in self._expand(item):
                own = name or self._free("KSQL_COL", nth=unnamed)
                unnamed += not name
                is_key = text == (chosen or self.new_key) and item.kind != "expression"
                (keys if is_key else values).append(own)
                row[own] = row.get(own, frozenset()) | self._value(text)
        return [*keys, *values], row

    def _value(self, text: str) -> Origin:
        if text != self.new_key:
            return self.row[text]
        last = self.query.joins[-1]
        return self.row[f"{last.left.alias}.{last.left.column}"] | self.row[f"{last.right.alias}.{last.right.column}"]

    def _selects(self, text: str) -> bool:
        alias = text.partition(".")[0]
        return any(
            item.kind == "all" or (item.kind == "source" and item.alias == alias) or (item.kind == "column" and self._text(item) == text)
            for item in self.query.items
        )

    def _text(self, item: Item) -> str:
        owner = item.alias or next(source.alias for source in self.query.sources if item.column in source.columns)
        return f"{owner}.{item.column}"

    def _expand(self, item: Item) -> list[tuple[str, str]]:
        """The columns of a projection: their names, empty for one that is to be made up, and where in the row they are."""
        if item.kind == "expression":
            return [(item.name, self._text(item))]
        if item.kind == "column":
            owner = self._text(item).partition(".")[0]
            clashes = sum(item.column in source.columns for source in self.query.sources) > 1
            return [
                (
                    item.name or (f"{owner}_{item.column}" if clashes else item.column),
                    self._text(item),
                )
            ]
        made = [(self.new_key, self.new_key)] if self.new_key and item.kind == "all" else []
        for source in self.query.sources:
            if item.kind == "all" or item.alias == source.alias:
                made += [(f"{source.alias}_{column}" if self.is_join else column, f"{source.alias}.{column}") for column in source.columns]
        return made


@settings(deadline=None, max_examples=200)
@given(queries())
def test_a_query_fills_the_columns_that_the_interpreter_fills(query: Query) -> None:
    names, row = Interpreter(query).result()
    assume(len(set(names)) == len(names))  # ksqlDB refuses others
    found = lineage_of(query.text, "ksqldb")
    assert found.errors == []
    assert list(tables_of(query.text, "ksqldb")["RESULT",]) == names
    flows = {(flow.in_table[0], flow.in_column, flow.out_column) for flow in found.columns}
    assert flows == {(table, column, name) for name, origins in row.items() for table, column in origins}
    assert {flow.confidence for flow in found.columns} <= {1.0}


@settings(deadline=None, max_examples=50)
@given(queries())
def test_a_copy_of_a_result_has_its_columns(query: Query) -> None:
    names, _ = Interpreter(query).result()
    assume(len(set(names)) == len(names))
    copied = f"{query.text} CREATE STREAM copied AS SELECT * FROM result;"
    assert list(tables_of(copied, "ksqldb")["COPIED",]) == names
