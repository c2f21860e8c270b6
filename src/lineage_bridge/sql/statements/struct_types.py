"""Reads the fields of row types such as `ROW<a INT, b STRING>` or `STRUCT<a INT>`."""

from collections.abc import Mapping, Sequence

from lineage_bridge.sql.text.cursor import folded
from lineage_bridge.sql.text.tokens import Token

_OPENING, _CLOSING = frozenset("<(["), frozenset(">)]")


def fields_of(type_tokens: Sequence[Token], path: Sequence[str], types: Mapping[str, Sequence[Token]], *, folds: bool) -> list[str] | None:
    """The names of the fields of a row type, or of the field at `path` inside it; None if that is not a row or is unknown. `types`: the
    types that CREATE TYPE defined.
    """
    fields = _fields(type_tokens, types, folds=folds)
    for name in path:
        inner = None if fields is None else fields.get(name)
        fields = None if inner is None else _fields(inner, types, folds=folds)
    return None if fields is None else list(fields)


def _fields(tokens: Sequence[Token], types: Mapping[str, Sequence[Token]], *, folds: bool) -> dict[str, Sequence[Token]] | None:
    if not tokens:
        return None
    if len(tokens) == 1 and tokens[0].is_name:
        named = types.get(folded(tokens[0], folds=folds))
        return None if named is None else _fields(named, {}, folds=folds) if len(named) == 1 else _fields(named, types, folds=folds)
    if len(tokens) < 3 or tokens[0].upper not in ("ROW", "STRUCT") or tokens[1].upper not in ("<", "("):
        return None
    found: dict[str, Sequence[Token]] = {}
    depth, start = 0, 2
    for at, token in enumerate(tokens[1:], 1):
        depth += (token.upper in _OPENING) - (token.upper in _CLOSING)
        if (depth == 1 and token.upper == ",") or depth == 0:
            if at > start:
                found[folded(tokens[start], folds=folds)] = tokens[start + 1 : at]
            start = at + 1
        if depth == 0:
            break
    return found
