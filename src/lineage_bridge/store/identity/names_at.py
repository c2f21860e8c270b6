"""Which names, and which aliases of operators, there were at an earlier time: the input of the naming rules at that time."""

from functools import cached_property
from typing import NamedTuple

from lineage_bridge.graph.facts.operations import ALIAS, VETO
from lineage_bridge.graph.identity.grouping import valid_aliases
from lineage_bridge.graph.identity.naming.spelling import closure
from lineage_bridge.graph.identity.steps import StatedAlias, Vetoes
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import ALIAS as ALIASES
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.spellings import ALIAS_COLUMNS

_KEY = " AND ".join(f"{column} = ?" for column in ALIASES.key)
_OPERATIONS = f"SELECT operation FROM alias_statement WHERE {_KEY} AND at <= ? ORDER BY at, event"
_OF_DATASETS = f"SELECT {ALIAS_COLUMNS} FROM alias WHERE entity = {int(NodeKind.DATASET)}"
_WAS_NAMED = "SELECT 1 FROM node WHERE id = ? AND first <= ?"
_SPACE = f"SELECT 1 FROM node WHERE namespace = ? AND kind = {int(NodeKind.DATASET)} AND first <= ? LIMIT 1"


class _Used(NamedTuple):
    """What operators' aliases use: the steps of the rules from their names, and their namespaces."""

    steps: frozenset[tuple[str, str, str, str, str]]
    spaces: frozenset[str]


class NamesAt:
    """Look-ups over one connection, as of `at_us`; caches what it has loaded."""

    def __init__(self, connection: StoreConnection, at_us: int) -> None:
        self.connection, self.at_us = connection, at_us
        self._owners: dict[int, bool] = {}
        self._spaces: dict[str, bool] = {}

    def alias(self, row: Row) -> StatedAlias:
        """The latest alias statement by then for a row of `alias`."""
        key = row[: ALIASES.key_size]
        operations = [operation for (operation,) in self.connection.execute(_OPERATIONS, (*key, self.at_us))]
        vetoes_and_lifts = [operation for operation in operations if operation != ALIAS]
        return StatedAlias._make((*key, int(ALIAS in operations), int(vetoes_and_lifts[-1:] == [VETO])))

    def has_step(self, row: Row) -> bool:
        """Whether a row of `name_alias` (namespace, name, to_namespace, to_name, rule, owner) was there."""
        owner = row[5]
        if owner not in self._owners:
            self._owners[owner] = self.connection.execute(_WAS_NAMED, (owner, self.at_us)).fetchone() is not None
        return self._owners[owner] or row[:5] in self._used.steps

    def has_space(self, namespace: str) -> bool:
        """Whether a dataset of a namespace had been named by then, or an operator's alias used the namespace."""
        if namespace not in self._spaces:
            self._spaces[namespace] = self.connection.execute(_SPACE, (namespace, self.at_us)).fetchone() is not None
        return self._spaces[namespace] or namespace in self._used.spaces

    @cached_property
    def _used(self) -> _Used:
        """What the aliases of datasets that were in effect then use."""
        aliases = [self.alias(row) for row in self.connection.execute(_OF_DATASETS).fetchall()]
        vetoes = Vetoes()
        vetoes.add(aliases)
        valid = list(valid_aliases(aliases, vetoes))
        ends = {end[1:] for alias in valid if not alias.whole for end in alias.ends}
        steps = {(*here, *to, rule) for end in ends for here, to, rule in closure(*end)}
        return _Used(frozenset(steps), frozenset(space for alias in valid for space in (alias.a_namespace, alias.b_namespace)))
