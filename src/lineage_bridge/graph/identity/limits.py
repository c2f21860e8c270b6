"""Decides whether datasets lie within the namespaces that a principal is limited to, which are given as globs.

A dataset lies within them if its namespace matches a glob as written, and in every spelling that naming rules derive from it: otherwise a
sender limited to `s3a://...` could assert facets of `s3://...`. Vetoes of rules are not considered, because they may change.
"""

from fnmatch import fnmatchcase
from functools import lru_cache

from lineage_bridge.graph.identity.naming.spelling import Spelling, all_space_links, closure

Limits = tuple[str, ...]
"""Globs: `*` any text, `?` any character, `[...]` one of these."""


def matches(namespace: str, limits: Limits) -> bool:
    """Whether a namespace, as it is written, matches one of the globs."""
    return any(fnmatchcase(namespace, glob) for glob in limits)


@lru_cache(20_000)
def is_system_within(namespace: str, limits: Limits) -> bool:
    """Whether a namespace of datasets, and every namespace that the naming rules derive from it, match one of the globs."""
    return matches(namespace, limits) and all(matches(link.other, limits) for link in all_space_links(namespace))


@lru_cache(20_000)
def is_within(namespace: str, name: str, limits: Limits) -> bool:
    """Whether a dataset is within the namespaces, under its name and all spellings that the naming rules derive from it."""
    spaces = {namespace, *(spelling[0] for here, to, _ in closure(namespace, name) for spelling in (here, to))}
    return all(is_system_within(space, limits) for space in spaces)


@lru_cache(20_000)
def without_joining(namespace: str, name: str, limits: Limits) -> Spelling:
    """If the namespace of a dataset lists several servers that do not all lie within the limits, return the name with a single server: the
    alphabetically first one.

    Otherwise return the name unchanged. A list of servers states that they are one system, which a sender with these limits may not state.
    """
    if is_system_within(namespace, limits) or not joins(namespace, limits):
        return namespace, name
    links = [link for link in all_space_links(namespace) if link.other in _ends(namespace)]
    named = [spelling for link in links if (spelling := link.forth(name))]
    return min(named, default=(min(_ends(namespace)), name))


def joins(namespace: str, limits: Limits) -> bool:
    """Whether a namespace lists several servers that do not all lie within the limits."""
    return len(_ends(namespace)) > 1 and not is_system_within(namespace, limits)


def _ends(namespace: str) -> set[str]:
    """The namespaces that result when the naming rules are applied to this one repeatedly."""
    links = all_space_links(namespace)
    return {link.other for link in links} - {link.space for link in links}
