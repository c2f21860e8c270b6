"""Groups failures with the same cause, so that each cause is printed once."""

import re
from collections.abc import Iterable

_ANY_ID = "*"
_ID = re.compile(r"[^\s/:,;]+")


def group_by_cause(failures: Iterable[tuple[str, str]], others: Iterable[str] = ()) -> list[tuple[str, list[str]]]:
    """Group failures by cause: for each cause, the scopes in which it occurred, in the order in which they first appear. `failures` are
    pairs of scope and cause.
    """
    listed = list(failures)
    scopes = [*(scope for scope, _ in listed), *others]
    ids = {id_ for scope in scopes for word in scope.split() if "/" in word for id_ in _ID.findall(word)}
    groups: dict[str, list[tuple[str, str]]] = {}
    for scope, cause in listed:
        joined = _join_repetitions(cause, ids)
        groups.setdefault(_generalize(joined, ids), []).append((scope, joined))
    return [(general if len(group) > 1 else group[0][1], [scope for scope, _ in group]) for general, group in groups.items()]


def _generalize(cause: str, ids: set[str]) -> str:
    return _ID.sub(lambda found: _ANY_ID if found[0] in ids else found[0], cause)


def _join_repetitions(cause: str, ids: set[str]) -> str:
    """Shorten a text with several causes, separated by semicolons: causes that differ only in ids are written once."""
    causes = cause.split("; ")
    general = list(dict.fromkeys(_generalize(id_, ids) for id_ in causes))
    return "; ".join(general) if len(general) < len(causes) else cause


def format_scopes(scopes: Iterable[str]) -> str:
    """Write scopes on one line. Scopes with the same first word are put together, as in "connect env-1/lkc-1, env-1/lkc-2; metrics
    organization".
    """
    by_kind: dict[str, list[str]] = {}
    for scope in scopes:
        kind, _, rest = scope.partition(" ")
        by_kind.setdefault(kind, []).append(rest)
    return "; ".join(f"{kind} {', '.join(rests)}".strip() for kind, rests in by_kind.items())
