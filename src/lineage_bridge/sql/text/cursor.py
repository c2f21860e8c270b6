"""Reading the tokens of a statement from left to right."""

from collections.abc import Sequence

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.text.messages import quoted
from lineage_bridge.sql.text.tokens import Kind, Token

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_TYPES = frozenset({"ARRAY", "MAP", "MULTISET", "ROW", "STRUCT"})
"""Words after which `<` opens a bracket."""


class StatementError(Exception):
    """A statement cannot be parsed. The error has the reason, and the token at which parsing failed; None at the end of the text."""

    def __init__(self, message: str, token: Token | None) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


TOO_DEEP = "the statement is nested too deeply"


class Cursor:
    """A position in a list of tokens."""

    def __init__(self, tokens: Sequence[Token], *, folds: bool = False) -> None:
        self.tokens = tokens
        self.at = 0
        self.folds = folds

    @property
    def token(self) -> Token | None:
        """The next token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def sees(self, *words: str) -> bool:
        """Whether the next tokens are these words or symbols. The position does not change."""
        tokens, at = self.tokens, self.at
        if at + len(words) > len(tokens):
            return False
        for word in words:
            if tokens[at].upper != word:
                return False
            at += 1
        return True

    def sees_any(self, *words: str) -> bool:
        """Whether the next token is one of these words or symbols. The position does not change."""
        token = self.token
        return token is not None and token.upper in words and token.upper != ""

    def takes(self, *words: str) -> bool:
        """Skip these words or symbols if they come next. Returns whether they did."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def demand(self, *words: str) -> None:
        """Skip these words or symbols. Raises StatementError if something else comes next."""
        if not self.takes(*words):
            raise self.error(f"{' '.join(words)} is expected here")

    def error(self, message: str) -> StatementError:
        """Make an error at this position. Its message also quotes the token found there."""
        token = self.token
        if token is not None and message.endswith("is expected here"):
            message += f", not {quoted(token.text, is_string=token.kind is Kind.STRING)}"
        return StatementError(message, token)

    def next(self) -> Token:
        """Return the next token and skip it. Raises StatementError at the end."""
        token = self.token
        if token is None:
            raise self.error("the statement ends too early")
        self.at += 1
        return token

    def identifier(self) -> str:
        """Return the next token as an identifier, and skip it. Raises StatementError if it is none."""
        token = self.token
        if token is None or not token.is_name:
            raise self.error("a name is expected here")
        self.at += 1
        return folded(token, folds=self.folds)

    def name(self) -> Name:
        """Return the name that comes next, as a tuple of its parts, and skip it. Raises StatementError if there is none."""
        parts = [self.identifier()]
        while self.sees("."):
            self.at += 1
            parts.append(self.identifier())
        return tuple(parts)

    def name_so_far(self) -> Name:
        """Return the name that comes next, and skip it. The name is empty if none comes; a dot without a part after it is not skipped."""
        found: list[str] = []
        while self.token is not None and self.token.is_name:
            found.append(self.identifier())
            if not (self.sees(".") and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].is_name):
                break
            self.at += 1
        return tuple(found)

    def string(self) -> str:
        """Return the content of the string that comes next, and skip it. Raises StatementError if there is none."""
        token = self.token
        if token is None or token.kind is not Kind.STRING:
            raise self.error("a string is expected here")
        self.at += 1
        return token.text

    def group(self) -> Sequence[Token]:
        """Skip the brackets that open here, and return the tokens inside them. Raises StatementError."""
        if not self.sees_any(*_CLOSING):
            raise self.error("'(' is expected here")
        opening = self.next()
        start, end = self.at, closing(self.tokens, self.at - 1)
        if end is None:
            raise StatementError(f"'{opening.text}' is never closed", opening)
        self.at = end + 1
        return self.tokens[start:end]

    def until(self, *words: str) -> Sequence[Token]:
        """Return the tokens up to one of these words outside brackets, or up to the end, and skip them."""
        start = self.at
        while (token := self.token) is not None and not (token.upper and token.upper in words):
            if token.upper in ("(", "[", "{"):
                self.group()
            else:
                self.at += 1
        return self.tokens[start : self.at]

    def rest(self) -> Sequence[Token]:
        """Return all remaining tokens, and skip them."""
        start, self.at = self.at, len(self.tokens)
        return self.tokens[start:]


def folded(token: Token, *, folds: bool) -> str:
    """The name that a token stands for. `folds`: unquoted names are converted to upper case, as ksqlDB does."""
    return token.upper if folds and token.kind is Kind.WORD else token.text


def closing(tokens: Sequence[Token], opening: int) -> int | None:
    """The index of the bracket that closes the one at index `opening`; None if it is never closed."""
    brackets = [_CLOSING[tokens[opening].upper]]
    for at in range(opening + 1, len(tokens)):
        mark = tokens[at].upper
        if mark == brackets[-1]:
            brackets.pop()
            if not brackets:
                return at
        elif mark in _CLOSING:
            brackets.append(_CLOSING[mark])
    return None


def parts(tokens: Sequence[Token], mark: str = ",") -> list[Sequence[Token]]:
    """Split tokens at a separator outside brackets. An empty list of tokens has no parts."""
    if not tokens:
        return []
    found, start, depth, angles = [], 0, 0, 0
    for at, token in enumerate(tokens):
        if token.upper in ("(", "[", "{"):
            depth += 1
        elif token.upper in (")", "]", "}"):
            depth -= 1
        elif token.upper == "<" and at and tokens[at - 1].upper in _TYPES:
            angles += 1
            depth += 1
        elif token.upper == ">" and angles:
            angles -= 1
            depth -= 1
        elif token.upper == mark and depth == 0:
            found.append(tokens[start:at])
            start = at + 1
    return [*found, tokens[start:]]
