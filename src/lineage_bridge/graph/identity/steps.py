"""Defines which spellings denote the same dataset or job. Similar names are not enough: joining two spellings requires evidence.

A *spelling* is a possible name of a dataset or job, whether or not it is in use. A *step* joins two spellings; its evidence is a symlink
from a producer, a claim of another facet (claims.py), an operator's alias, or a naming rule. A *link* joins two namespaces: each name in
one denotes the same as a name in the other. A step or link is valid unless a veto applies to it. A group is all spellings that valid steps
and links connect. Groups are not stored, so vetoing a step or joining a namespace writes only one row.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from lineage_bridge.graph.identity.naming.spelling import SpaceLink, bridge_rank, form_rank, identifies, job_rank, respellings
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage import facets as standard

OPERATOR, RULE, SYMLINK, FACET = "operator", "rule", "symlink", "facet"
"""The kinds of evidence."""
PREFERRED = "preferred"
"""The kind of an operator's statement that a group goes by one of its names."""
PreferenceOrder = tuple[int, bytes]
"""When an operator chose a name: UTC microseconds and the id of the event. The greatest counts."""
STANDARD, BRIDGE = "standard", "lineagebridge"
"""The styles in which answers write names."""
ANY = ""
"""In the fields of a veto: any kind or any evidence; if both names are empty, any spelling."""


class Spelling(NamedTuple):
    """A name of a dataset or a job (`kind`), whether or not a node with that name exists."""

    kind: int
    namespace: str
    name: str


class Step(NamedTuple):
    """Two spellings of one dataset or job, with the kind of evidence and the evidence itself."""

    a: Spelling
    b: Spelling
    kind: str
    evidence: str


class NamespaceLink(NamedTuple):
    """Two namespaces whose names denote the same datasets or jobs, with the kind of evidence and the evidence itself."""

    names: SpaceLink
    kind: str
    evidence: str


class StepReader(Protocol):
    """Returns the valid steps and links between names, and the names that operators chose."""

    def steps(self, spellings: Collection[Spelling]) -> Iterable[Step]:
        """The steps from or to any of these spellings."""

    def links(self, kind: int, namespace: str) -> Sequence[NamespaceLink]:
        """The links from or to a namespace."""

    def preferences(self, spellings: Collection[Spelling]) -> Mapping[Spelling, PreferenceOrder]:
        """The spellings among these that operators chose as names of their groups, each with the time of the choice."""


class NameGroup(NamedTuple):
    """All spellings of one dataset or job, sorted, with the steps and links that join them, and the spelling that an operator chose
    last.
    """

    spellings: tuple[Spelling, ...]
    steps: tuple[Step, ...]
    preferred: Spelling | None = None

    @property
    def canonical(self) -> Spelling:
        """The spelling that an operator chose, else the least by (rank of its form, namespace, name). The order of events does not
        matter.
        """
        return self.first(self.spellings)

    def first(self, spellings: Iterable[Spelling]) -> Spelling:
        """Among these spellings of the group, the one that an operator chose, else the first in canonical order."""
        return min(spellings, key=lambda spelling: (spelling != self.preferred, canonical_order(spelling)))


def canonical_order(spelling: Spelling) -> tuple[int, bytes, bytes]:
    """The sort key by which the canonical spelling of a group comes first."""
    kind, namespace, name = spelling
    rank = job_rank(namespace) if kind == NodeKind.JOB else form_rank(namespace, name)
    return rank, namespace.encode("utf-8", "replace"), name.encode("utf-8", "replace")


def spelt(group: NameGroup, style: str) -> tuple[str, str]:
    """The preferred namespace and name of a group: the canonical name or, in the style BRIDGE, a name in the form that LineageBridge
    writes, if the group has one.
    """
    if style == STANDARD:
        return group.canonical[1:]
    least = min(bridge_rank(spelling.namespace) for spelling in group.spellings)
    return group.first(spelling for spelling in group.spellings if bridge_rank(spelling.namespace) == least)[1:]


def groups(starts: Iterable[Spelling], reader: StepReader) -> dict[Spelling, NameGroup]:
    """The group of each of these spellings, by spelling."""
    above: dict[Spelling, Spelling] = {}
    steps: set[Step] = set()
    starts = list(dict.fromkeys(starts))
    above.update((start, start) for start in starts)
    frontier = starts
    while frontier:
        found = {*reader.steps(frontier), *_linked(frontier, reader)}
        frontier = []
        for step in found:
            for end in (step.a, step.b):
                if end not in above:
                    above[end] = end
                    frontier.append(end)
            _join(above, step.a, step.b)
        steps |= found
    return _grouped(starts, above, steps, reader.preferences(above))


def _linked(spellings: Iterable[Spelling], reader: StepReader) -> Iterator[Step]:
    for spelling in spellings:
        for link, kind, evidence in reader.links(spelling.kind, spelling.namespace):
            if link.space == spelling.namespace and (there := link.forth(spelling.name)):
                yield Step(spelling, Spelling(spelling.kind, *there), kind, evidence)
            if link.other == spelling.namespace and (here := link.back(spelling.name)):
                yield Step(Spelling(spelling.kind, *here), spelling, kind, evidence)


