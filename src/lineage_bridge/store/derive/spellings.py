"""Updates the tables of aliases by naming rules. Naming rules are applied to the names of nodes, and to the names in operators' aliases.

Groups are not stored (see graph/identity/steps.py), so an alias or a veto changes only the rows of its own two names, however many names it
joins into one group.
"""

from collections.abc import Iterable

import msgspec

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import owner_id
from lineage_bridge.graph.identity.grouping import valid_aliases
from lineage_bridge.graph.identity.naming.spelling import all_space_links, closure
from lineage_bridge.graph.identity.steps import PREFERRED, Spelling, StatedAlias, Vetoes
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import ALIAS, NEVER_US
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.identity.claims import ClaimWriter
from lineage_bridge.store.merging import merge_sql
from lineage_bridge.store.write.changes import ChangeRecorder

_DATASET = int(NodeKind.DATASET)
_KEY = "entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence"
ALIAS_COLUMNS = f"{_KEY}, stated_at <> {NEVER_US}, coalesce(vetoed, 0)"
"""The columns of a StatedAlias."""
_STATED = f"entity = 1 AND stated_at <> {NEVER_US}"
_AT_NAME = (
    f"SELECT {ALIAS_COLUMNS} FROM alias WHERE {_STATED} AND whole = 0 AND a_namespace = ? AND a_name = ?",
    f"SELECT {ALIAS_COLUMNS} FROM alias WHERE {_STATED} AND whole = 0 AND b_namespace = ? AND b_name = ?",
)
_AT_SPACE = (
    f"SELECT {ALIAS_COLUMNS} FROM alias WHERE {_STATED} AND whole IN (0, 1) AND a_namespace = ?",
    f"SELECT {ALIAS_COLUMNS} FROM alias WHERE {_STATED} AND whole IN (0, 1) AND b_namespace = ?",
)
_VETOED = f"SELECT {ALIAS_COLUMNS} FROM alias WHERE vetoed = 1 AND entity = ? AND"
_BETWEEN = f"{_VETOED} whole = ? AND a_namespace = ? AND a_name = ? AND b_namespace = ? AND b_name = ?"
_BETWEEN_SPACES = f"{_VETOED} whole = 1 AND a_namespace = ? AND b_namespace = ?"
_STATE = f"""SELECT stated_at <> {NEVER_US},
CASE WHEN kind <> '{PREFERRED}' THEN vetoed WHEN (stated_at, stated_event) > (vetoed_at, vetoed_event) THEN 0 ELSE 1 END
FROM alias WHERE entity = ? AND whole = ? AND a_namespace = ? AND a_name = ? AND b_namespace = ? AND b_name = ? AND kind = ?
AND evidence = ?"""
_ADD_ALIAS = "INSERT INTO name_alias VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_MERGE = merge_sql(ALIAS, f"VALUES ({', '.join('?' * len(ALIAS.names))})")


class AliasWriter:
    """Updates aliases over the writer's connection, inside its transaction. Call `forget` after a rollback."""

    def __init__(self, connection: StoreConnection, names: Names, changes: ChangeRecorder) -> None:
        self.connection, self.names, self.changes = connection, names, changes
        self.spaces: set[str] = set()
        self.claims = ClaimWriter(connection)

    def forget(self) -> None:
        """Remove from the caches what a transaction added before it was rolled back."""
        self.spaces.clear()
        self.claims.forget()

    # names

    def add(self, node: Row) -> None:
        """Add the aliases that naming rules give a new node (id, kind, namespace, name)."""
        id_, kind, namespace, name = node
        if kind == _DATASET:
            self._own(id_, namespace, name)

    def _own(self, id_: int, namespace: str, name: str) -> None:
        if namespace not in self.spaces:
            self._own_space(namespace)
            self.spaces.add(namespace)
        steps = closure(namespace, name)
        if steps:
            self.connection.executemany(
                _ADD_ALIAS,
                [(id_, *here, rule, *to) for here, to, rule in steps],
            )

    def _own_space(self, namespace: str) -> None:
        links = all_space_links(namespace)
        if links:
            self.connection.executemany(
                "INSERT INTO namespace_alias VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", [(namespace, *link) for link in links]
            )

    def drop(self, node: Row) -> None:
        """Remove the aliases of a deleted node, unless an operator's alias still uses its name."""
        id_, kind, namespace, name = node
        if kind == _DATASET:
            self._settle(id_, namespace, name)
            self._settle_space(namespace)

    def merge_aliases(self, rows: list[Row]) -> None:
        """Merge the alias statements of operators. Naming rules apply to the names in an alias for as long as it is in effect."""
        for row in rows:
            before = self._state(row)
            self.connection.execute(_MERGE, row)
            if before != (after := self._state(row)):
                text = msgspec.json.encode(row[: ALIAS.key_size]).decode()
                self.changes.lost("alias", [(text, before)] if before else [])
                self.changes.gained("alias", [(text, after)] if after else [])
        self._update_derived_names(rows)

    def _state(self, row: Row) -> bytes:
        """Whether an alias is `stated` or `vetoed`; empty if neither."""
        found = self.connection.execute(_STATE, row[: ALIAS.key_size]).fetchone()
        return b"" if found is None else b"vetoed" if found[1] else b"stated" if found[0] else b""

    def _update_derived_names(self, rows: Iterable[Row]) -> None:
        datasets = [row for row in rows if row[0] == _DATASET]
        names = {end for row in datasets if not row[1] for end in (row[2:4], row[4:6])}
        for namespace, name in sorted(names):
            self._settle(owner_id(self.names, Spelling(_DATASET, namespace, name)), namespace, name)
        spaces = {space for row in datasets if row[1] for space in (row[2], row[4])}
        for namespace in sorted(spaces | {namespace for namespace, _ in names}):
            self._settle_space(namespace)

    def _settle(self, id_: int, namespace: str, name: str) -> None:
        if self._exists("SELECT 1 FROM node WHERE id = ?", id_) or self._used(_AT_NAME, namespace, name):
            self._own(id_, namespace, name)
        else:
            self.connection.execute("DELETE FROM name_alias WHERE owner = ?", (id_,))

    def _settle_space(self, namespace: str) -> None:
        if self._exists("SELECT 1 FROM node WHERE namespace = ? AND kind = 1 LIMIT 1", namespace) or self._used(_AT_SPACE, namespace):
            self._own_space(namespace)
        else:
            self.connection.execute("DELETE FROM namespace_alias WHERE owner = ?", (namespace,))
            self.spaces.discard(namespace)

    def _used(self, queries: Iterable[str], *parameters: str) -> bool:
        """Whether any of these queries finds an alias that is in effect. The queries look up aliases by the name or namespace in
        `parameters`.
        """
        return any(self._stands(StatedAlias(*row)) for sql in queries for row in self.connection.execute(sql, parameters))

    def _stands(self, alias: StatedAlias) -> bool:
        vetoes, entity, here, there = Vetoes(), alias.entity, alias[2:4], alias[4:6]
        for a, b in ((here, there), (there, here)):
            if alias.whole:
                vetoes.add(StatedAlias(*row) for row in self.connection.execute(_BETWEEN_SPACES, (entity, a[0], b[0])))
            else:
                vetoes.add(StatedAlias(*row) for row in self.connection.execute(_BETWEEN, (entity, 0, *a, *b)))
        return any(True for _ in valid_aliases([alias], vetoes))

    def _exists(self, sql: str, *parameters: object) -> bool:
        return self.connection.execute(sql, parameters).fetchone() is not None
