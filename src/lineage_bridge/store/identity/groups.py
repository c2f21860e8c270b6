"""Computes groups of names on demand. A step joins two spellings, a link joins two namespaces. Both are read hop by hop over indexes,
starting from the spellings whose groups are asked for.

The cost depends on these spellings and on those with which they are joined, never on the size of a namespace.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from lineage_bridge.graph.identity.claims import NamespaceClaim, uncontradicted
from lineage_bridge.graph.identity.grouping import claim_stands, step_of, valid_aliases
from lineage_bridge.graph.identity.naming.spelling import SpaceLink
from lineage_bridge.graph.identity.steps import (
    OPERATOR,
    RULE,
    SYMLINK,
    NameGroup,
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
from lineage_bridge.store.chunks import batches, chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.spellings import ALIAS_COLUMNS
from lineage_bridge.store.identity.claims import Claims
from lineage_bridge.store.identity.has_step import HAS_ALIAS, HAS_CLAIM, HAS_STEP
from lineage_bridge.store.identity.names_at import NamesAt
from lineage_bridge.store.identity.preferences import Preferences
from lineage_bridge.store.identity.row_kinds import NameKinds, RowKinds
from lineage_bridge.store.identity.symlinks import Symlinks
from lineage_bridge.store.identity.unseen import WithSpelling

_DATASET = int(NodeKind.DATASET)
_LINKS = """SELECT namespace, other_namespace, prefix, parts, rule, owner FROM namespace_alias WHERE namespace = :namespace
UNION SELECT namespace, other_namespace, prefix, parts, rule, owner FROM namespace_alias WHERE other_namespace = :namespace"""
_SPACE_ALIASES = (
    f"SELECT {ALIAS_COLUMNS} FROM alias WHERE entity = :entity AND whole = 1 AND a_namespace = :namespace "
    f"UNION SELECT {ALIAS_COLUMNS} FROM alias INDEXED BY alias_back WHERE entity = :entity AND whole = 1 AND b_namespace = :namespace"
)
_EVERYWHERE = f"SELECT {ALIAS_COLUMNS} FROM alias WHERE entity = 1 AND whole = 0 AND a_namespace = '' AND a_name = ''"
# Statements join a list of keys with a table, in this order, so that SQLite looks each key up in an index.
_FORTH = """WITH wanted (a, b) AS (VALUES {}) SELECT r.namespace, r.name, r.to_namespace, r.to_name, r.rule, r.owner
FROM wanted STRAIGHT_JOIN name_alias r ON r.namespace = a AND r.name = b"""
_BACK = """WITH wanted (a, b) AS (VALUES {}) SELECT r.namespace, r.name, r.to_namespace, r.to_name, r.rule, r.owner
FROM wanted STRAIGHT_JOIN name_alias r ON r.to_namespace = a AND r.to_name = b"""
_A_ALIASES = f"""WITH wanted (k, a, b) AS (VALUES {{}}) SELECT {ALIAS_COLUMNS} FROM wanted STRAIGHT_JOIN alias
ON entity = k AND whole = 0 AND a_namespace = a AND a_name = b"""
_B_ALIASES = f"""WITH wanted (k, a, b) AS (VALUES {{}}) SELECT {ALIAS_COLUMNS} FROM wanted STRAIGHT_JOIN alias INDEXED BY alias_back
ON entity = k AND whole = 0 AND b_namespace = a AND b_name = b"""
_LOOK_UP = "SELECT n.id, n.kind, n.namespace, n.name, n.first, {} FROM node n WHERE n.id IN ({})"
_THERE = """WITH wanted (a, b, k) AS (VALUES {}) SELECT n.id, n.kind, n.namespace, n.name, n.first
FROM wanted STRAIGHT_JOIN node n ON n.namespace = a AND n.name = b AND n.kind = k"""
_BY_ID = "SELECT id, kind, namespace, name, first FROM node WHERE id IN ({})"


class Identity(NamedTuple):
    """A node with its group's canonical node and canonical name, and the kinds of links that join the node's own name with the group."""

    node: int
    head: int
    namespace: str
    name: str
    kinds: tuple[str, ...]


def _identity(id_: int, own: Spelling, head: int, group: NameGroup) -> Identity:
    kinds = {f"{step.kind} {step.evidence}".strip() for step in group.steps if own in (step.a, step.b)}
    return Identity(id_, head, group.canonical.namespace, group.canonical.name, tuple(sorted(kinds)))


class Identities:
    """Computes groups of names over one connection, now or at `at_us`. Implements StepReader. Caches what it has loaded; everything is
    read within one transaction.

    As of an earlier time, only names first seen by then count, and the alias statements that operators had made by then.
    """

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection, self.row_kinds = connection, RowKinds(connection)
        self.symlinks = Symlinks(connection, self.row_kinds, at_us)
        self.claims, self.chosen = Claims(connection, at_us), Preferences(connection, at_us)
        self.past = None if at_us is None else NamesAt(connection, at_us)
        self.ids: dict[Spelling, int] = {}
        self.names: dict[int, Spelling] = {}
        self.vetoes = Vetoes()
        self._links: dict[tuple[int, str], Sequence[NamespaceLink]] = {}
        self._looked_up: set[int] = set()
        self._joined: dict[int, NameGroup] = {}
        self._has: NameKinds | None = None
        self._joining: str | None = None

    # questions

    def groups_of(self, ids: Iterable[int]) -> dict[int, NameGroup]:
        """The group of names of each of these nodes, by node id."""
        unique = sorted(set(ids))
        joined = self.joined(unique)
        self.name(unique)
        return {id_: joined.get(id_) or NameGroup((self.names[id_],), ()) for id_ in unique if id_ in self.names}

    def joined(self, ids: Iterable[int]) -> dict[int, NameGroup]:
        """The group of names of each of these nodes that may have several names, by node id. Few nodes have several."""
        if not (joining := self._what_joins()):
            return {}
        unique = set(ids)
        fresh = unique - self._looked_up
        self._looked_up |= fresh
        found: list[int] = []
        for some in chunks(fresh):
            rows = self.connection.execute(_LOOK_UP.format(joining, marks(some)), some).fetchall()
            self._remember(row[:5] for row in rows)
            found += [row[0] for row in rows if row[0] in self.names and (row[5] or self._was_end(row[0]) or self.links(*row[1:3]))]
        if found:
            made = groups((self.names[id_] for id_ in found), self)
            self._joined.update((id_, made[self.names[id_]]) for id_ in found)
        return {id_: self._joined[id_] for id_ in unique if id_ in self._joined} if self._joined else {}

    @property
    def may_join(self) -> bool:
        """Whether the store has any step or link, so that names may be joined."""
        return bool(self._what_joins())

    def _what_joins(self) -> str:
        """The SQL condition under which a node `n` is an end of any step; empty if the store has neither steps nor links."""
        if self._joining is None:
            has = self._what_exists()
            conditions = [HAS_STEP] * has.steps + [HAS_ALIAS] * has.aliases + [HAS_CLAIM] * has.claims
            conditions += [self.symlinks.touching] * has.symlinks
            has_links = has.links or (self.past is not None and self.past.applies_rules)
            self._joining = " OR ".join(conditions) or ("0" if has_links or has.space_aliases else "")
        return self._joining

    def _was_end(self, id_: int) -> bool:
        """Whether, at the earlier time, a node was the end of a step that has been removed since."""
        return self.past is not None and self.past.is_end(self.names[id_])

    def members(self, group: NameGroup) -> list[int]:
        """The nodes of a group, in the order of their spellings."""
        return [self.ids[spelling] for spelling in group.spellings if spelling in self.ids]

    def head(self, group: NameGroup) -> int:
        """The canonical node of a group: the node with the group's preferred name."""
        return self.ids[group.first(s for s in group.spellings if s in self.ids)]

    def group_of(self, spelling: Spelling) -> NameGroup:
        """The group to which a name belongs. If the graph has no node of this name, the naming rules decide."""
        group = groups([spelling], self)[spelling]
        return group if self.members(group) else groups([spelling], WithSpelling(self, self.vetoes, spelling))[spelling]

    def all(self) -> Iterator[Identity]:
        """The identity of every node that has several names or whose own name is not the canonical one. Reads all names at once."""
        found = self.groups_of(row[0] for row in self.connection.execute("SELECT id FROM node").fetchall())
        for id_, group in sorted(found.items()):
            identity = _identity(id_, self.names[id_], self.head(group), group)
            if len(self.members(group)) > 1 or (identity.namespace, identity.name) != self.names[id_][1:]:
                yield identity

    def step_stands(self, step: Step) -> bool:
        """Whether no veto applies to the step."""
        self._load_aliases([step.a, step.b])
        for end in (step.a, step.b):
            self.links(end.kind, end.namespace)
        return self.vetoes.stands(step)

    def link_stands(self, entity: int, link: NamespaceLink) -> bool:
        """Whether no veto applies to the link."""
        self.links(entity, link.names.space)
        return self.vetoes.link_stands(entity, link)

    # steps and links

    def steps(self, spellings: Collection[Spelling]) -> Iterator[Step]:
        """The steps from or to any of these spellings. Also looks up which spellings are nodes."""
        has = self._what_exists()
        self._find(spellings)
        found: list[Step] = []
        if has.steps:
            keys = [s[1:] for s in spellings if s.kind == _DATASET]
            found += [
                Step(Spelling(_DATASET, *row[:2]), Spelling(_DATASET, *row[2:4]), RULE, row[4])
                for sql in (_FORTH, _BACK)
                for row in self._rows(sql, keys)
                if self.past is None or self.past.has_step(row)
            ]
        found += self.past.steps(spellings) if self.past else ()
        found += [step_of(alias) for alias in self._load_aliases(spellings) if alias.stated and alias.kind == OPERATOR]
        found += self._symlinked(spellings)
        found += self._claimed_names(spellings)
        for step in found:
            self.links(step.a.kind, step.a.namespace)
            self.links(step.b.kind, step.b.namespace)
        return (step for step in found if self.vetoes.stands(step))

    def _load_aliases(self, spellings: Collection[Spelling]) -> set[StatedAlias]:
        """Load the operators' statements about aliases of these spellings. Vetoes among them are added to the known vetoes."""
        if not self._what_exists().aliases:
            return set()
        keys = [tuple(s) for s in spellings]
        aliases = self._aliases(row for sql in (_A_ALIASES, _B_ALIASES) for row in self._rows(sql, keys))
        self.vetoes.add(aliases)
        return aliases

    def links(self, kind: int, namespace: str) -> Sequence[NamespaceLink]:
        """The links from or to a namespace."""
        key = kind, namespace
        if key not in self._links:
            aliases = self._load_space_aliases(kind, namespace)
            found = [alias.link for alias in valid_aliases((alias for alias in aliases if alias.entity == kind), self.vetoes)]
            rules = (NamespaceLink(link, RULE, link.rule) for link in (self._rule_links(namespace) if kind == _DATASET else ()))
            found += [link for link in rules if self.vetoes.link_stands(kind, link)]
            found += self._claimed_space(namespace) if kind == _DATASET else []
            self._links[key] = sorted(set(found))
        return self._links[key]

    def preferences(self, spellings: Collection[Spelling]) -> dict[Spelling, PreferenceOrder]:
        """The spellings among these that operators chose as names of their groups, each with the time of the choice."""
        return self.chosen.among(spellings) if self._what_exists().aliases else {}

    def _rule_links(self, namespace: str) -> Iterator[SpaceLink]:
        """The links that the naming rules give a namespace of datasets."""
        if self._what_exists().links:
            for row in self.connection.execute(_LINKS, {"namespace": namespace}).fetchall():
                if self.past is None or self.past.has_space(row[5]):
                    yield SpaceLink(*row[:5])
        yield from self.past.links(namespace) if self.past else ()

    def _load_space_aliases(self, kind: int, namespace: str) -> set[StatedAlias]:
        """Load the operators' statements about aliases of this namespace. Vetoes among them are added to the known vetoes."""
        if not self._what_exists().space_aliases:
            return set()
        aliases = self._aliases(self.connection.execute(_SPACE_ALIASES, {"entity": kind, "namespace": namespace}))
        self.vetoes.add(aliases)
        return aliases

    def _claimed_space(self, namespace: str) -> list[NamespaceLink]:
        """The links of a namespace that facets claim and no other claim contradicts."""
        found = self.claims.touching([(1, namespace, "")]) if self._what_exists().claims else []
        for space in {claim.a_namespace for claim in found} - {namespace}:
            self._load_space_aliases(_DATASET, space)
        return [claim.link for claim in self._agreed(found) if namespace in (claim.a_namespace, claim.b_namespace)]

    def _claimed_names(self, spellings: Collection[Spelling]) -> list[Step]:
        """The steps from or to these spellings that facets claim and no other claim contradicts."""
        here = [(0, s.namespace, s.name) for s in spellings if s.kind == _DATASET]
        found = self.claims.touching(here) if here and self._what_exists().claims else []
        self._load_aliases([claim.step.a for claim in found])
        for space in {claim.a_namespace for claim in found}:
            self._load_space_aliases(_DATASET, space)
        return [claim.step for claim in self._agreed(found) if claim.step.a in spellings or claim.step.b in spellings]

    def _agreed(self, found: list[NamespaceClaim]) -> list[NamespaceClaim]:
        return uncontradicted(claim for claim in found if claim_stands(claim, self.vetoes))

    def _what_exists(self) -> NameKinds:
        if self._has is None:
            self._has = self.row_kinds.names
            if self._has.aliases:
                self.vetoes.add(self._aliases(self.connection.execute(_EVERYWHERE)))
        return self._has

    def _aliases(self, rows: Iterable[Row]) -> set[StatedAlias]:
        """The operators' statements about aliases: all of them, or those made by `at_us`."""
        return {StatedAlias(*row) if self.past is None else self.past.alias(row) for row in rows}

    def _symlinked(self, spellings: Iterable[Spelling]) -> list[Step]:
        here = [self.ids[s] for s in spellings if s.kind == _DATASET and s in self.ids]
        pairs = self.symlinks.pairs(here)
        self.name({id_ for pair in pairs for id_ in pair[:2]})
        return [Step(self.names[dataset], self.names[other], SYMLINK, type_) for dataset, other, type_ in pairs]

    # nodes

    def name(self, ids: Iterable[int]) -> None:
        """Load the names of these nodes."""
        self._remember(
            row for some in chunks(set(ids).difference(self.names)) for row in self.connection.execute(_BY_ID.format(marks(some)), some)
        )

    def _find(self, spellings: Iterable[Spelling]) -> None:
        """Look up which of these spellings are nodes."""
        self._remember(self._rows(_THERE, [(s.namespace, s.name, s.kind) for s in spellings if s not in self.ids]))

    def _remember(self, rows: Iterable[Row]) -> None:
        for id_, kind, namespace, name, first in rows:
            if self.past is None or first <= self.past.at_us:
                spelling = Spelling(kind, namespace, name)
                self.ids[spelling], self.names[id_] = id_, spelling

    def _rows(self, sql: str, keys: list[Row]) -> Iterator[Row]:
        """The rows of a query over a list of keys."""
        for some in batches(keys):
            values = ", ".join([f"({marks(some[0])})"] * len(some))
            yield from self.connection.execute(sql.format(values), [value for key in some for value in key])
