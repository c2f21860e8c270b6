"""Lists the aliases that operators, symlinks, facets and naming rules create. Each states whether it has effect; symlinks also state their
asserters.
"""

from collections.abc import Iterator
from itertools import islice

from lineage_bridge.graph.identity.claims import NamespaceClaim
from lineage_bridge.graph.identity.naming.spelling import SpaceLink
from lineage_bridge.graph.identity.steps import FACET, OPERATOR, PREFERRED, RULE, SYMLINK, NamespaceLink, Spelling, Step
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import NEVER_US
from lineage_bridge.model.history import AliasFilter, AliasRecord
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.identity.groups import Identities
from lineage_bridge.store.identity.symlinks import LinkAsserters
from lineage_bridge.store.query.within import NamespaceCondition

_COLUMNS = "entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence, 0"
_STATED_ALIASES = f"""SELECT {_COLUMNS}, stated_by, stated_at FROM alias x
WHERE stated_at <> {NEVER_US} AND kind = 'operator' AND (CAST(:entity AS BIGINT) IS NULL OR entity = :entity)
AND {{}} ORDER BY entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence"""
_VETOES = f"""SELECT {_COLUMNS}, NULL, vetoed_at FROM alias x
WHERE vetoed = 1 AND kind <> '{PREFERRED}' AND (CAST(:entity AS BIGINT) IS NULL OR entity = :entity)
AND {{}} ORDER BY entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence"""
_CHOSEN = f"""SELECT {_COLUMNS}, stated_by, stated_at FROM alias x
WHERE kind = '{PREFERRED}' AND (stated_at, stated_event) > (vetoed_at, vetoed_event)
AND (CAST(:entity AS BIGINT) IS NULL OR entity = :entity) AND {{}} ORDER BY entity, a_namespace, a_name"""
_SPACES = """SELECT DISTINCT 1, 1, a_namespace, '', b_namespace, prefix, 'rule', rule, parts, NULL, NULL
FROM (SELECT namespace AS a_namespace, other_namespace AS b_namespace, '' AS a_name, '' AS b_name, prefix, rule, parts
FROM namespace_alias) x
WHERE :entity IN (1) AND {} ORDER BY a_namespace, b_namespace, prefix, parts, rule"""
_LINKS = """SELECT 1, 0, a_namespace, a_name, b_namespace, b_name, 'symlink', type, 0, NULL, NULL FROM (
SELECT a.namespace AS a_namespace, a.name AS a_name, b.namespace AS b_namespace, b.name AS b_name, s.type
FROM symlink s JOIN node a ON a.id = s.dataset JOIN node b ON b.id = s.other) x
WHERE :entity IN (1) AND {} ORDER BY a_namespace, a_name, b_namespace, b_name, type"""
_STEPS = """SELECT DISTINCT 1, 0, a_namespace, a_name, b_namespace, b_name, 'rule', rule, 0, NULL, NULL FROM (
SELECT namespace AS a_namespace, name AS a_name, to_namespace AS b_namespace, to_name AS b_name, rule FROM name_alias) x
WHERE :entity IN (1) AND {} ORDER BY a_namespace, a_name, b_namespace, b_name, rule"""
_CLAIMS = """SELECT 1, whole, a_namespace, a_name, b_namespace, b_name, 'facet', evidence, 0, NULL, first FROM namespace_claim x
WHERE :entity IN (1) AND {} ORDER BY whole, a_namespace, a_name, b_namespace, b_name, evidence"""
_SOURCES = {
    OPERATOR: (_STATED_ALIASES,),
    SYMLINK: (_LINKS,),
    FACET: (_CLAIMS,),
    RULE: (_SPACES, _STEPS),
    PREFERRED: (_CHOSEN,),
    "veto": (_VETOES,),
}
_DATASET = int(NodeKind.DATASET)


class AliasList:
    """Lists aliases over one connection; if `within` is given, only those with an end in these namespaces."""

    def __init__(self, connection: StoreConnection, within: NamespaceCondition) -> None:
        self.connection, self.identities, self.within = connection, Identities(connection), within
        self.asserters = LinkAsserters(connection)

    def page(self, which: AliasFilter) -> list[AliasRecord]:
        """The aliases that a filter selects: first those of operators, then symlinks, claims of facets, rules, and chosen names;
        each kind is sorted by name.
        """
        return list(islice(self._rows(which), which.offset, which.offset + which.limit))

    def _rows(self, which: AliasFilter) -> Iterator[AliasRecord]:
        kinds = (which.kind,) if which.kind else (OPERATOR, SYMLINK, FACET, RULE, PREFERRED)
        entity = None if which.entity is None else int(which.entity)
        values = {"entity": entity, "namespace": which.namespace, "name": which.name, **self.within.named}
        ends = " OR ".join(self.within.by_name(f"x.{end}_namespace") for end in "ab")
        for kind in kinds:
            for sql in _SOURCES[kind]:
                of_datasets = {**values, "entity": _DATASET if entity is None else entity} if kind in (SYMLINK, FACET, RULE) else values
                for row in self.connection.execute(sql.format(f"{_where(which)} AND ({ends})"), of_datasets):
                    yield self._record(row, vetoes=kind == "veto")

    def _record(self, row: tuple[int, int, str, str, str, str, str, str, int, str | None, int | None], *, vetoes: bool) -> AliasRecord:
        entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence, parts, by, at_us = row
        a, b = Spelling(entity, a_namespace, a_name), Spelling(entity, b_namespace, b_name)
        if vetoes:
            in_effect = False
        elif kind == PREFERRED:
            in_effect = self.identities.group_of(a).canonical == a
        elif kind == FACET:
            in_effect = self._claim_stands(NamespaceClaim(whole, a_namespace, a_name, b_namespace, b_name, evidence, 0))
        elif whole:
            in_effect = self.identities.link_stands(
                entity, NamespaceLink(SpaceLink(a_namespace, b_namespace, b_name, parts, evidence), kind, evidence)
            )
        else:
            in_effect = self.identities.step_stands(Step(a, b, kind, evidence))
        asserters = self.asserters.of_link(a, b, evidence) if kind == SYMLINK and not vetoes else (0, ())
        return AliasRecord(entity, bool(whole), a[1:], b[1:], kind, evidence, in_effect, parts, by, at_us, *asserters)

    def _claim_stands(self, claim: NamespaceClaim) -> bool:
        """Whether a claimed alias is neither vetoed nor contradicted."""
        if claim.whole:
            return claim.link in self.identities.links(_DATASET, claim.a_namespace)
        return claim.step in set(self.identities.steps([claim.step.a]))


def _where(which: AliasFilter) -> str:
    """The SQL condition that either end of an alias has the name or namespace in a filter. Each side of its OR uses an index."""
    if which.namespace is None:
        return "1 = 1"
    if which.name is None:
        return "(x.a_namespace = :namespace OR x.b_namespace = :namespace)"
    return "((x.a_namespace = :namespace AND x.a_name = :name) OR (x.b_namespace = :namespace AND x.b_name = :name))"
