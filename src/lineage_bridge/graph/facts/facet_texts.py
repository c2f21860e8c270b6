"""Reads facet sets and facets from the relations, each once, and caches the results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.run_shape import carriers, declaring_keys, is_mark, read_mark
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.identity.steps import Spelling
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import LineageSet, read_lineage_set


class FacetTexts:
    """Facet sets and facets, read from the rows of relations. `lineage_sets` has the lineage sets read so far, `names_by_id` the names
    of the nodes seen so far.
    """

    def __init__(self, tables: Tables, names: Names) -> None:
        self.tables, self.names = tables, names
        self.lineage_sets: dict[bytes, LineageSet] = {}
        self.names_by_id = {id_: Spelling(kind, namespace, name) for id_, kind, namespace, name in tables["node"]}
        self.facet_sets: dict[bytes, dict[str, bytes]] = defaultdict(dict)
        self.declared_io: dict[bytes, list[tuple[int, int, bytes]]] = defaultdict(list)
        self._lineage_sets_by_facet: dict[tuple[str, bytes], bytes | None] = {}
        for (facet_set, key), (facet,) in tables["facet_set"].items():
            self.facet_sets[facet_set][key] = facet
        for facet_set, side, dataset, facets in tables["declared_io"]:
            self.declared_io[facet_set].append((side, dataset, facets))

    def facets(self, facet_set: bytes) -> dict[str, bytes]:
        """The ids of the facets in a facet set, by key."""
        return self.facet_sets.get(facet_set, {})

    def text(self, facet: bytes) -> bytes:
        """The stored text of a facet."""
        return str(self.tables["facet"][(facet,)][1]).encode()

    def lineage_set(self, key: str, facet: bytes) -> bytes | None:
        """The lineage set id of a facet, or the mark of a jobType facet (see `flows/run_shape.py`); None if the facet states neither.

        Caches the lineage set and the names of the nodes in it.
        """
        if (key, facet) not in self._lineage_sets_by_facet:
            if key == "jobType":
                self._lineage_sets_by_facet[key, facet] = read_mark(self.text(facet))
                return self._lineage_sets_by_facet[key, facet]
            lineage_set = read_lineage_set(key, self.text(facet), self.names)
            self._lineage_sets_by_facet[key, facet] = lineage_set.id if lineage_set else None
            if lineage_set:
                self.lineage_sets[lineage_set.id] = lineage_set
                self.remember_names(lineage_set.nodes)
        return self._lineage_sets_by_facet[key, facet]

    def is_deleted(self, facet: bytes) -> bool:
        """Whether a facet is a tombstone."""
        return bool(self.tables["facet"][(facet,)][0])

    def remember_names(self, nodes: Iterable[Row]) -> None:
        """Add the names of these nodes, which are rows of the relation `node`, to `names_by_id`."""
        self.names_by_id.update((node[0], Spelling(*node[1:])) for node in nodes)

    def stated_lineage(self, node: int, job: int, side: int, facet_set: bytes) -> Iterator[tuple[int, bytes]]:
        """The lineage in a facet set that was asserted about a node, as pairs of carrier and lineage set id (or mark, see `read_mark`)."""
        for key, carrier in carriers(node, job, side):
            facet = self.facets(facet_set).get(key)
            lineage_set = self.lineage_set(key, facet) if facet else None
            if lineage_set:
                yield carrier, lineage_set

    def declared_shape(self, own: int, job: int, facet_set: bytes) -> Shape:
        """The shape of one facet set of a design-time statement about `own`: a job, or a dataset if `job` is 0."""
        statements = {
            (carrier, lineage_set)
            for carrier, lineage_set in self.stated_lineage(own, job, Side.SELF, facet_set)
            if not is_mark(lineage_set)
        }
        for side, dataset, facets in self.declared_io.get(facet_set, ()):
            statements.update(self.stated_lineage(dataset, job, side, facets))
        return make_shape(Origin.DECLARED, [row[:2] for row in self.declared_io.get(facet_set, ())], statements)

    def states_flows(self, facet_set: bytes, job: int) -> bool:
        """Whether a design-time facet set states anything about flows, even if only that there are none any more."""
        facets = [(key, self.facets(facet_set).get(key)) for key in declaring_keys(job)]
        return facet_set in self.declared_io or any(
            facet and (self.is_deleted(facet) or self.lineage_set(key, facet)) for key, facet in facets
        )

    def annotations(self, key: str, facet: bytes) -> Iterator[Row]:
        """The rows of `annotation` for one facet."""
        lineage_set = read_lineage_set(key, self.text(facet), self.names)
        return annotation_rows(facet, lineage_set) if lineage_set else iter(())


def annotation_rows(facet: bytes, lineage_set: LineageSet) -> Iterator[Row]:
    """The rows of `annotation` for one facet, from its lineage set."""
    for statement, *annotation in lineage_set.annotations:
        yield lineage_set.id, *statement, facet, *annotation
