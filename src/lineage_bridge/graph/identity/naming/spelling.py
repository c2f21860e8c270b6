"""Applies the naming rules to names, one step at a time, so that each step has its own evidence."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from lineage_bridge.graph.identity.naming.partition_paths import cut_date, cut_segment
from lineage_bridge.graph.identity.naming.rules import (
    FORMS,
    JOB_FORMS,
    LINEAGE_BRIDGE_FORMS,
    LOOPBACK,
    NAME_RULES,
    RAW_ADDRESSES,
    SPACE_RULES,
    VAGUE,
    NameRule,
    SpaceRule,
)
from lineage_bridge.openlineage.jdbc.drivers import read_jdbc
from lineage_bridge.openlineage.naming import DRIVERS, parts_of, snowflake_identifier

Spelling = tuple[str, str]
"""Namespace and name."""

LONGEST = 8_192
"""The maximum length of a name in characters."""
_LONGEST_PREFIXED = 2_000
"""The maximum length, in characters, of a name to which a link adds a prefix. Without the limit, links that form a circle would add
prefixes without end."""


class SpaceLink(NamedTuple):
    """A link between namespaces that the rule `rule` gives: a name `n` in `space` is the same as the name `prefix + n` in `other`.

    With `parts`, this only applies if `n` has that many dotted parts; without, only if `n` does not already begin with the prefix.
    """

    space: str
    other: str
    prefix: str
    parts: int
    rule: str

    def forth(self, name: str) -> Spelling | None:
        """Convert a name in `space` to the same name in `other`. None if the link does not apply to this name."""
        if not self._holds(name):
            return None
        return self.other, self.prefix + name

    def back(self, name: str) -> Spelling | None:
        """Convert a name in `other` to the same name in `space`. None if the link does not apply to this name."""
        if not name.startswith(self.prefix) or not self._holds(rest := name[len(self.prefix) :]):
            return None
        return self.space, rest

    def _holds(self, name: str) -> bool:
        if not self.prefix:
            return bool(name) and self.parts in (0, name.count(".") + 1)
        if not name or len(self.prefix) + len(name) > _LONGEST_PREFIXED:
            return False
        return name.count(".") + 1 == self.parts if self.parts else not name.startswith(self.prefix)


@lru_cache(20_000)
def space_links(namespace: str) -> tuple[SpaceLink, ...]:
    """The links that the naming rules give a namespace of datasets, each by one application of one rule. Sorted."""
    found = {link for rule, pattern in _SPACES if (match := pattern.fullmatch(namespace)) for link in _follow(rule, namespace, match)}
    return tuple(sorted(found.union(_jdbc_links(namespace))))


def _jdbc_links(namespace: str) -> Iterator[SpaceLink]:
    """The links from the namespace of a JDBC address to the namespace of its system. A name without a database gets the database in the
    address.
    """
    url = f"jdbc:{namespace}" if _RAW_ADDRESS.fullmatch(namespace) else namespace
    address = read_jdbc(url) if url[:5].lower() == "jdbc:" else None
    if address is None or address.scheme not in DRIVERS.values() or address.namespace == namespace:
        return
    full, rule = parts_of(address.scheme), f"jdbc-{url.split(':')[1].lower()}"
    yield SpaceLink(namespace, address.namespace, "", full, rule)
    if address.database and address.scheme != "hana":
        yield SpaceLink(namespace, address.namespace, f"{address.database}.", full - 1, rule)


def _follow(rule: SpaceRule, namespace: str, match: re.Match[str]) -> Iterator[SpaceLink]:
    groups = {key: value or "" for key, value in match.groupdict().items()}
    groups |= {key: groups[key].lower() for key in rule.lower}
    for each in groups.get("each", "").split(","):
        to = rule.to.format(**{**groups, "each": each.strip()})
        if to != namespace and identifies(to) and not ("each" in groups and _LOOPBACK.fullmatch(to)):
            yield SpaceLink(namespace, to, rule.prefix.format(**groups), rule.parts, rule.id)


def all_space_links(namespace: str) -> frozenset[SpaceLink]:
    """The links from a namespace, and from every namespace that these links lead to."""
    found: set[SpaceLink] = set()
    waiting = [namespace]
    while waiting:
        links = set(space_links(waiting.pop())) - found
        found |= links
        waiting += [link.other for link in links]
    return frozenset(found)


def respellings(namespace: str, name: str) -> Iterator[tuple[str, Spelling]]:
    """Apply each rule on names once to the name of a dataset. Returns pairs of rule id and resulting spelling."""
    for rule, match in _name_rules(namespace):
        made = _EXECUTORS[rule.how](rule, match.groupdict(), name)
        if made is not None and (made := (made[0] or namespace, made[1])) != (namespace, name):
            yield rule.id, made


@lru_cache(20_000)
def _name_rules(namespace: str) -> tuple[tuple[NameRule, re.Match[str]], ...]:
    return tuple((rule, match) for rule, pattern in _NAMES if (match := pattern.fullmatch(namespace)))


def closure(namespace: str, name: str) -> frozenset[tuple[Spelling, Spelling, str]]:
    """All steps that the rules on names give, from this name and from every spelling they lead to: (from, to, rule id)."""
    steps: set[tuple[Spelling, Spelling, str]] = set()
    seen, waiting = {(namespace, name)}, [(namespace, name)]
    while waiting:
        here = waiting.pop()
        made = list(respellings(*here))
        steps |= {(here, to, rule) for rule, to in made}
        spelt = [to for _, to in made] + [to for link in space_links(here[0]) if (to := link.forth(here[1]))]
        waiting += [to for to in dict.fromkeys(spelt) if to not in seen]
        seen.update(spelt)
    return frozenset(steps)


def identifies(namespace: str) -> bool:
    """Whether a namespace denotes the same system for everybody who uses it, which `localhost` does not."""
    return not any(pattern.fullmatch(namespace) for pattern in _VAGUE)


@lru_cache(20_000)
def form_rank(namespace: str, name: str = "") -> int:
    """The rank of a name by which the canonical spelling of a group is chosen; the lowest wins.

    0: the form of OpenLineage's specification; 1: only the namespace has that form, because a rule rewrites the spelling or the namespace
    does not determine the system; 2: any other.
    """
    if not any(pattern.fullmatch(namespace) for pattern in _FORMS):
        return 2
    rewritten = any(link.forth(name or "a") for link in space_links(namespace)) or (name and any(respellings(namespace, name)))
    return 1 if rewritten or not identifies(namespace) else 0


def job_rank(namespace: str) -> int:
    """The rank of a job's name by which the canonical name of a group is chosen; the lowest wins. 0 for namespaces in which a system names
    its own jobs, 1 for all others.
    """
    return int(not any(pattern.fullmatch(namespace) for pattern in _JOBS))


def bridge_rank(namespace: str) -> int:
    """The rank of a name in the style of LineageBridge: 0 for namespaces in the forms that it writes, 1 for all others."""
    return int(not any(pattern.fullmatch(namespace) for pattern in _BRIDGE))


# executors: from (rule, groups of the namespace, name) to (namespace, name), with an empty namespace for the same one; or None


def _slashes(rule: NameRule, groups: Mapping[str, str], name: str) -> Spelling | None:  # noqa: ARG001 - an executor's signature
    bare = name.strip("/")
    if not bare:
        return None
    lead = rule.arguments["lead"]
    return "", ("/" * name.startswith("/") if lead == "?" else lead) + bare


def _last_segment(rule: NameRule, groups: Mapping[str, str], name: str) -> Spelling | None:  # noqa: ARG001 - as above
    cut = cut_segment(name, rule.arguments["segment"])
    return ("", cut) if cut else None


def _date(rule: NameRule, groups: Mapping[str, str], name: str) -> Spelling | None:  # noqa: ARG001 - as above
    cut = cut_date(name)
    return ("", cut) if cut else None


def _identifiers(rule: NameRule, groups: Mapping[str, str], name: str) -> Spelling | None:  # noqa: ARG001 - as above
    return ("", ".".join(map(snowflake_identifier, parts))) if (parts := _PARTS.findall(name)) and ".".join(parts) == name else None


def _template(rule: NameRule, groups: Mapping[str, str], name: str) -> Spelling | None:
    match = re.fullmatch(rule.arguments["pattern"], name)
    if match is None:
        return None
    values = {**groups, **match.groupdict()}
    return rule.arguments.get("space", "").format(**values), rule.arguments["name"].format(**values)


_EXECUTORS: dict[str, Callable[[NameRule, Mapping[str, str], str], Spelling | None]] = {
    "slashes": _slashes,
    "last-segment": _last_segment,
    "date": _date,
    "identifiers": _identifiers,
    "template": _template,
}
_PARTS = re.compile(r'"(?:[^"]|"")+"|[^".]+')
_SPACES = tuple((rule, re.compile(rule.pattern)) for rule in SPACE_RULES)
_NAMES = tuple((rule, re.compile(rule.spaces)) for rule in NAME_RULES)
_FORMS = tuple(map(re.compile, FORMS))
_JOBS = tuple(map(re.compile, JOB_FORMS))
_BRIDGE = tuple(map(re.compile, LINEAGE_BRIDGE_FORMS))
_VAGUE = tuple(map(re.compile, VAGUE))
_LOOPBACK = re.compile(LOOPBACK)
_RAW_ADDRESS = re.compile(RAW_ADDRESSES, re.DOTALL)
