"""Splitting the tokens of a script into statements."""

from collections.abc import Iterator, Sequence

from lineage_bridge.sql.text.cursor import Cursor
from lineage_bridge.sql.text.tokens import Kind, Token, tokens


def split(text: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Split a script into statements. Statement sets are split too, and `${name}` is replaced by the text of `DEFINE name = 'text'`."""
    defined: dict[str, str] = {}
    start = 0
    for at in range(len(text) + 1):
        if at < len(text) and text[at].upper != ";":
            continue
        statement = _bare(_joined([inner for token in text[start:at] for inner in _substitute(token, defined)]))
        start = at + 1
        if len(statement) == 4 and statement[0].upper == "DEFINE" and statement[2].upper == "=" and statement[3].kind is Kind.STRING:
            defined[statement[1].text] = statement[3].text
        elif statement:
            yield statement


def _substitute(token: Token, defined: dict[str, str]) -> list[Token]:
    if token.kind is Kind.STRING and "${" in token.text:
        text = token.text
        for name, value in defined.items():
            text = text.replace(f"${{{name}}}", value)
        return [Token(token.kind, text, "", token.start, token.end, token.line, token.column)]
    if token.kind is not Kind.VARIABLE or token.text[2:-1] not in defined:
        return [token]
    found = tokens(defined[token.text[2:-1]])
    return [Token(inner.kind, inner.text, inner.upper, token.start, token.end, token.line, token.column) for inner in found]


def _joined(statement: list[Token]) -> list[Token]:
    """Join words of a statement that have no space between them, because the value of a variable may be part of a name."""
    found: list[Token] = []
    for token in statement:
        last = found[-1] if found else token
        if found and last.end == token.start and last.kind is Kind.WORD and token.kind in (Kind.WORD, Kind.NUMBER):
            found[-1] = Token(Kind.WORD, last.text + token.text, last.upper + token.upper, last.start, token.end, last.line, last.column)
        else:
            found.append(token)
    return found


def _bare(statement: list[Token]) -> list[Token]:
    cursor = Cursor(statement)
    while True:
        if (
            cursor.takes("EXECUTE", "STATEMENT", "SET", "BEGIN")
            or cursor.takes("EXECUTE", "STATEMENT", "SET")
            or cursor.takes("BEGIN", "STATEMENT", "SET")
        ):
            continue
        if cursor.sees("EXECUTE") and not cursor.sees("EXECUTE", "PLAN") and not cursor.sees("EXECUTE", "IMMEDIATE"):
            cursor.at += 1
            continue
        if cursor.sees("COMPILE", "PLAN") or cursor.sees("COMPILE", "AND"):
            cursor.until("FOR")
            cursor.takes("FOR")
            cursor.takes("STATEMENT", "SET", "BEGIN")
            continue
        break
    left = list(cursor.rest())
    return [] if [token.upper for token in left] == ["END"] else left