def _head(above: dict[Spelling, Spelling], spelling: Spelling) -> Spelling:
    while above[spelling] != spelling:
        above[spelling] = above[above[spelling]]
        spelling = above[spelling]
    return spelling


def _join(above: dict[Spelling, Spelling], a: Spelling, b: Spelling) -> None:
    least, other = sorted((_head(above, a), _head(above, b)))
    above[other] = least


def _grouped(
    starts: list[Spelling], above: dict[Spelling, Spelling], steps: set[Step], chosen: Mapping[Spelling, PreferenceOrder]
) -> dict[Spelling, NameGroup]:
    members: dict[Spelling, list[Spelling]] = defaultdict(list)
    for spelling in above:
        members[_head(above, spelling)].append(spelling)
    joining: dict[Spelling, list[Step]] = defaultdict(list)
    for step in steps:
        joining[_head(above, step.a)].append(step)
    preferred = {_head(above, spelling): spelling for spelling in sorted(chosen, key=lambda spelling: chosen[spelling])}
    made = {head: NameGroup(tuple(sorted(some)), tuple(sorted(joining[head])), preferred.get(head)) for head, some in members.items()}
    return {spelling: made[_head(above, spelling)] for spelling in starts}


def rule_steps(spelling: Spelling) -> Iterator[Step]:
    """The steps that the rules on names give from a spelling. There are no such rules for jobs."""
    if spelling.kind == NodeKind.DATASET:
        for rule, to in respellings(spelling.namespace, spelling.name):
            yield Step(spelling, Spelling(spelling.kind, *to), RULE, rule)


class StatedAlias(NamedTuple):
    """The operators' current statements about one alias: a row of the relation `alias`. `stated` and `vetoed` are 0 or 1.

    With `whole`, it is about two namespaces: every name `n` of `a_namespace` is the name `b_name + n` of `b_namespace`.
    """

    entity: int
    whole: int
    a_namespace: str
    a_name: str
    b_namespace: str
    b_name: str
    kind: str
    evidence: str
    stated: int
    vetoed: int

    @property
    def ends(self) -> tuple[Spelling, Spelling]:
        """The two spellings that the alias joins; None if it is about namespaces."""
        return Spelling(self.entity, self.a_namespace, self.a_name), Spelling(self.entity, self.b_namespace, self.b_name)

    @property
    def link(self) -> NamespaceLink:
        """The link between the two namespaces; None if the alias is about names."""
        return NamespaceLink(SpaceLink(self.a_namespace, self.b_namespace, self.b_name, 0, ""), self.kind, self.evidence)


class Vetoes:
    """Operators' vetoes of a single step or link, of a rule in one namespace, or of a rule or facet key everywhere."""

    def __init__(self) -> None:
        self._on: set[tuple[int, int, str, str, str, str, str, str]] = set()

    def add(self, aliases: Iterable[StatedAlias]) -> None:
        """Add the vetoes that are among these aliases."""
        self._on.update(alias[:8] for alias in aliases if alias.vetoed)

    def stands(self, step: Step) -> bool:
        """Whether no veto applies to a step."""
        entity, a, b = step.a.kind, step.a[1:], step.b[1:]
        within = ((1, space, ANY, space, ANY) for space in (a[0], b[0]) if step.kind == RULE)
        return not self._on or not self._any(entity, step.kind, step.evidence, ((0, *a, *b), (0, *b, *a), *within))

    def link_stands(self, entity: int, link: NamespaceLink) -> bool:
        """Whether no veto applies to a link between namespaces."""
        (here, there, prefix, *_), kind, evidence = link
        scopes = [(1, here, ANY, there, prefix), (1, here, ANY, there, ANY), (1, there, ANY, here, ANY)]
        return not self._on or not self._any(entity, kind, evidence, scopes)

    def _any(self, entity: int, kind: str, evidence: str, scopes: Iterable[tuple[int, str, str, str, str]]) -> bool:
        everywhere = (0, ANY, ANY, ANY, ANY)
        return any(
            (entity, *scope, some_kind, some_evidence) in self._on
            for scope in (*scopes, *((everywhere,) if kind in (RULE, FACET) else ()))
            for some_kind in (kind, ANY)
            for some_evidence in (evidence, ANY)
        )


def symlinks(text: bytes) -> list[tuple[str, str, str]]:
    """The names (namespace, name, type) in a symlinks facet, sorted, except those that do not identify a dataset.

    Left out are tables of a Flink session, because two jobs can use the same name for two topics, and names in a namespace that does not
    determine the system.
    """
    facet = standard.read_as(standard.SymlinksDatasetFacet, "dataset", "symlinks", text)
    found = {(link.namespace, link.name, link.type or "") for link in (facet.identifiers or () if facet else ())}
    return sorted(link for link in found if link[1] and identifies(link[0]) and not _session_local(*link))


def _session_local(namespace: str, name: str, type_: str) -> bool:
    """Whether a name denotes a table in Flink's session catalog. A table in a Kafka namespace also counts as one, because Kafka has no
    tables.
    """
    in_kafka = namespace.startswith("kafka://") and (type_ == "TABLE" or name.startswith("default_database."))
    return in_kafka or name.startswith("default_catalog.")
