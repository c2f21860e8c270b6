"""The interface for questions about changes over time, and about foreign assertions."""

from collections.abc import Collection
from typing import Protocol

from lineage_bridge.model.differences import Between, ChangePage, DriftPage, GraphDiff
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import FacetHistory, FacetPage, ForeignFilter, ForeignPage, LifeEntry, SchemaHistory


class HistoryReader(Protocol):
    """Answers questions about what changed over time."""

    def schemas(self, dataset: Node, at_us: int | None = None) -> SchemaHistory:
        """The schema versions of a dataset under all its names; with `at_us`, those stated by then."""

    def facet(self, node: Node, key: str, at_us: int | None = None, page: FacetPage | None = None) -> FacetHistory:
        """The versions of one facet of a node under all its names; with `at_us`, those stated by then. Without a page, all of them."""

    def lifecycle(self, dataset: Node, limit: int, offset: int) -> list[LifeEntry]:
        """The lifecycle changes of a dataset, under all its names, the newest first."""

    def foreign(self, which: ForeignFilter, limit: int, offset: int, max_bytes: int) -> ForeignPage:
        """Foreign assertions of limited principals, the most recent first.

        A page ends early if its texts reach the limit of bytes, but it has at least one assertion.
        """

    def diff(self, node: Node, direction: str, depth: int, limits: WalkLimits, between: Between, *, now_us: int) -> GraphDiff:
        """All changes around a node between two moments."""

    def diff_jobs(self, namespace: str | None, between: Between, limit: int, offset: int, *, now_us: int) -> GraphDiff:
        """The changes of all jobs, or those of a namespace (a glob), sorted by job name.

        A page ends with the job whose changes reach `limit`, or after 500 jobs; `offset` and `next` count jobs.
        """

    def drift(self, namespace: str | None, name: str | None, limit: int, offset: int, *, now_us: int) -> DriftPage:
        """Where the declared and the observed lineage of jobs (by globs) differ.

        A page ends with the job whose drift reaches `limit`, or after 500 jobs; `offset` and `next` count declared jobs.
        """

    def changes(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """The changes after a cursor ("now" for the newest, None for the oldest), of some kinds (all if empty).

        Raises GoneError when changes after the cursor have been deleted, RequestError for an invalid cursor.
        """

    def with_new_schemas(self) -> list[Node]:
        """The datasets whose schema was replaced or removed, the latest first: at most 1,000, from the newest 100,000 changes."""
