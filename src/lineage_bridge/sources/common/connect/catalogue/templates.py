"""Templates over a connector's settings: the language of the catalogue.

- `{key}` is replaced by a setting.
- `{key|other|=text}` is replaced by the first setting that exists, otherwise by `text`. Default `==text` applies only to a setting that
  does not exist: one that is there but empty counts as missing.
- `[...]` is left out if a setting in it is missing.
- `{key!filter:argument!filter}` is a setting that filters have changed.
- `<topic>` within a key is replaced by a topic's name, so `{topic.override.<topic>.collection}` is a setting of that topic.
- The names `topic` and `object` take precedence over settings.
- `one||other` is the first of several templates that can be filled.

If a setting has a value that only the worker can read, or an unresolved placeholder, the template cannot be filled, and later alternatives
are not tried, not even in brackets.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from lineage_bridge.sources.common.connect.catalogue.filters import FILTERS, VARIABLE
from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN
from lineage_bridge.sources.common.connect.secrets import has_placeholder, without_login, without_user

Scope = Mapping[str, str]

_PIECE = re.compile(r"\{(?P<hole>[^{}]+)\}|(?P<bracket>[\[\]])|(?P<text>[^{}\[\]]+)")
_NESTED = re.compile(r"<(\w+)>")
_OPTIONS = re.compile(r"[?;]")
ANY_VALUE = "(?P<value>.+)"
"""Matches any text in the position of a name."""


class _UnreadableError(Exception):
    """Raised if a template cannot be filled, because a setting in it has a value that only the worker can read."""


@dataclass(frozen=True)
class _Hole:
    """A placeholder in a template, which a setting replaces."""

    alternatives: tuple[str, ...]
    filters: tuple[tuple[str, str], ...]


_Part = str | _Hole | tuple["_Part", ...]


def fill(template: str, config: Scope, scope: Scope | None = None) -> str | None:
    """Fill a template; None if a setting outside brackets is missing, or has a placeholder that only the worker can resolve."""
    made = (_filled(parts, config, scope or {}) for parts in _parsed(template))
    try:
        return next((text for text in made if text is not None), None)
    except _UnreadableError:
        return None


def is_unreadable(value: str) -> bool:
    """Whether a setting has a value that only the worker can read, or a placeholder that its user was meant to replace. Options after
    an address are ignored.
    """
    return has_placeholder(value) or bool(TO_FILL_IN.search(VARIABLE.sub("x", _OPTIONS.split(value, maxsplit=1)[0])))


def invert(template: str, hole: str, config: Scope) -> re.Pattern[str] | None:
    """Return a pattern that matches every text which the template yields for some value of one name. The pattern's group `value` is
    that value.

    None if the template does not contain the name, or another setting is missing.
    """
    pieces: list[str] = []
    try:
        parts = _flat(_parsed(template)[0], config, hole)
    except _UnreadableError:
        return None
    for part in parts:
        if part is None:
            return None
        pieces.append(ANY_VALUE if isinstance(part, _Hole) else re.escape(part))
    return re.compile("".join(pieces)) if pieces.count(ANY_VALUE) == 1 else None


def holes(template: str) -> list[str]:
    """Return the settings and names in a template, in order."""

    def within(part: _Part) -> list[str]:
        if isinstance(part, str):
            return []
        if isinstance(part, _Hole):
            return [name for name in part.alternatives if not name.startswith("=")]
        return [name for inner in part for name in within(inner)]

    return [name for parts in _parsed(template) for name in within(parts)]


def fault(template: str) -> str:
    """Return the error in a template; empty if it is valid."""
    depth = 0
    for piece in re.split(r"(\{[^{}]+\}|[\[\]])", template):
        depth += {"[": 1, "]": -1}.get(piece, 0)
        if depth < 0 or (re.search(r"[{}]", piece) and not re.fullmatch(r"\{[^{}]+\}", piece)):
            return f"{template} has an unmatched bracket"
        if piece.startswith("{"):
            wrong = [name for name, _ in _hole(piece[1:-1]).filters if name not in FILTERS]
            if wrong:
                return f"unknown filter {', '.join(wrong)}"
    return f"{template} has an unmatched bracket" if depth else ""


@lru_cache(4096)
def _parsed(template: str) -> tuple[tuple[_Part, ...], ...]:
    return tuple(_parts(alternative) for alternative in template.split("||"))


def _parts(template: str) -> tuple[_Part, ...]:
    stack: list[list[_Part]] = [[]]
    for piece in _PIECE.finditer(template):
        if piece["bracket"] == "[":
            stack.append([])
        elif piece["bracket"] == "]":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        elif piece["hole"] is None:
            stack[-1].append(piece["text"])
        else:
            stack[-1].append(_hole(piece["hole"]))
    return tuple(stack[0])


def _hole(text: str) -> _Hole:
    names, *filters = text.split("!")
    split = (name.partition(":") for name in filters)
    return _Hole(tuple(names.split("|")), tuple((name, argument) for name, _, argument in split))


def _filled(parts: tuple[_Part, ...], config: Scope, scope: Scope) -> str | None:
    text = ""
    for part in parts:
        if isinstance(part, str):
            found: str | None = part
        elif isinstance(part, _Hole):
            found = _value(part, config, scope)
        else:
            found = _filled(part, config, scope) or ""
        if found is None:
            return None
        text += found
    return text


def _flat(parts: tuple[_Part, ...], config: Scope, hole: str) -> list[str | _Hole | None]:
    """Fill all placeholders of a template except the one with the name `hole`."""
    found: list[str | _Hole | None] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, _Hole):
            found += _opened(part, config, hole) if hole in part.alternatives else [_value(part, config, {})]
        else:
            inner = _flat(part, config, hole)
            found += [] if None in inner else inner
    return found


def _opened(part: _Hole, config: Scope, hole: str) -> list[str | _Hole | None]:
    """Return the placeholder for a name. If a setting takes precedence over the name, return the setting's text, in which its only variable
    is the placeholder.
    """
    before = part.alternatives[: part.alternatives.index(hole)]
    text = next((value for value in (_setting(name, config, {}) for name in before) if value is not None), None)
    if text is None:
        return [part]
    if is_unreadable(text):
        raise _UnreadableError
    pieces = VARIABLE.split(text)[:: VARIABLE.groups + 1]
    return [pieces[0], part, pieces[1]] if len(pieces) == 2 else [None]


def _value(hole: _Hole, config: Scope, scope: Scope) -> str | None:
    for name in hole.alternatives:
        if name.startswith("==") and any(_key(other, scope) in config for other in hole.alternatives):
            return None
        found = name.lstrip("=") if name.startswith("=") else _setting(name, config, scope)
        if name not in scope and not name.startswith("=") and is_unreadable(_readable(name, config, scope)):
            raise _UnreadableError
        if found is not None:
            for kind, argument in hole.filters:
                found = None if found is None else FILTERS[kind](found, argument, config, scope)
            return found
    return None


def _key(name: str, scope: Scope) -> str:
    return _NESTED.sub(lambda inner: scope.get(inner[1], ""), name)


def _setting(name: str, config: Scope, scope: Scope) -> str | None:
    if name in scope:
        return scope[name]
    return _readable(name, config, scope) or None


def _readable(name: str, config: Scope, scope: Scope) -> str:
    """The value of a setting without user and password; empty if the setting is missing. Raises _UnreadableError."""
    value = without_login(config.get(_key(name, scope), "").strip())
    return value if value.startswith("jdbc:") else without_user(value)
