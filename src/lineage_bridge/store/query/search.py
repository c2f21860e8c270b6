"""Searches nodes by parts of their names, and by the texts of their facets."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lineage_bridge.graph.contents.search_terms import FIELDS, matching_lines, plain
from lineage_bridge.graph.contents.stewardship import stated_owners
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.search import Match, SearchFilter, SearchPage
from lineage_bridge.openlineage.facets import TagsFacet, read_as
from lineage_bridge.store.chunks import batches, chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import FullText, Query
from lineage_bridge.store.query.nodes import Nodes

CANDIDATES = 2_000
"""The maximum number of nodes that each way to match may yield before they are ranked."""
_TRIGRAM = 3
_LONG = 12
"""Texts of at least this many characters are in few names."""
_TEXT_FIELDS = {"column": "columns", "owner": "owners", "tag": "tags", "description": "description", "sql": "sql", "failure": "failure"}
_MATCHING = """SELECT n.id, n.kind, n.namespace, n.name FROM {index} JOIN node n ON n.id = {index}.{key}
WHERE {matches} AND (CAST(:kind AS BIGINT) IS NULL OR n.kind = :kind)
AND (CAST(:namespace AS TEXT) IS NULL OR n.namespace = :namespace) AND {within} LIMIT :limit"""
_NAMES, _TEXTS = "node_search", "node_search_text"
_EXACT = """WITH RECURSIVE space (namespace, number) AS (SELECT (SELECT min(namespace) FROM node), 1
UNION ALL SELECT (SELECT min(n.namespace) FROM node n WHERE n.namespace > space.namespace), number + 1 FROM space
WHERE space.namespace IS NOT NULL AND number < 1000)
SELECT n.id, n.kind, n.namespace, n.name FROM space JOIN node n ON n.namespace = space.namespace AND n.name = ? AND {}"""
_WITH_FACET = """SELECT n.id, n.kind, n.namespace, n.name FROM current_facet c JOIN facet f ON f.facet = c.facet
JOIN node n ON n.id = c.node WHERE c.job = 0 AND c.key = ? AND f.deleted = 0 AND {} LIMIT ?"""
_BY_ID = "SELECT id, kind, namespace, name FROM node WHERE id IN ({})"

_Row = tuple[int, int, str, str]
"""The id, kind, namespace and name of a match. Only the matches on the page are loaded as nodes; there may be thousands of others."""


class Search:
    """Searches over one connection. Implements ports.SearchReader. Reads at most `candidates` nodes for each way to match."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, candidates: int = CANDIDATES) -> None:
        self.connection, self.nodes, self.candidates = connection, nodes, candidates
        self.search, self.within = connection.dialect.full_text, nodes.within

    def by_name(self, text: str, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        """Nodes whose name and namespace together contain every word of the text, best match first."""
        page = self.page(SearchFilter(text, kind=kind, fields=("name",), limit=limit, offset=offset))
        return [match.node for match in page.matches]

    def page(self, which: SearchFilter) -> SearchPage:
        """A page of search results: matches by name first (equal, then prefix, then shorter names), then matches by facet texts, those by
        columns first.
        """
        words = which.text.split()
        named, cut = self._named(which, words)
        by_text, more = self._matching_texts(which, words)
        by_column = self._matching_columns(which, words) if by_text else set()
        order = [
            *sorted(named, key=lambda row: _order(row, which.text)),
            *sorted((by_text | by_column) - named, key=lambda row: (row not in by_column, *row[2:])),
        ]
        end = which.offset + which.limit
        found = list(itertools.islice(self._fitting(order, which), end))
        ids = {row[0] for row in named}
        return SearchPage(tuple(self._match(node, which, words, node.id in ids) for node in found[which.offset :]), cut or more)

    def _named(self, which: SearchFilter, words: list[str]) -> tuple[set[_Row], bool]:
        """Nodes that contain every word in name or namespace."""
        if "name" not in which.fields or not words:
            return set(), False
        if any(len(word) < _TRIGRAM for word in words):
            found = self._scanned(words)
            return found, len(found) >= self.candidates
        sifted = self._sifted(which, words) if len(which.text) >= _LONG else None
        if sifted is not None:
            return sifted, False
        query = self.search.all_of([self.search.phrase(word) for word in words])
        found = self._rows(_NAMES, query, which)
        if len(found) < self.candidates:
            return found, False
        found |= self._rows(_NAMES, self.search.beginning("name", self.search.phrase(which.text)), which)
        found.update(self.connection.execute(_EXACT.format(self._condition), (which.text, *self.within.values)))
        return found, True

    def _sifted(self, which: SearchFilter, words: list[str]) -> set[_Row] | None:
        """What `_named` returns, sifted from the matches of a rougher query; None if these are too many, or if letters beyond ASCII have to
        be compared, which only the index does in its own way.
        """
        found = self._rows(_NAMES, self.search.all_of([self.search.phrase(word, roughly=True) for word in words]), which)
        if len(found) >= self.candidates or not all(map(str.isascii, (*words, *(text for row in found for text in row[2:])))):
            return None
        lower = [word.lower() for word in words]
        return {row for row in found if all(word in row[2].lower() or word in row[3].lower() for word in lower)}

    def _rows(self, index: str, query: Query, which: SearchFilter) -> set[_Row]:
        key, matches = self.search.matching(index, ":query")
        sql = _MATCHING.format(index=index, key=key, matches=matches, within=self.within.by_name("n.namespace"))
        values = {
            "query": self.search.query_value(index, query),
            "kind": which.kind,
            "namespace": which.namespace,
            "limit": self.candidates,
            **self.within.named,
        }
        return set(self.connection.execute(sql, values))

    def _scanned(self, words: Sequence[str]) -> set[_Row]:
        """Nodes whose names contain words that are too short for the index; they are found by a scan of all names."""
        where = " AND ".join("(INSTR(lower(namespace), lower(?)) > 0 OR INSTR(lower(name), lower(?)) > 0)" for _ in words)
        values = [*(word for word in words for _ in range(2)), *self.within.values, self.candidates]
        sql = f"SELECT id, kind, namespace, name FROM node n WHERE {where} AND {self._condition} LIMIT ?"
        return set(self.connection.execute(sql, values))

    @property
    def _condition(self) -> str:
        return self.within.by_position("n.namespace")

    def _matching_texts(self, which: SearchFilter, words: list[str]) -> tuple[set[_Row], bool]:
        """Nodes whose facet texts contain every word; if there are no words, nodes whose facets satisfy the filters."""
        if not words:
            return self._stating(which)
        if not (query := _text_query(self.search, which, words)):
            return set(), False
        found = self._rows(_TEXTS, query, which)
        cut = len(found) >= self.candidates
        if cut and (filters := _filter_queries(self.search, which)):
            found |= self._rows(_TEXTS, self.search.all_of([query, *filters]), which)
        return found, cut

    def _matching_columns(self, which: SearchFilter, words: list[str]) -> set[_Row]:
        """Nodes whose columns alone contain every word."""
        query = _text_query(self.search, replace(which, fields=("column",)), words) if "column" in which.fields else ""
        return self._rows(_TEXTS, query, which) if query else set()

    def _stating(self, which: SearchFilter) -> tuple[set[_Row], bool]:
        """The names of nodes with a facet that the filters require, and all other names of these nodes."""
        if filters := _filter_queries(self.search, which):
            found = self._rows(_TEXTS, filters[0], SearchFilter("", kind=which.kind))
            cut = len(found) >= self.candidates
            found |= self._rows(_TEXTS, self.search.all_of(filters), SearchFilter("", kind=which.kind)) if cut else set()
        elif which.has:
            values = (which.has[0], *self.within.values, self.candidates)
            found = set(self.connection.execute(_WITH_FACET.format(self._condition), values))
            cut = len(found) >= self.candidates
        else:
            return set(), False
        others = self.nodes.expand(row[0] for row in found) - {row[0] for row in found} if which.namespace else ()
        for some in chunks(others):
            found.update(self.connection.execute(_BY_ID.format(marks(some)), some))
        return found, cut

    def _fitting(self, rows: Iterable[_Row], which: SearchFilter) -> Iterator[Node]:
        """The nodes that pass all filters, each under the first of its names."""
        seen: set[int] = set()
        for some in batches([row for row in rows if _is_of(row, which)]):
            heads = self.nodes.canonical(row[0] for row in some)
            for row in some:
                head = heads.get(row[0], row[0])
                if head not in seen and self._fits(node := _node(row), which):
                    yield node
                seen.add(head)

    def _fits(self, node: Node, which: SearchFilter) -> bool:
        needed = [*which.has, *(["ownership"] if which.owner is not None else []), *(["tags"] if which.tag is not None else [])]
        if not needed:
            return True
        facets = self.nodes.facets(node, keys=needed)
        return (
            facets.keys() >= set(needed)
            and (which.owner is None or which.owner in stated_owners(facets["ownership"]))
            and (which.tag is None or which.tag in _tags(facets["tags"]))
        )

    def _match(self, node: Node, which: SearchFilter, words: list[str], named: bool) -> Match:
        """The match of a node in a search: its name, and the matching lines of its facets under any of its names."""
        if not words:
            return Match(node, named, ())
        names = self.nodes.members(node.id)
        rows = self.connection.execute(f"SELECT {', '.join(FIELDS)} FROM search_text WHERE node IN ({marks(names)})", names).fetchall()
        texts = [dict(zip(FIELDS, row, strict=True)) for row in rows]
        lines = (
            (field, line)
            for field, column in _TEXT_FIELDS.items()
            if field in which.fields
            for text in texts
            for line in matching_lines(text[column], words)
        )
        return Match(node, named, tuple(dict.fromkeys(lines)))


def _text_query(search: FullText, which: SearchFilter, words: list[str]) -> Query:
    """The query for the index of facet texts; empty if neither the words nor the filters of the search need this index."""
    columns = [_TEXT_FIELDS[field] for field in which.fields if field in _TEXT_FIELDS]
    terms = [search.phrase(plain(word), prefix=True) for word in words if plain(word)]
    if not columns or not terms:
        return ""
    scope = [*columns, *(["title"] if "name" in which.fields else [])]
    # Some words may occur only in the name, but not all of them: such nodes are found by name.
    parts = [search.within(scope, search.all_of(terms)), search.within(columns, search.any_of(terms))]
    return search.all_of(parts)


def _filter_queries(search: FullText, which: SearchFilter) -> list[Query]:
    """The full-text queries for the filters on owner and tag."""
    filters = (("owners", which.owner), ("tags", which.tag))
    return [search.within([column], search.phrase(plain(text))) for column, text in filters if text is not None and plain(text)]


def _tags(text: str) -> set[str]:
    """The texts to search for a tag: `key`, and `key=value`."""
    facet = read_as(TagsFacet, "dataset", "tags", text.encode())
    tags = (facet.tags if facet else None) or ()
    return {form for tag in tags for form in (tag.key, f"{tag.key}={tag.value}")}


def _is_of(row: _Row, which: SearchFilter) -> bool:
    _, kind, namespace, _ = row
    return (which.kind is None or kind == which.kind) and (which.namespace is None or namespace == which.namespace)


def _order(row: _Row, text: str) -> tuple[bool, bool, int, str, str]:
    _, _, namespace, name = row
    return name != text, not name.startswith(text), len(name), namespace, name


def _node(row: _Row) -> Node:
    return Node(row[0], NodeKind(row[1]), row[2], row[3])
