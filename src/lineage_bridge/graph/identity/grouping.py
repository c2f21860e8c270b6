"""Has all steps and links (see `steps.py`) in memory, for grouping the names of whole graphs. Tests compare the store's steps and links
with these.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage_bridge.graph.identity.claims import NamespaceClaim, uncontradicted
from lineage_bridge.graph.identity.naming.spelling import SpaceLink, all_space_links, closure
from lineage_bridge.graph.identity.steps import (
    OPERATOR,
    PREFERRED,
    RULE,
    SYMLINK,
    NamespaceLink,
    PreferenceOrder,
    Spelling,
    StatedAlias,
    Step,
    Vetoes,
    groups,
)
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import NEVER_US


def stated_aliases(rows: Mapping[Row, Row]) -> list[StatedAlias]:
    """Convert rows of the relation `alias` to `StatedAlias`."""
    return [StatedAlias._make((*key, int(values[1] != NEVER_US), int(bool(values[3])))) for key, values in rows.items()]


def preferences(rows: Mapping[Row, Row]) -> dict[Spelling, PreferenceOrder]:
    """The names that operators chose for groups and have not withdrawn, from rows of the relation `alias`."""
    found = {key: (values[1:3], values[4:6]) for key, values in rows.items() if key[6] == PREFERRED}
    return {Spelling(key[0], *key[2:4]): stated for key, (stated, withdrawn) in found.items() if stated > withdrawn}


def valid_aliases(aliases: Iterable[StatedAlias], vetoes: Vetoes) -> Iterator[StatedAlias]:
    """The aliases that operators stated, except the vetoed ones."""
    for alias in aliases:
        if (
            alias.stated
            and alias.kind == OPERATOR
            and (vetoes.link_stands(alias.entity, alias.link) if alias.whole else vetoes.stands(step_of(alias)))
        ):
            yield alias


def step_of(alias: StatedAlias) -> Step:
    """Convert an operator's alias of two names to a step."""
    return Step(*alias.ends, OPERATOR, alias.evidence)


def claim_stands(claim: NamespaceClaim, vetoes: Vetoes) -> bool:
    """Whether no veto applies to a claim."""
    return vetoes.link_stands(int(NodeKind.DATASET), claim.link) if claim.whole else vetoes.stands(claim.step)


class StepsInMemory:
    """All valid steps and links: those that naming rules give to spellings in use, symlinks, claims, and operators' aliases. Implements
    `StepReader`.
    """

    def __init__(
        self,
        spellings: Iterable[Spelling],
        symlinks: Iterable[tuple[Spelling, Spelling, str]],
        aliases: Collection[StatedAlias],
        claims: Iterable[NamespaceClaim] = (),
        preferred: Mapping[Spelling, PreferenceOrder] | None = None,
    ) -> None:
        self.preferred = preferred or {}
        self.vetoes = Vetoes()
        self.vetoes.add(aliases)
        stated = list(valid_aliases(aliases, self.vetoes))
        ends = {end for alias in stated if not alias.whole for end in alias.ends}
        datasets = {s for s in (*spellings, *ends) if s.kind == NodeKind.DATASET}
        spaces = {s.namespace for s in datasets}
        spaces |= {
            space
            for alias in stated
            if alias.whole and alias.entity == NodeKind.DATASET
            for space in (alias.a_namespace, alias.b_namespace)
        }
        self.name_aliases = {(s, *step) for s in datasets for step in closure(s.namespace, s.name)}
        self.namespace_aliases: set[tuple[str, SpaceLink]] = {(space, link) for space in spaces for link in all_space_links(space)}
        self._steps: dict[Spelling, set[Step]] = defaultdict(set)
        self._links: dict[tuple[int, str], set[NamespaceLink]] = defaultdict(set)
        for step in (*self._rule_steps(), *(Step(a, b, SYMLINK, type_) for a, b, type_ in symlinks)):
            self._add(step)
        for alias in stated:
            if alias.whole:
                self._link(alias.entity, alias.link)
            else:
                self._add(step_of(alias))
        for _, link in self.namespace_aliases:
            self._link(int(NodeKind.DATASET), NamespaceLink(link, RULE, link.rule))
        for claim in uncontradicted(claim for claim in claims if claim_stands(claim, self.vetoes)):
            if claim.whole:
                self._link(int(NodeKind.DATASET), claim.link)
            else:
                self._add(claim.step)

    def _rule_steps(self) -> Iterator[Step]:
        kind = int(NodeKind.DATASET)
        for _, here, to, rule in self.name_aliases:
            yield Step(Spelling(kind, *here), Spelling(kind, *to), RULE, rule)

    def _add(self, step: Step) -> None:
        if self.vetoes.stands(step):
            self._steps[step.a].add(step)
            self._steps[step.b].add(step)

    def _link(self, entity: int, link: NamespaceLink) -> None:
        if self.vetoes.link_stands(entity, link):
            self._links[entity, link.names.space].add(link)
            self._links[entity, link.names.other].add(link)

    def steps(self, spellings: Collection[Spelling]) -> Iterator[Step]:
        """The valid steps from or to any of these spellings."""
        for spelling in spellings:
            yield from self._steps.get(spelling, ())

    def links(self, kind: int, namespace: str) -> list[NamespaceLink]:
        """The valid links from or to a namespace, sorted."""
        return sorted(self._links.get((kind, namespace), ()))

    def preferences(self, spellings: Collection[Spelling]) -> dict[Spelling, PreferenceOrder]:
        """The spellings among these that operators chose as names of their groups, each with the time of the choice."""
        return {spelling: order for spelling, order in self.preferred.items() if spelling in spellings}


def names_in_groups(nodes: Mapping[int, Spelling], reader: StepsInMemory) -> Iterator[tuple[int, int, str, str]]:
    """(node, head, namespace, name) for each node that has other names or whose own name is not the canonical one.

    `head` is the canonical node of the group: of the names in use, its name is the first in canonical order. `namespace` and `name` are the
    group's canonical name.
    """
    found = groups(nodes.values(), reader)
    ids = {spelling: id_ for id_, spelling in nodes.items()}
    for id_, spelling in nodes.items():
        group = found[spelling]
        members = [other for other in group.spellings if other in ids]
        head, name = ids[group.first(members)], group.canonical
        if len(members) > 1 or name != spelling:
            yield id_, head, name.namespace, name.name
