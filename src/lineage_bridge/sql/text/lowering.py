"""Lowers a streaming query to plain SQL, which sqlglot can parse. Each token is written on its own line, so an error's line number gives
the token.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from lineage_bridge.sql.text.cursor import Cursor, folded
from lineage_bridge.sql.text.keywords import COMMAS, DROPPED, ENDINGS, is_keyword
from lineage_bridge.sql.text.plain import Pattern, TableCall
from lineage_bridge.sql.text.tokens import Kind, Token

STAND_IN = "\x01"
"""The prefix of stand-in names."""

FIELD = "\x02"
"""The prefix of a field's name where ksqlDB writes `column->field`; `*` stands for all fields."""

Rule = tuple[tuple[str, ...], "Callable[[Lowering, Token], bool]"]
"""The words that a construct begins with, and the action; the action returns False if the construct is another one."""


class Lowering:
    """Writes tokens as plain SQL, one per line. `rules` handle the constructs that only streaming SQL has, by their first word."""

    def __init__(self, tokens: Sequence[Token], rules: Mapping[str, Sequence[Rule]], *, ksql: bool, keywords: Collection[str] = ()) -> None:
        self.cursor = Cursor(tokens, folds=ksql)
        self.ksql = ksql
        self.rules = rules
        self.keywords = keywords
        self.lines: list[str] = []
        self.line_tokens: list[Token] = []
        self.stand_ins: dict[str, TableCall | Pattern] = {}
        self.times: list[Sequence[Token]] = []
        self.windowed = False
        self.partition_by: Sequence[Token] = ()

    def emit(self, text: str, token: Token) -> None:
        """Add a line to the plain text."""
        self.lines.append(text)
        self.line_tokens.append(token)

    def stand_in(self, what: TableCall | Pattern) -> None:
        """Store a construct in `stand_ins` under a new placeholder name, and write this name in place of the construct."""
        name = f"{STAND_IN}{len(self.stand_ins)}"
        self.stand_ins[name] = what
        self.emit(f'"{name}"', what.token)

    def run(self) -> None:
        """Lower all tokens."""
        while self.cursor.token is not None:
            self._step()

    def inside(self, tokens: Sequence[Token]) -> None:
        """Lower other tokens here, before continuing with the remaining ones."""
        outer, self.cursor = self.cursor, Cursor(tokens, folds=self.ksql)
        while self.cursor.token is not None:
            self._step()
        self.cursor = outer

    def _step(self) -> None:
        cursor = self.cursor
        token = cursor.tokens[cursor.at]
        if any(cursor.sees(*seen) and act(self, token) for seen, act in self.rules.get(token.upper, ())):
            return
        cursor.at += 1
        if token.kind is Kind.STRING:
            self.emit("'" + token.text.replace("'", "''").replace("\n", " ") + "'", token)
        elif token.kind is Kind.NUMBER or token.kind is Kind.MARK:
            self._mark(token)
        elif token.kind is Kind.WORD and (token.upper in self.keywords or is_keyword(cursor, token)):
            self.emit(token.upper, token)
        elif cursor.sees("(") and token.kind is not Kind.VARIABLE:
            self._call(token)
        else:
            self.emit(quoted(folded(token, folds=self.ksql)), token)

    def _mark(self, token: Token) -> None:
        if self.ksql and token.text == "=>":
            self.emit("->", token)
        elif token.text in (":=", "=>"):
            self.emit("=>", token)
        else:
            self.emit("!=" if token.text == "<>" else token.text, token)

    def _call(self, token: Token) -> None:
        """Lower a function and its arguments."""
        cursor = self.cursor
        name = token.upper or token.text
        self.emit(quoted(name), token)
        opening = cursor.tokens[cursor.at]
        body = cursor.group()
        self.emit("(", opening)
        if name in ENDINGS:
            body = _before(body, ENDINGS[name])
        dropped, commas = DROPPED.get(name, ()), COMMAS.get(name, ())
        if dropped or commas:
            self._arguments(body, dropped, commas)
        else:
            self.inside(body)
        self.emit(")", cursor.tokens[cursor.at - 1])

    def _arguments(self, body: Sequence[Token], dropped: Collection[str], commas: Collection[str]) -> None:
        argument: list[Token] = []
        depth, first = 0, True
        for token in body:
            depth += (token.upper in ("(", "[")) - (token.upper in (")", "]"))
            if depth == 0 and token.upper in commas:
                if not first or argument:
                    self.inside(argument)
                    self.emit(",", token)
                argument, first = [], False
            elif depth > 0 or token.upper not in dropped:
                argument.append(token)
        self.inside(argument)


def quoted(name: str) -> str:
    """Write a name in double quotes. Line breaks in it are replaced, so that it stays on one line."""
    return '"' + name.replace('"', '""').replace("\n", " ") + '"'


def _before(tokens: Sequence[Token], ending: Collection[str]) -> Sequence[Token]:
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.upper in ("(", "[")) - (token.upper in (")", "]"))
        if depth == 0 and at and token.upper in ending:
            return tokens[:at]
    return tokens
