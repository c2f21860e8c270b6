"""Finds nodes by id, by name, by glob and by similar names."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lineage_bridge.graph.identity.steps import STANDARD, Spelling, spelt
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import AliasFilter, AliasRecord
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import NO_LIMIT, Query
from lineage_bridge.store.identity.aliases import AliasList
from lineage_bridge.store.identity.groups import Identities
from lineage_bridge.store.query.within import NamespaceCondition

_BY_ID = "SELECT id, kind, namespace, name FROM node WHERE id IN ({})"
_FACETS = """SELECT c.node, c.key, c.rank, c.time, c.event, c.facet, f.deleted, f.text
FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.node IN ({}) AND c.job IN ({}) AND ({}) ORDER BY c.key"""
_NAMESPACES = """WITH RECURSIVE space (namespace) AS (SELECT (SELECT min(namespace) FROM node)
UNION ALL SELECT (SELECT min(n.namespace) FROM node n WHERE n.namespace > space.namespace) FROM space WHERE space.namespace IS NOT NULL)
SELECT namespace FROM space WHERE namespace IS NOT NULL"""
_KINDS = {int(kind): kind for kind in NodeKind}
_TRIGRAM = 3
_FacetRow = tuple[int, str, int, int, bytes, bytes, int, str]
"""node, key, rank, time, event, facet, deleted, text"""


class Nodes:
    """Looks up nodes over one connection. Implements ports.NodeReader. Caches the nodes that it has loaded."""

    def __init__(self, connection: StoreConnection, at_us: int | None = None, within: NamespaceCondition | None = None) -> None:
        """With `at_us`, names are grouped as of that time. With `within`, lists only contain nodes in these namespaces."""
        self.connection, self.within = connection, within or NamespaceCondition()
        self.identities = Identities(connection, at_us)
        self.loaded: dict[int, Node] = {}
        self._heads: dict[int, int] = {}

    def at(self, at_us: int | None) -> "Nodes":
        """This reader, but with names grouped as of an earlier time; unchanged if no time is given."""
        return self if at_us is None else Nodes(self.connection, at_us, self.within)

    @property
    def size(self) -> int:
        """How many nodes or names are in memory."""
        return max(len(self.loaded), len(self.identities.ids), len(self._heads))

    def by_id(self, id_: int) -> Node:
        """The node with this id, to which edges and facts refer."""
        if id_ not in self.loaded:
            self.load([id_])
        return self.loaded[id_]

    def load(self, ids: Iterable[int]) -> None:
        """Load many nodes at once."""
        # `difference` looks each id up; subtracting the keys would pass through all of them.
        new = set(ids).difference(self.loaded)
        names = self.identities.names
        self.loaded.update((id_, Node(id_, _KINDS[names[id_].kind], *names[id_][1:])) for id_ in new & names.keys())
        for some in chunks(new.difference(names)):
            for id_, kind, namespace, name in self.connection.execute(_BY_ID.format(marks(some)), some):
                self.loaded[id_] = Node(id_, _KINDS[kind], namespace, name)
        self.loaded.update((id_, Node(id_, NodeKind.DATASET, "", "")) for id_ in new.difference(self.loaded))

    def find(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node of exactly this name."""
        row = self.connection.execute(
            "SELECT id, kind, namespace, name FROM node WHERE namespace = ? AND name = ? AND kind = ?",
            (namespace, name, int(kind)),
        ).fetchone()
        return _node(row) if row else None

    def near(self, kind: NodeKind, namespace: str, name: str, limit: int = 5) -> list[Node]:
        """Nodes whose names are similar to a name that was not found, the most similar first."""
        grams = sorted({name[i : i + _TRIGRAM] for i in range(max(len(name) - 2, 0))})[:60]
        search = self.connection.dialect.full_text
        rows = self._match(search.any_of([search.phrase(gram) for gram in grams]), kind, 200, 0) if grams else []
        text = f"{namespace} {name}"
        scored = [(difflib.SequenceMatcher(None, text, f"{n.namespace} {n.name}", autojunk=False).ratio(), n) for n in rows]
        scored.sort(key=lambda pair: (-pair[0], pair[1].namespace, pair[1].name))
        return [node for score, node in scored[:limit] if score > 0.5]

    def _match(self, query: Query, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        search = self.connection.dialect.full_text
        key, matches = search.matching("node_search", ":query")
        order = f"{search.rank('node_search', ':query')}, length(n.name), n.namespace, n.name"
        rows = self.connection.execute(
            f"SELECT n.id, n.kind, n.namespace, n.name FROM node_search JOIN node n ON n.id = node_search.{key} WHERE {matches} "
            f"AND (CAST(:kind AS BIGINT) IS NULL OR n.kind = :kind) ORDER BY {order} LIMIT :limit OFFSET :offset",
            {"query": search.query_value("node_search", query), "kind": kind, "limit": limit, "offset": offset},
        )
        return [_node(row) for row in rows]

    def matching(self, kind: NodeKind, namespace: str | None, name: str | None, limit: int | None, offset: int) -> list[Node]:
        """Nodes whose names match globs, sorted by name."""
        rows = self.connection.execute(
            "SELECT id, kind, namespace, name FROM node WHERE kind = ? AND namespace GLOB ? AND name GLOB ? "
            f"AND {self.within.by_position('namespace')} ORDER BY namespace, name LIMIT ? OFFSET ?",
            (int(kind), namespace or "*", name or "*", *self.within.values, NO_LIMIT if limit is None else limit, offset),
        )
        return [_node(row) for row in rows]

    def count(self, kind: NodeKind) -> int:
        """How many nodes of this kind there are."""
        sql = f"SELECT count(*) FROM node WHERE kind = ? AND {self.within.by_position('namespace')}"
        return int(self.connection.execute(sql, (int(kind), *self.within.values)).fetchone()[0])

    def namespaces(self) -> list[str]:
        """The namespaces of all nodes, sorted."""
        return sorted(row[0] for row in self.connection.execute(_NAMESPACES))

    def has_namespace(self, kind: NodeKind, namespace: str) -> bool:
        """Whether any node of a kind is in exactly this namespace."""
        sql = "SELECT 1 FROM node WHERE namespace = ? AND kind = ? LIMIT 1"
        return self.connection.execute(sql, (namespace, int(kind))).fetchone() is not None

    def facets(self, node: Node, job: Node | None = None, keys: Sequence[str] = ()) -> dict[str, str]:
        """The JSON texts of the current facets of a node under all its names, by key; with `job`, the facets that belong to the job and the
        node together. With `keys`, only facets with these keys.
        """
        names, owners = self.members(node.id), self.members(job.id) if job else [0]
        return _newest(self._facet_rows(names, owners, keys))

    def facets_of(self, nodes: Iterable[Node], keys: Sequence[str]) -> dict[int, dict[str, str]]:
        """For each of these nodes, by node id, what `facets` returns for these keys."""
        ids = {node.id for node in nodes}
        groups = self.identities.joined(ids)
        names = {id_: self.identities.members(groups[id_]) if id_ in groups else [id_] for id_ in ids}
        rows: dict[int, list[_FacetRow]] = {}
        for some in chunks(name for members in names.values() for name in members):
            for row in self._facet_rows(some, [0], keys):
                rows.setdefault(row[0], []).append(row)
        return {id_: _newest(row for name in members for row in rows.get(name, ())) if rows else {} for id_, members in names.items()}

    def _facet_rows(self, names: Sequence[int], owners: Sequence[int], keys: Sequence[str]) -> Iterable[_FacetRow]:
        sql = _FACETS.format(marks(names), marks(owners), f"c.key IN ({marks(keys)})" if keys else "1 = 1")
        return self.connection.execute(sql, (*names, *owners, *keys))

    def aliases(self, which: AliasFilter) -> list[AliasRecord]:
        """The aliases that a filter selects, with their evidence."""
        return AliasList(self.connection, self.within).page(which)

    def group(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The canonical node of a group, and its members sorted by name."""
        group = self.identities.groups_of([node.id]).get(node.id)
        if group is None:
            return node, (node,)
        return self.by_id(self.identities.head(group)), tuple(self.by_id(id_) for id_ in self.identities.members(group))

    def names_of(self, nodes: Iterable[Node]) -> dict[int, tuple[Node, ...]]:
        """All names of each of these nodes that has several, by node id."""
        found = {id_: self.identities.members(group) for id_, group in self.identities.joined(node.id for node in nodes).items()}
        self.load(member for members in found.values() for member in members)
        return {id_: tuple(map(self.by_id, members)) for id_, members in found.items() if len(members) > 1}

    def head(self, id_: int) -> int:
        """The id of the canonical node of a node's group; the node's own id if it has only one name."""
        if id_ not in self._heads:
            group = self.identities.joined([id_]).get(id_)
            self._heads.update(dict.fromkeys(self.identities.members(group), self.identities.head(group)) if group else {id_: id_})
        return self._heads[id_]

    def members(self, id_: int) -> list[int]:
        """The ids of a node's group, sorted."""
        group = self.identities.joined([id_]).get(id_)
        return sorted(self.identities.members(group)) if group else [id_]

    def canonical(self, ids: Iterable[int]) -> dict[int, int]:
        """The id of the canonical node for each of these nodes that belongs to a group of several names, by node id."""
        found = self.identities.joined(ids)
        return {id_: self.identities.head(group) for id_, group in found.items() if len(self.identities.members(group)) > 1}

    def spelt(self, nodes: Iterable[Node], style: str = STANDARD) -> dict[int, Node]:
        """Each of these nodes, by id, under its preferred name: the name by OpenLineage's naming specification, or LineageBridge's own form
        of it where there is one.
        """
        out = {node.id: node for node in nodes}
        for id_, group in self.identities.joined(out).items():
            namespace, name = spelt(group, style)
            out[id_] = replace(out[id_], namespace=namespace, name=name)
        return out

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same nodes."""
        out = set(ids)
        for group in self.identities.joined(out).values():
            out.update(self.identities.members(group))
        return out

    def by_spelling(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node that a name denotes: the node with exactly this name, or else the canonical node of the group to which the name
        belongs.
        """
        node = self.find(kind, namespace, name)
        if node is not None:
            return node
        group = self.identities.group_of(Spelling(int(kind), namespace, name))
        return self.by_id(self.identities.head(group)) if self.identities.members(group) else None


def _newest(rows: Iterable[_FacetRow]) -> dict[str, str]:
    """The texts of facets by key, from the rows of all names of a node: of each key the newest, unless it is deleted."""
    newest: dict[str, _FacetRow] = {}
    for row in rows:
        known = newest.get(row[1])
        if known is None or row[2:] > known[2:]:
            newest[row[1]] = row
    return {key: text for key, (*_, deleted, text) in newest.items() if not deleted}


def _node(row: tuple[int, int, str, str]) -> Node:
    return Node(row[0], _KINDS[row[1]], row[2], row[3])
