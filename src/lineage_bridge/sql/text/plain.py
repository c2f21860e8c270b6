"""Parses plain SQL with sqlglot. Streaming constructs are represented by the placeholder names that lowering wrote."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parser import Parser as _Parser
from sqlglot.tokenizer_core import TokenType

from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.messages import explained, quoted
from lineage_bridge.sql.text.tokens import Kind, Token


def _signed(parser: _Parser) -> exp.Expr:
    """Parse a unary plus as an expression, like a unary minus. Sqlglot drops the plus, so the result would wrongly have the column's
    name.
    """
    return exp.Neg(this=_Parser.UNARY_PARSERS[TokenType.PLUS](parser))


class _Plain(Dialect):
    """A dialect of sqlglot in which all functions are parsed as calls by name; `columns/functions.py` knows what they mean."""

    class Parser(_Parser):
        UNARY_PARSERS: ClassVar[dict[TokenType, Callable[..., exp.Expr | None]]] = {**_Parser.UNARY_PARSERS, TokenType.PLUS: _signed}
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: _Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Func]]] = {}


@dataclass(frozen=True)
class Argument:
    """An argument of a table function: its name in upper case, or empty, and the tokens of its value."""

    name: str
    tokens: Sequence[Token]


@dataclass(frozen=True)
class TableCall:
    """A table function with its arguments."""

    token: Token
    function: str
    arguments: list[Argument]
    ordinality: bool = False


@dataclass(frozen=True)
class Pattern:
    """A MATCH_RECOGNIZE clause: the tokens of the table that it searches, and the tokens in its parentheses."""

    token: Token
    table: Sequence[Token]
    body: Sequence[Token]


@dataclass
class Query:
    """A query parsed by sqlglot. `line_tokens`: the token written on each line of the plain SQL; empty if the text was not lowered."""

    expression: exp.Expr
    stand_ins: dict[str, TableCall | Pattern]
    line_tokens: list[Token]
    times: list[Sequence[Token]] = field(default_factory=list)
    windowed: bool = False
    partition_by: Sequence[Token] = ()

    def token_of(self, expression: exp.Expr) -> Token | None:
        """The token of the statement at which an expression begins."""
        for part in expression.find_all(exp.Identifier):
            line, column = part.meta.get("line"), part.meta.get("col")
            if isinstance(line, int) and isinstance(column, int):
                return self.line_tokens[line - 1] if self.line_tokens else _token_at(line, column, part.name)
        return self.line_tokens[0] if self.line_tokens else None


def _token_at(line: int, column: int, text: str) -> Token:
    """The column in which a token begins. Sqlglot only stores the column in which it ends."""
    return Token(Kind.WORD, text, text.upper(), 0, 0, line, max(1, column - len(text) + 1))


def _found(token: Token | None) -> str:
    return "" if token is None else quoted(token.text, is_string=token.kind is Kind.STRING)


def parsed(text: str, line_tokens: Sequence[Token]) -> exp.Expr:
    """Parse a text that must be a single query. Raises StatementError."""
    try:
        found = _Plain().parse(text)
    except ParseError as err:
        details = err.errors[0] if err.errors else {}
        line = details.get("line")
        token = line_tokens[min(line, len(line_tokens)) - 1] if isinstance(line, int) and line_tokens else None
        last = token is not None and token is line_tokens[-1] and token.kind is not Kind.MARK
        raise StatementError(explained(str(details.get("description") or ""), _found(token), last=last), token) from err
    except SqlglotError as err:
        raise StatementError(str(err).splitlines()[0], line_tokens[0] if line_tokens else None) from err
    if len(found) != 1 or found[0] is None or isinstance(found[0], exp.Command):
        raise StatementError("this statement is not understood", line_tokens[0] if line_tokens else None)
    return found[0]
