"""Updates the symlinks of datasets. A symlink counts if it is in the last symlinks facet of any job or design-time statement. Equal facets
are stored once, so symlinks only change when the first asserter states a facet, or the last one no longer states it.
"""

from collections.abc import Iterable, Iterator, Mapping

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import states_symlinks, symlink_owner
from lineage_bridge.graph.identity.steps import symlinks
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.write.changes import ChangeRecorder

_STAGING = "CREATE TEMP TABLE in_job_symlinks (dataset BIGINT, job BIGINT, declared_by BLOB, facet BLOB, time BIGINT, event BLOB)"
_LATER = "(i.time, i.event, i.facet) > (s.time, s.event, s.facet)"
_NEW = f"""SELECT i.dataset, i.facet, s.facet FROM in_job_symlinks i
LEFT JOIN job_symlinks s ON s.dataset = i.dataset AND s.job = i.job AND s.declared_by = i.declared_by
WHERE s.facet IS NULL OR (s.facet <> i.facet AND {_LATER})"""
"""The symlinks facets that a batch makes the newest of their asserter, each with the facet that it replaces."""
_MERGE = """INSERT INTO job_symlinks SELECT * FROM in_job_symlinks WHERE true ON CONFLICT (dataset, job, declared_by) DO UPDATE
SET facet = excluded.facet, time = excluded.time, event = excluded.event
WHERE (excluded.time, excluded.event, excluded.facet) > (job_symlinks.time, job_symlinks.event, job_symlinks.facet)"""
_IS_STATED = "SELECT 1 FROM job_symlinks WHERE dataset = ? AND facet = ? LIMIT 1"
_NEXT = "SELECT facet FROM job_symlinks WHERE dataset = ? AND facet > ? ORDER BY facet LIMIT 1"
_LINK = "INSERT INTO symlink VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_UNLINK = "DELETE FROM symlink WHERE dataset = ? AND other = ? AND type = ?"
Link = tuple[int, int, str]
"""The dataset, its other name, and the type of the link."""


class SymlinkWriter:
    """Updates symlinks over the writer's connection, inside its transaction."""

    def __init__(self, connection: StoreConnection, names: Names, changes: ChangeRecorder) -> None:
        self.connection, self.names, self.changes = connection, names, changes
        connection.execute(_STAGING)

    def keep_up(self, assertions: Iterable[Row], facet_sets: Mapping[bytes, Mapping[str, bytes]]) -> None:
        """Merge the symlinks facets in assertions. `facet_sets` has the facets of each facet set."""
        best: dict[tuple[int, int, bytes], tuple[int, bytes, bytes]] = {}
        evidence: set[tuple[int, bytes]] = set()
        linking = {facet_set: facets["symlinks"] for facet_set, facets in facet_sets.items() if "symlinks" in facets}
        for asserted_by, job, node, side, origin, facet_set, _, _, _, last, event in assertions:
            if facet_set in linking and states_symlinks(job, node, side):
                facet = linking[facet_set]
                evidence.add((node, facet))
                key = node, *symlink_owner(asserted_by, job, origin)
                best[key] = max(best.get(key, (last, event, facet)), (last, event, facet))
        if best:
            self.connection.executemany("INSERT INTO symlink_evidence VALUES (?, ?) ON CONFLICT DO NOTHING", sorted(evidence))
            self._merge([(*key, facet, last, event) for key, (last, event, facet) in sorted(best.items())])

    def _merge(self, rows: list[Row]) -> None:
        self.connection.execute("DELETE FROM in_job_symlinks")
        self.connection.executemany("INSERT INTO in_job_symlinks VALUES (?, ?, ?, ?, ?, ?)", rows)
        new = self.connection.execute(_NEW).fetchall()
        self.connection.execute(_MERGE)
        for dataset, facet in sorted({(dataset, facet) for dataset, facet, _ in new}):
            self._add(self._links(dataset, facet))
        replaced = {(dataset, facet) for dataset, _, facet in new if facet is not None}
        self.relink(sorted({key[0] for key in replaced if not self.connection.execute(_IS_STATED, key).fetchone()}))

    def forget_datasets(self, datasets: Iterable[int]) -> None:
        """Delete the symlinks of these datasets. Call `keep_up` for the remaining assertions, then `relink`."""
        for dataset in datasets:
            self.connection.execute("DELETE FROM symlink_evidence WHERE dataset = ?", (dataset,))
            self.connection.execute("DELETE FROM job_symlinks WHERE dataset = ?", (dataset,))

    def relink(self, datasets: Iterable[int]) -> None:
        """Remove those links of these datasets that no asserter states any more."""
        for dataset in datasets:
            links = self.connection.execute("SELECT dataset, other, type FROM symlink WHERE dataset = ?", (dataset,)).fetchall()
            if links:
                stated = {link for facet in self._facets(dataset) for link in self._links(dataset, facet)}
                for link in sorted(set(links) - stated):
                    self.changes.run("symlink", _UNLINK, link)

    def _add(self, links: Iterable[Link]) -> None:
        for link in links:
            self.changes.run("symlink", _LINK, link)

    def _facets(self, dataset: int) -> Iterator[bytes]:
        """The ids of the symlinks facets of a dataset, each once. Only the newest facet of each asserter counts."""
        found = self.connection.execute(_NEXT, (dataset, b"")).fetchone()
        while found:
            yield found[0]
            found = self.connection.execute(_NEXT, (dataset, found[0])).fetchone()

    def _links(self, dataset: int, facet: bytes) -> list[Link]:
        text = self.connection.execute("SELECT text FROM facet WHERE facet = ?", (facet,)).fetchone()[0]
        named = ((self.names.dataset(namespace, name), type_) for namespace, name, type_ in symlinks(text.encode()))
        return [(dataset, other, type_) for other, type_ in named if other != dataset]
