"""What contents and facets say, as the relations hold them: read once, and remembered."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from lineage_bridge.graph.facts.events import Names
from lineage_bridge.graph.facts.fold import Tables
from lineage_bridge.graph.flows.run_shape import carriers, declaring_keys, is_mark, read_mark
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.identity.steps import Spelling
from lineage_bridge.graph.relations import Origin, Row, Side
from lineage_bridge.graph.statements.lineage_sets import Meaning, read_meaning


class Texts:
    """Over one set of relations. `meanings` are those read so far, `there` the names of nodes met so far."""

    def __init__(self, tables: Tables, names: Names) -> None:
        self.tables, self.names = tables, names
        self.meanings: dict[bytes, Meaning] = {}
        self.there = {id_: Spelling(kind, namespace, name) for id_, kind, namespace, name in tables["node"]}
        self.contents: dict[bytes, dict[str, bytes]] = defaultdict(dict)
        self.declared_io: dict[bytes, list[tuple[int, int, bytes]]] = defaultdict(list)
        self._meaning_of: dict[tuple[str, bytes], bytes | None] = {}
        for (content, key), (facet,) in tables["facet_set"].items():
            self.contents[content][key] = facet
        for content, side, dataset, facets in tables["declared_io"]:
            self.declared_io[content].append((side, dataset, facets))

    def facets(self, content: bytes) -> dict[str, bytes]:
        """The facets of a content: key to facet."""
        return self.contents.get(content, {})

    def text(self, facet: bytes) -> bytes:
        """The stored text of a facet."""
        return str(self.tables["facet"][(facet,)][1]).encode()

    def meaning(self, key: str, facet: bytes) -> bytes | None:
        """The id of a facet's meaning; remembers the meaning, and the names of the nodes it uses."""
        if (key, facet) not in self._meaning_of:
            if key == "jobType":
                self._meaning_of[key, facet] = read_mark(self.text(facet))
                return self._meaning_of[key, facet]
            meaning = read_meaning(key, self.text(facet), self.names)
            self._meaning_of[key, facet] = meaning.id if meaning else None
            if meaning:
                self.meanings[meaning.id] = meaning
                self.name(meaning.nodes)
        return self._meaning_of[key, facet]

    def is_deleted(self, facet: bytes) -> bool:
        """Whether a facet is a tombstone."""
        return bool(self.tables["facet"][(facet,)][0])

    def name(self, nodes: Iterable[Row]) -> None:
        """Remember the names that a facet gives."""
        self.there.update((node[0], Spelling(*node[1:])) for node in nodes)

    def statements(self, about: int, job: int, side: int, content: bytes) -> Iterator[tuple[int, bytes]]:
        """What a content that is said about a node states of lineage: each carrier with a meaning or a mark."""
        for key, carried in carriers(about, job, side):
            facet = self.facets(content).get(key)
            meaning = self.meaning(key, facet) if facet else None
            if meaning:
                yield carried, meaning

    def declared(self, own: int, job: int, content: bytes) -> Shape:
        """The shape of one content of a design-time statement of `own`: a job, or (then `job` is 0) a dataset."""
        statements = {(carried, meaning) for carried, meaning in self.statements(own, job, Side.SELF, content) if not is_mark(meaning)}
        for side, dataset, facets in self.declared_io.get(content, ()):
            statements.update(self.statements(dataset, job, side, facets))
        return make_shape(Origin.DECLARED, [row[:2] for row in self.declared_io.get(content, ())], statements)

    def speaks_of_flow(self, content: bytes, job: int) -> bool:
        """Whether a design-time content says anything of flow, be it that there is none any more."""
        facets = [(key, self.facets(content).get(key)) for key in declaring_keys(job)]
        return content in self.declared_io or any(facet and (self.is_deleted(facet) or self.meaning(key, facet)) for key, facet in facets)

    def remarks(self, key: str, facet: bytes) -> Iterator[Row]:
        """The rows of `remark` for one facet."""
        meaning = read_meaning(key, self.text(facet), self.names)
        return remarks(facet, meaning) if meaning else iter(())


def remarks(facet: bytes, meaning: Meaning) -> Iterator[Row]:
    """The rows of `remark` for one text."""
    for statement, *said in meaning.remarks:
        yield meaning.id, *statement, facet, *said
