"""Suggestions for statements that cannot be parsed: a keyword may be misspelt, or the text may be a template or another dialect."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

from lineage_bridge.sql.text.keywords import RESERVED
from lineage_bridge.sql.text.tokens import words

TEMPLATE = "this is a template of dbt or Jinja: compile it first"
"""The message for a statement with `{{ ... }}` or `{% ... %}`."""

_KEYWORDS = sorted(
    word
    for word in RESERVED
    | words("ALTER CHANGES CREATE DELETE DROP EMIT EXPLAIN HOPPING INSERT INTO MERGE SESSION STREAM TABLE TUMBLING UPDATE VIEW WITHIN")
    if len(word) > 3
)
"""Keywords that may be misspelt; shorter ones are close to too many other words."""
_CLAUSES = ("GROUP", "ORDER", "PARTITION")
_SET_OPERATORS = ("UNION", "EXCEPT", "INTERSECT", "MINUS")
_BEHIND = 4


def template_at(texts: Sequence[str]) -> int | None:
    """The index of the first token of a template; None if there is none."""
    joined = ((at, first + second) for at, (first, second) in enumerate(pairwise(texts)))
    return next((at for at, text in joined if text.startswith(("{{", "{%"))), None)


def hint(message: str, texts: Sequence[str], *, ksql: bool = False) -> str:
    """Add a suggestion to an error message, if the mistake is a known one.

    `texts`: the texts of the tokens up to the faulty one; those of strings and quoted names are empty.
    """
    known = _known(message, texts, ksql=ksql)
    if known:
        return known
    for text in reversed(texts[-_BEHIND:]):
        meant = _meant(text.upper())
        if meant:
            return f"{message}: is '{text}' meant to be {meant}?"
    return message


def _known(message: str, texts: Sequence[str], *, ksql: bool) -> str:
    """The message for a mistake that is recognised by the preceding words; empty if no known mistake is recognised."""
    last = texts[-1] if texts else ""
    instead = f", not '{last}'" if last else ""
    before = texts[-2].upper() if len(texts) > 1 else ""
    if before in _CLAUSES and last.upper() != "BY":
        return f"BY is expected here{instead}"
    if before in _SET_OPERATORS:
        return f"a query is expected after {before}{instead}"
    if [text.upper() for text in texts[-3:-1]] == ["AS", "FROM"]:
        return "a name is expected after AS, not 'FROM'"
    if list(texts[-2:]) == ["=", "="]:
        return "'==' is not SQL: write '='"
    is_emitted = not ksql and [text.upper() for text in texts[-2:]] == ["EMIT", "CHANGES"]
    return f"{message}: EMIT CHANGES is ksqlDB's, choose its dialect" if is_emitted else ""


def _meant(word: str) -> str:
    """The keyword that a misspelt word was probably meant to be; empty if the word is itself a keyword or the plural of a keyword, or
    resembles none.
    """
    if len(word) < len("FROM") or word in _KEYWORDS:
        return ""
    close = get_close_matches(word, _KEYWORDS, 1, 0.75)
    return close[0] if close and not word.startswith(close[0]) else ""
