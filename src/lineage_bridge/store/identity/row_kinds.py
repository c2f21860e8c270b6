"""Finds out which kinds of rows a store has at all. Most stores lack most of these kinds, and questions skip the look-ups for kinds that
are missing.
"""

from typing import NamedTuple

from lineage_bridge.store.connection import StoreConnection


class NameKinds(NamedTuple):
    """Which kinds of rows exist that give a node several names: links by naming rules; operators' aliases of names (`aliases`), of names of
    jobs in particular, and of namespaces; claims of facets; symlinks.
    """

    steps: bool
    links: bool
    aliases: bool
    job_aliases: bool
    space_aliases: bool
    claims: bool
    symlinks: bool


class FlowKinds(NamedTuple):
    """Which of these exist: hubs, drops, renames, flows that operators ended, shapes with column lineage."""

    hubs: bool
    drops: bool
    renames: bool
    endings: bool
    column_lineage: bool


_NAMES = (
    "name_alias",
    "namespace_alias",
    "alias WHERE entity IN (1, 2) AND whole = 0",
    "alias WHERE entity = 2",
    "alias WHERE entity IN (1, 2) AND whole = 1",
    "namespace_claim",
    "symlink_evidence",
)
_FLOWS = (
    "hub",
    "lifecycle WHERE change = 'DROP'",
    "lifecycle WHERE change = 'RENAME'",
    "ending WHERE ended = 1",
    "shape_lineage_set",
)

_TARGETS = "SELECT (SELECT min(target) FROM column_statement), (SELECT max(target) FROM column_statement)"
"""The first and the last target, from an index: 0 stands for the dataset or job whose facet has the statement."""


class RowKinds:
    """Looks up the kinds of rows over one connection, and caches the answers for the transaction in which they were read."""

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection
        self._names: NameKinds | None = None
        self._flows: FlowKinds | None = None
        self._foreign_targets: bool | None = None

    @property
    def names(self) -> NameKinds:
        """The kinds of rows that give a node several names."""
        if self._names is None:
            self._names = NameKinds(*self._ask(_NAMES))
        return self._names

    @property
    def flows(self) -> FlowKinds:
        """The kinds of rows that flows depend on. One statement reads them together with the kinds of names, because callers need both."""
        if self._flows is None:
            found = self._ask((*_FLOWS, *_NAMES))
            self._flows, self._names = FlowKinds(*found[: len(_FLOWS)]), NameKinds(*found[len(_FLOWS) :])
        return self._flows

    @property
    def foreign_targets(self) -> bool:
        """Whether any column statement is about another dataset than the one whose facet has it."""
        if self._foreign_targets is None:
            ends = self._connection.execute(_TARGETS).fetchone()
            self._foreign_targets = any(ends)
        return self._foreign_targets

    def _ask(self, kinds: tuple[str, ...]) -> list[bool]:
        asked = ", ".join(f"EXISTS (SELECT 1 FROM {kind})" for kind in kinds)
        return list(map(bool, self._connection.execute(f"SELECT {asked}").fetchone()))
