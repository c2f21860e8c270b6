"""Reads nodes, names, facets and search results, limited to the principal's own nodes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import AliasFilter, AliasRecord
from lineage_bridge.model.search import SearchFilter, SearchPage
from lineage_bridge.ports.graph_reader import NodeReader, SearchReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.paging import page_of

LINEAGE: Final = frozenset(("columnLineage", "lineage"))
"""Keys of facets that state where data comes from, and so may name nodes beyond the border."""
_CANDIDATES: Final = 200


class LimitedNodes:
    """Implements ports.NodeReader: nodes beyond the border are not found. `lists` is a reader limited to the principal's namespaces."""

    def __init__(self, nodes: NodeReader, lists: NodeReader, border: Border) -> None:
        self._nodes, self._lists, self._border = nodes, lists, border

    def find(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The own node with exactly this name."""
        return self._if_own(self._nodes.find(kind, namespace, name))

    def by_spelling(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The own node that has this name in any spelling."""
        return self._if_own(self._nodes.by_spelling(kind, namespace, name))

    def _if_own(self, node: Node | None) -> Node | None:
        return node if node is not None and self._border.is_own(node) else None

    def near(self, kind: NodeKind, namespace: str, name: str, limit: int = 5) -> list[Node]:
        """The principal's own nodes with similar names."""
        found = self._nodes.near(kind, namespace, name, _CANDIDATES)
        self._border.load(found)
        return [node for node in found if self._border.is_own(node)][:limit]

    def matching(self, kind: NodeKind, namespace: str | None, name: str | None, limit: int | None, offset: int) -> list[Node]:
        """Own nodes whose names match globs, under their names in the principal's namespaces."""
        return self._lists.matching(kind, namespace, name, limit, offset)

    def count(self, kind: NodeKind) -> int:
        """The number of names in the principal's namespaces."""
        return self._lists.count(kind)

    def namespaces(self) -> list[str]:
        """The namespaces of the graph that are the principal's own."""
        return sorted(self._border.own)

    def has_namespace(self, kind: NodeKind, namespace: str) -> bool:
        """Whether the namespace is one of the principal's, and any node is in it."""
        return namespace in self._border.own and self._nodes.has_namespace(kind, namespace)

    def spelt(self, nodes: Iterable[Node], style: str) -> dict[int, Node]:
        """Each of these nodes by its id: an own node under its preferred name, any other unchanged."""
        every = {node.id: node for node in nodes}
        self._border.load(every.values())
        own = [node for node in every.values() if self._border.is_own(node)]
        return {**every, **self._nodes.spelt(own, style)}

    def group(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The canonical name and all names of one of the principal's own nodes; of any other node, only the name in the answer."""
        return self._nodes.group(node) if self._border.is_own(node) else (node, (node,))

    def names_of(self, nodes: Iterable[Node]) -> dict[int, tuple[Node, ...]]:
        """All names of each of these nodes that is own, by node id."""
        every = list(nodes)
        self._border.load(every)
        return self._nodes.names_of([node for node in every if self._border.is_own(node)])

    def facets(self, node: Node, job: Node | None = None, keys: Sequence[str] = ()) -> dict[str, str]:
        """The facets of one of the principal's own nodes; with `job`, the facets that belong to the node and this job together, if the job
        is one of the principal's own too.
        """
        if not self._border.is_own(node) or (job is not None and not self._border.is_own(job)):
            return {}
        return dict(shown_facets(self._border, self._nodes.facets(node, job, keys)))

    def aliases(self, which: AliasFilter) -> list[AliasRecord]:
        """Aliases of own names. An alias without effect joins no names, so it is only shown if both ends are own names."""

        def fetch(limit: int, offset: int) -> list[AliasRecord]:
            return self._lists.aliases(replace(which, limit=limit, offset=offset))

        return page_of(
            fetch, lambda records: [self._alias(record) for record in records if self._is_shown(record)], which.limit, which.offset
        )

    def _is_shown(self, record: AliasRecord) -> bool:
        ends = [end[0] in self._border.own for end in (record.a, record.b)]
        return any(ends) if record.standing else all(ends)

    def _alias(self, record: AliasRecord) -> AliasRecord:
        asserters = [asserter for asserter in record.asserted_by if self._border.is_own(asserter.node)]
        return replace(record, asserted_by=tuple(asserters))


def shown_facets(border: Border, facets: Mapping[str, str]) -> Mapping[str, str]:
    """The facets of own nodes; if neighbours are hidden, without the facets that name them."""
    return facets if border.visibility.neighbours else {key: text for key, text in facets.items() if key not in LINEAGE}


class LimitedSearch:
    """Implements ports.SearchReader over a reader limited to the principal's namespaces."""

    def __init__(self, lists: SearchReader) -> None:
        self._lists = lists

    def by_name(self, text: str, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        """Own nodes that match a search by name."""
        return self._lists.by_name(text, kind, limit, offset)

    def page(self, which: SearchFilter) -> SearchPage:
        """Own nodes that match a search by their names or by the texts of their facets."""
        return self._lists.page(which)
