"""Joins what failed for the same reason, so that each reason is printed once."""

import re
from collections.abc import Iterable

_ANY_ID = "*"
_ID = re.compile(r"[^\s/:,;]+")


def group_by_cause(failures: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Causes with their scopes, in the order in which they first appear. `failures` are pairs of scope and cause.

    Causes that differ only in ids of scopes are one cause, with * in place of the ids. Ids are the parts of a scope around a slash, such as
    env-1 and lkc-1 in "connect env-1/lkc-1".
    """
    listed = list(failures)
    ids = {part for scope, _ in listed for word in scope.split() if "/" in word for part in _ID.findall(word)}
    groups: dict[str, list[tuple[str, str]]] = {}
    for scope, cause in listed:
        general = _ID.sub(lambda found: _ANY_ID if found[0] in ids else found[0], cause)
        groups.setdefault(general, []).append((scope, cause))
    return [(general if len(group) > 1 else group[0][1], [scope for scope, _ in group]) for general, group in groups.items()]


def format_scopes(scopes: Iterable[str]) -> str:
    """Scopes on one line, those with the same first word together, as "connect env-1/lkc-1, env-1/lkc-2; metrics organization"."""
    by_kind: dict[str, list[str]] = {}
    for scope in scopes:
        kind, _, rest = scope.partition(" ")
        by_kind.setdefault(kind, []).append(rest)
    return "; ".join(f"{kind} {', '.join(rests)}".strip() for kind, rests in by_kind.items())
