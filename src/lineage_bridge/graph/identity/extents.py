"""Determines which names of a dataset are affected by the drop of one name. Dropping a table drops its partitions, but dropping a partition
does not drop the table.

The names of a group denote a dataset or a part of it: a naming rule that cuts a partition off a path joins the part to the whole. All other
steps join names of the same extent.
"""

from collections import defaultdict
from collections.abc import Iterable

from lineage_bridge.graph.analysis.reach import distances
from lineage_bridge.graph.identity.naming.rules import PARTITION_RULES
from lineage_bridge.graph.identity.steps import RULE, NameGroup, Spelling


class Extents:
    """The extents of a group's names, as numbers. `of` maps each name to its extent. `within` maps each extent to itself and the extents
    that contain it.
    """

    def __init__(self, group: NameGroup) -> None:
        cuts = [step for step in group.steps if step.kind == RULE and step.evidence in PARTITION_RULES]
        joins = [(step.a, step.b) for step in group.steps if step.kind != RULE or step.evidence not in PARTITION_RULES]
        self.of = _components(group.spellings, joins)
        around: dict[int, set[int]] = defaultdict(set)
        for step in cuts:
            if self.of[step.a] != self.of[step.b]:
                around[self.of[step.a]].add(self.of[step.b])
        self.within = {extent: frozenset(distances(extent, around)) for extent in set(self.of.values())}

    def around(self, name: Spelling) -> frozenset[int]:
        """The extents whose drop also drops this name: the name's own extent, and those that contain it."""
        return self.within[self.of[name]]

    def outermost(self) -> list[int]:
        """The extents that no other extent contains. They denote the whole dataset."""
        return sorted(extent for extent, reaching in self.within.items() if len(reaching) == 1)


def _components(names: Iterable[Spelling], joins: Iterable[tuple[Spelling, Spelling]]) -> dict[Spelling, int]:
    near: dict[Spelling, list[Spelling]] = defaultdict(list)
    for a, b in joins:
        near[a].append(b)
        near[b].append(a)
    found: dict[Spelling, int] = {}
    for number, name in enumerate(names):
        waiting = [name] if name not in found else []
        while waiting:
            here = waiting.pop()
            if here not in found:
                found[here] = number
                waiting += near[here]
    return found
