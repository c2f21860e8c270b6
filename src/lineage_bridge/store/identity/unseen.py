"""Finds the group of a name that no node has. The naming rules apply to it as if a node had it."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from lineage_bridge.graph.identity.naming.spelling import all_space_links, closure
from lineage_bridge.graph.identity.steps import RULE, NamespaceLink, PreferenceOrder, Spelling, Step, StepReader, Vetoes
from lineage_bridge.graph.ids import NodeKind

_DATASET = int(NodeKind.DATASET)


class WithSpelling:
    """Implements StepReader. Returns the steps and links of `reader`, and those that the naming rules derive from `spelling`. `vetoes` is
    the object to which `reader` adds the vetoes of operators that it loads.
    """

    def __init__(self, reader: StepReader, vetoes: Vetoes, spelling: Spelling) -> None:
        self.reader, self.vetoes, self.spelling = reader, vetoes, spelling
        is_dataset = spelling.kind == _DATASET
        self._steps = [
            Step(Spelling(spelling.kind, *here), Spelling(spelling.kind, *to), RULE, rule)
            for here, to, rule in (closure(spelling.namespace, spelling.name) if is_dataset else ())
        ]
        self._links = [NamespaceLink(link, RULE, link.rule) for link in (all_space_links(spelling.namespace) if is_dataset else ())]

    def steps(self, spellings: Collection[Spelling]) -> Iterator[Step]:
        """The steps from or to any of these spellings."""
        yield from self.reader.steps(spellings)
        yield from (s for s in self._steps if (s.a in spellings or s.b in spellings) and self.vetoes.stands(s))

    def links(self, kind: int, namespace: str) -> Sequence[NamespaceLink]:
        """The links from or to a namespace."""
        own = (link for link in self._links if namespace in (link.names.space, link.names.other))
        others = self.reader.links(kind, namespace)
        return sorted({*others, *(link for link in own if kind == self.spelling.kind and self.vetoes.link_stands(kind, link))})

    def preferences(self, spellings: Collection[Spelling]) -> Mapping[Spelling, PreferenceOrder]:
        """The spellings among these that operators chose as names of their groups, each with the time of the choice."""
        return self.reader.preferences(spellings)
