"""SQL statements on tables of Unity Catalog, read by sqlglot's lexer of Databricks' dialect, by the documented grammar of each statement.

What the documentation does not allow is refused with the SQL state that Databricks documents for it.
"""

import re
import sqlite3
from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.databricks import Databricks

Json = dict[str, Any]
ALTERED = {"VIEW": "VIEW", "METRIC_VIEW": "VIEW", "STREAMING_TABLE": "STREAMING TABLE", "MATERIALIZED_VIEW": "MATERIALIZED VIEW"}
_KEY = re.compile(r"[^.,\-=/:]{1,255}")


class SqlError(Exception):
    """A statement failed, with this SQL state."""

    def __init__(self, sql_state: str, message: str) -> None:
        super().__init__(message)
        self.sql_state = sql_state


class Statement:
    """Reads the tokens of a statement one after the other."""

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = Databricks().tokenize(text)
        self.at = 0

    def is_next(self, *words: str) -> bool:
        """Whether these words are next, which are then read."""
        ahead = self.tokens[self.at : self.at + len(words)]
        if [token.text.upper() for token in ahead if token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)] != list(words):
            return False
        self.at += len(words)
        return True

    def expect(self, *words: str) -> None:
        if not self.is_next(*words):
            raise SqlError("42601", f"[PARSE_SYNTAX_ERROR] expected {' '.join(words)}")

    def _text(self, kind: TokenType) -> str:
        if self.at >= len(self.tokens) or self.tokens[self.at].token_type != kind:
            raise SqlError("42601", f"[PARSE_SYNTAX_ERROR] expected {kind}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def literal(self) -> str:
        return self._text(TokenType.STRING)

    def name(self, parts: int) -> list[str]:
        found = [self._text(TokenType.IDENTIFIER).lower()]
        while len(found) < parts:
            self.expect(".")
            found.append(self._text(TokenType.IDENTIFIER).lower())
        return found

    def listed(self, read: Callable[[], Any]) -> list[Any]:
        self.expect("(")
        found = [read()]
        while self.is_next(","):
            found.append(read())
        self.expect(")")
        return found

    def pair(self) -> tuple[str, str]:
        key = self.literal()
        self.expect("=")
        return key, self.literal()

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise SqlError("42601", f"[PARSE_SYNTAX_ERROR] at {self.tokens[self.at].text!r}")


class SqlTables:
    """Tables with `table_type`, `properties`, `comment` and `columns` (name to comment), and `tags` by table and column."""

    def __init__(self) -> None:
        self.tables: dict[str, Json] = {}
        self.tags: dict[tuple[str, str], dict[str, str]] = {}
        self.denied: set[str] = set()
        self.may_tag = True

    def add(self, name: str, *columns: str, kind: str = "MANAGED", comment: str = "") -> Json:
        self.tables[name] = {"table_type": kind, "properties": {}, "comment": comment, "columns": dict.fromkeys(columns, "")}
        return self.tables[name]

    def rows(self, text: str, given: dict[str, str]) -> list[list[str | None]]:
        """Run a statement: change tables, or return the rows of a query."""
        if text.startswith("SELECT"):
            return self._selected(text, given)
        statement = Statement(text)
        if statement.is_next("COMMENT", "ON"):
            self._comment(statement)
        else:
            statement.expect("ALTER")
            self._alter(statement)
        return []

    def _selected(self, text: str, given: dict[str, str]) -> list[list[str | None]]:
        query = sqlglot.parse_one(text, dialect="databricks")
        for table in query.find_all(exp.Table):
            assert (table.catalog, table.db) == ("system", "information_schema")
            table.set("catalog", None)
            table.set("db", None)
        with sqlite3.connect(":memory:") as database:
            database.create_function("concat_ws", -1, lambda between, *texts: between.join(texts))
            named = "catalog_name, schema_name, table_name, tag_name, tag_value"
            database.execute(f"CREATE TABLE table_tags ({named})")
            database.execute(f"CREATE TABLE column_tags ({named}, column_name)")
            for (name, column), tags in self.tags.items():
                for key, value in tags.items():
                    row = [*name.split("."), key, value or None, *([column] if column else [])]
                    into = "column_tags" if column else "table_tags"
                    database.execute(f"INSERT INTO {into} VALUES ({', '.join('?' * len(row))})", row)
            return [list(row) for row in database.execute(query.sql("sqlite"), given)]

    def _table(self, name: str) -> Json:
        if name not in self.tables:
            raise SqlError("42P01", f"[TABLE_OR_VIEW_NOT_FOUND] The table or view {name} cannot be found.")
        if name in self.denied:
            raise SqlError("42501", f"[INSUFFICIENT_PERMISSIONS] User does not have MODIFY on Table '{name}'.")
        return self.tables[name]

    def _column(self, table: Json, column: str) -> str:
        for spelled in table["columns"]:
            if spelled.lower() == column:
                return str(spelled)
        raise SqlError("42703", f"[UNRESOLVED_COLUMN] A column {column} cannot be resolved.")

    def _comment(self, statement: Statement) -> None:
        is_column = not statement.is_next("TABLE")
        if is_column:
            statement.expect("COLUMN")
        parts = statement.name(3 + is_column)
        statement.expect("IS")
        text = "" if statement.is_next("NULL") else statement.literal()
        statement.end()
        table = self._table(".".join(parts[:3]))
        if is_column:
            table["columns"][self._column(table, parts[3])] = text
        else:
            table["comment"] = text

    def _alter(self, statement: Statement) -> None:
        altered = next(
            (words for words in ("TABLE", "VIEW", "STREAMING TABLE", "MATERIALIZED VIEW") if statement.is_next(*words.split())), ""
        )
        name = ".".join(statement.name(3))
        column = statement.name(1)[0] if statement.is_next("ALTER", "COLUMN") else ""
        change = self._change(statement, altered, column)
        statement.end()
        table = self._table(name)
        right = ALTERED.get(table["table_type"], "TABLE")
        if altered != right and not (right == "VIEW" and altered == "TABLE" and column):
            raise SqlError("42809", f"[EXPECT_TABLE_NOT_VIEW] {name} is a {right}")
        if table["table_type"] == "FOREIGN":
            raise SqlError("0A000", "[UNSUPPORTED_FEATURE] foreign tables cannot be altered")
        change(name, self._column(table, column) if column else "")

    def _change(self, statement: Statement, altered: str, column: str) -> Callable[[str, str], None]:
        if altered in ("TABLE", "VIEW") and not column and statement.is_next("SET", "TBLPROPERTIES"):
            pairs = dict(_unique(statement.listed(statement.pair)))
            return lambda name, _: self.tables[name]["properties"].update(pairs)
        if altered in ("TABLE", "VIEW") and not column and statement.is_next("UNSET", "TBLPROPERTIES"):
            statement.expect("IF", "EXISTS")
            names = statement.listed(statement.literal)
            return lambda name, _: self._unset(name, names)
        if statement.is_next("SET", "TAGS"):
            tags = dict(_unique(statement.listed(statement.pair)))
            return lambda name, of: self._tag(name, of, tags)
        statement.expect("UNSET", "TAGS")
        keys = statement.listed(statement.literal)
        return lambda name, of: self._untag(name, of, keys)

    def _unset(self, name: str, keys: list[str]) -> None:
        for key in keys:
            self.tables[name]["properties"].pop(key, None)

    def _tag(self, name: str, column: str, tags: dict[str, str]) -> None:
        self._may_tag(name)
        for key, value in tags.items():
            if not _KEY.fullmatch(key) or key != key.strip() or value != value.strip() or len(value) > 1000:
                raise SqlError("22023", f"[INVALID_PARAMETER_VALUE] {key!r} is no tag")
        after = {**self.tags.get((name, column), {}), **tags}
        if len(after) > 50:
            raise SqlError("54000", "[TAG_LIMIT] a securable has at most 50 tags")
        self.tags[name, column] = after

    def _untag(self, name: str, column: str, keys: list[str]) -> None:
        self._may_tag(name)
        found = self.tags.get((name, column), {})
        for key in keys:
            if key not in found:
                raise SqlError("42704", f"[TAG_NOT_FOUND] {key}")
            del found[key]

    def _may_tag(self, name: str) -> None:
        if not self.may_tag:
            raise SqlError("42501", f"[INSUFFICIENT_PERMISSIONS] User does not have APPLY TAG on '{name}'.")


def _unique(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise SqlError("42713", "[DUPLICATE_KEY]")
    return pairs
