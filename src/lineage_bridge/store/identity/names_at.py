"""Finds the names to which the naming rules applied at an earlier time: names that were in use then, and names in aliases that were in
effect then.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import NamedTuple

from lineage_bridge.graph.facts.operations import ALIAS, VETO
from lineage_bridge.graph.identity.grouping import valid_aliases
from lineage_bridge.graph.identity.naming.spelling import SpaceLink, all_space_links, closure
from lineage_bridge.graph.identity.steps import RULE, Spelling, StatedAlias, Step, Vetoes
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import ALIAS as ALIASES
from lineage_bridge.store.connection import StoreConnection

_DATASET = int(NodeKind.DATASET)
_KEY = " AND ".join(f"{column} = ?" for column in ALIASES.key)
_OPERATIONS = f"SELECT operation FROM alias_statement WHERE {_KEY} AND at <= ? ORDER BY at, event"
_OF_DATASETS = f"SELECT {', '.join(ALIASES.key)}, operation FROM alias_statement WHERE entity = {_DATASET} AND at <= ? ORDER BY at, event"
_WAS_NAMED = "SELECT 1 FROM node WHERE id = ? AND first <= ?"
_SPACE = f"SELECT 1 FROM node WHERE namespace = ? AND kind = {_DATASET} AND first <= ? LIMIT 1"


class _Applied(NamedTuple):
    """The steps of each spelling and the links of each namespace that naming rules derive from the names and namespaces in aliases."""

    steps: dict[Spelling, set[Step]]
    links: dict[str, set[SpaceLink]]


class NamesAt:
    """Looks up over one connection to which names the naming rules applied at `at_us`. Caches what it has loaded.

    The tables `name_alias` and `namespace_alias` only have rows for the names and aliases in effect now. An alias that was vetoed after
    `at_us` has lost its rows, so the naming rules are applied again to the names that were in aliases at that time.
    """

    def __init__(self, connection: StoreConnection, at_us: int) -> None:
        self.connection, self.at_us = connection, at_us
        self._owners: dict[int, bool] = {}
        self._spaces: dict[str, bool] = {}

    def alias(self, row: Row) -> StatedAlias:
        """The state that an alias, given as a row of `alias`, had at that time."""
        key = row[: ALIASES.key_size]
        return _stated(key, [operation for (operation,) in self.connection.execute(_OPERATIONS, (*key, self.at_us))])

    def has_step(self, row: Row) -> bool:
        """Whether the node that owns a row of `name_alias` (namespace, name, to_namespace, to_name, rule, owner) had been named by then."""
        owner = row[5]
        if owner not in self._owners:
            self._owners[owner] = self.connection.execute(_WAS_NAMED, (owner, self.at_us)).fetchone() is not None
        return self._owners[owner]

    def has_space(self, namespace: str) -> bool:
        """Whether a dataset of a namespace had been named by then."""
        if namespace not in self._spaces:
            self._spaces[namespace] = self.connection.execute(_SPACE, (namespace, self.at_us)).fetchone() is not None
        return self._spaces[namespace]

    @property
    def applies_rules(self) -> bool:
        """Whether any naming rule applied to a name or namespace of the aliases that were in effect at that time."""
        return bool(self._applied.steps or self._applied.links)

    def is_end(self, spelling: Spelling) -> bool:
        """Whether a spelling is the end of a step that `steps` finds."""
        return spelling in self._applied.steps

    def steps(self, spellings: Collection[Spelling]) -> Iterator[Step]:
        """The steps from or to these spellings that naming rules derive from the aliases that were in effect at that time."""
        for spelling in spellings:
            yield from self._applied.steps.get(spelling, ())

    def links(self, namespace: str) -> Collection[SpaceLink]:
        """The links from or to a namespace that naming rules derive from the aliases that were in effect at that time."""
        return self._applied.links.get(namespace, ())

    @cached_property
    def _applied(self) -> _Applied:
        aliases = self._aliases_of_datasets()
        vetoes = Vetoes()
        vetoes.add(aliases)
        valid = list(valid_aliases(aliases, vetoes))
        steps: dict[Spelling, set[Step]] = defaultdict(set)
        for end in {end for alias in valid if not alias.whole for end in alias.ends}:
            for here, to, rule in closure(end.namespace, end.name):
                step = Step(Spelling(_DATASET, *here), Spelling(_DATASET, *to), RULE, rule)
                steps[step.a].add(step)
                steps[step.b].add(step)
        links: dict[str, set[SpaceLink]] = defaultdict(set)
        for namespace in {space for alias in valid for space in (alias.a_namespace, alias.b_namespace)}:
            for link in all_space_links(namespace):
                links[link.space].add(link)
                links[link.other].add(link)
        return _Applied(dict(steps), dict(links))

    def _aliases_of_datasets(self) -> list[StatedAlias]:
        operations: dict[Row, list[str]] = defaultdict(list)
        for *key, operation in self.connection.execute(_OF_DATASETS, (self.at_us,)):
            operations[tuple(key)].append(operation)
        return [_stated(key, found) for key, found in operations.items()]


def _stated(key: Row, operations: list[str]) -> StatedAlias:
    """The state of an alias after these operations. They must be in order of time."""
    vetoes_and_lifts = [operation for operation in operations if operation != ALIAS]
    return StatedAlias._make((*key, int(ALIAS in operations), int(vetoes_and_lifts[-1:] == [VETO])))
