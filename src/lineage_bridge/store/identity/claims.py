"""Writes the namespace claims that facets make, and reads them as of now or of an earlier time."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage_bridge.graph.identity.claims import NamespaceClaim, read_claims
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection

ClaimEvidence = tuple[int, str, bytes]
"""The dataset, the key of the facet, and the id of the facet."""

_ALWAYS = 2**63 - 1
_REMEMBERED = 200_000
_LEAST = "DO UPDATE SET first = excluded.first WHERE excluded.first < first"
_MERGE = f"""INSERT INTO namespace_claim VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (whole, a_namespace, a_name, b_namespace, b_name, evidence) {_LEAST}"""
_MERGE_EVIDENCE = f"INSERT INTO namespace_claim_evidence VALUES (?, ?, ?, ?) ON CONFLICT (dataset, key, facet) {_LEAST}"
_NAME = "SELECT namespace, name FROM node WHERE id = ? AND kind = 1"
_TEXT = "SELECT text FROM facet WHERE facet = ?"
_COLUMNS = "whole, a_namespace, a_name, b_namespace, b_name, evidence, sole"
_FORTH = f"""WITH ends (w, a, b) AS (VALUES {{}}) SELECT {_COLUMNS}, first FROM ends STRAIGHT_JOIN namespace_claim
ON whole = w AND a_namespace = a AND a_name = b"""
_BACK = f"""WITH ends (w, a, b) AS (VALUES {{}}) SELECT {_COLUMNS}, first
FROM ends STRAIGHT_JOIN namespace_claim INDEXED BY namespace_claim_back ON whole = w AND b_namespace = a AND b_name = b"""
End = tuple[int, str, str]
"""Whether the end is a whole namespace, the namespace, and the name (empty for a whole namespace)."""


class Claims:
    """Reads namespace claims over one connection, now or at `at_us`."""

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection, self.at_us = connection, _ALWAYS if at_us is None else at_us

    def touching(self, ends: Collection[End]) -> list[NamespaceClaim]:
        """The claims that have one of these ends, and all other claims with the same first end `a`, sorted."""
        back = self._rows(_BACK, ends)
        return sorted({*back, *self._rows(_FORTH, {*ends, *(claim[:3] for claim in back)})})

    def _rows(self, sql: str, ends: Collection[End]) -> list[NamespaceClaim]:
        found = []
        for some in batches(sorted(ends)):
            values = ", ".join([f"({marks(some[0])})"] * len(some))
            rows = self.connection.execute(sql.format(values), [value for key in some for value in key])
            found += [NamespaceClaim(*row[:-1]) for row in rows if row[-1] <= self.at_us]
        return found


class ClaimWriter:
    """Updates namespace claims over the writer's connection, inside its transaction. Call `forget` after a rollback."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self._seen: dict[ClaimEvidence, int] = {}

    def forget(self) -> None:
        """Remove from the cache what a transaction added before it was rolled back."""
        self._seen.clear()

    def see(self, evidence: Mapping[ClaimEvidence, int]) -> None:
        """Merge the claims that facets make about datasets, each with the time of its first assertion."""
        if len(self._seen) > _REMEMBERED:
            self.forget()
        new = {key: first for key, first in evidence.items() if first < self._seen.get(key, _ALWAYS)}
        self._seen.update(new)
        for (dataset, key, facet), first in sorted(new.items()):
            made = self._made(dataset, key, facet)
            if made:
                self.connection.execute(_MERGE_EVIDENCE, (dataset, key, facet, first))
                self.connection.executemany(_MERGE, [(*claim, first) for claim in made])

    def _made(self, dataset: int, key: str, facet: bytes) -> tuple[NamespaceClaim, ...]:
        named = self.connection.execute(_NAME, (dataset,)).fetchone()
        return read_claims(*named, key, self.connection.execute(_TEXT, (facet,)).fetchone()[0].encode()) if named else ()

    def remove_evidence(self, datasets: Iterable[int]) -> bool:
        """Delete the evidence from these datasets; returns whether there was any. Call `see` for the evidence that remains, then
        `recompute`.
        """
        gone = self.connection.executemany("DELETE FROM namespace_claim_evidence WHERE dataset = ?", [(dataset,) for dataset in datasets])
        self.forget()
        return gone.rowcount > 0

    def recompute(self) -> None:
        """Compute all claims again from their evidence."""
        self.connection.execute("DELETE FROM namespace_claim")
        self.connection.executemany(_MERGE, self._all())

    def _all(self) -> Iterator[tuple[object, ...]]:
        for dataset, key, facet, first in self.connection.execute(
            "SELECT dataset, key, facet, first FROM namespace_claim_evidence"
        ).fetchall():
            yield from ((*claim, first) for claim in self._made(dataset, key, facet))
