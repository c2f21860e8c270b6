"""Answers questions about change over time: versions, differences, drift and the change feed."""

from collections.abc import Collection

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.differences import Between, ChangePage, Drift, DriftPage, GraphChange, GraphDiff
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import FacetHistory, FacetPage, ForeignFilter, ForeignPage, LifeEntry, SchemaHistory
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.diff import JobDiff, walks
from lineage_bridge.store.history.drift import DriftFinder
from lineage_bridge.store.history.facets import FacetHistories
from lineage_bridge.store.history.feed import Feed
from lineage_bridge.store.history.foreign import ForeignStatements
from lineage_bridge.store.history.moment import graph_moment, resolution
from lineage_bridge.store.history.schema_versions import SchemaHistories
from lineage_bridge.store.lineage.questions import LineageQuestions
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.runs import Runs

_JOBS_A_PAGE = 500
_ALL_TIME = 2**63 - 1


class HistoryQuestions:
    """Implements ports.HistoryReader over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs) -> None:
        self.connection, self.nodes, self.runs = connection, nodes, runs

    def schemas(self, dataset: Node, at_us: int | None = None) -> SchemaHistory:
        """The schema versions of a dataset under all its names; with `at_us`, those stated by then."""
        nodes = self.nodes.at(at_us)
        return SchemaHistories(self.connection, nodes).history(nodes.group(dataset)[1], _ALL_TIME if at_us is None else at_us)

    def facet(self, node: Node, key: str, at_us: int | None = None, page: FacetPage | None = None) -> FacetHistory:
        """The versions of one facet of a node under all its names; with `at_us`, those stated by then. Without a page, all of them."""
        nodes = self.nodes.at(at_us)
        return FacetHistories(self.connection, nodes).history(nodes.group(node)[1], key, _ALL_TIME if at_us is None else at_us, page)

    def lifecycle(self, dataset: Node, limit: int, offset: int) -> list[LifeEntry]:
        """The lifecycle changes of a dataset, under all its names, the newest first."""
        return FacetHistories(self.connection, self.nodes).life(self.nodes.members(dataset.id), limit, offset)

    def foreign(self, which: ForeignFilter, limit: int, offset: int, max_bytes: int) -> ForeignPage:
        """Foreign assertions of limited principals, the most recent first."""
        return ForeignStatements(self.connection, self.nodes).page(which, limit, offset, max_bytes)

    def diff(self, node: Node, direction: str, depth: int, limits: WalkLimits, between: Between, *, now_us: int) -> GraphDiff:
        """All changes around a node between two moments."""
        lineage = LineageQuestions(self.connection, self.nodes, self.runs)
        both = [lineage.walk(node, direction, depth, limits, now_us=now_us, at_us=at_us) for at_us in (between.since, between.until)]
        truncated = both[0].truncated or both[1].truncated
        return GraphDiff(tuple(walks(*both)), _coarser(between), truncated, None)

    def diff_jobs(self, namespace: str | None, between: Between, limit: int, offset: int, *, now_us: int) -> GraphDiff:
        """The changes of all jobs, or those of a namespace (a glob), sorted by job name."""
        both = [graph_moment(self.connection, self.nodes, self.runs, now_us, at_us) for at_us in (between.since, between.until)]
        jobs = self.nodes.matching(NodeKind.JOB, namespace, None, _JOBS_A_PAGE + 1, offset)
        diff, changes = JobDiff(both[0], both[1], self.nodes), list[GraphChange]()
        for seen, job in enumerate(jobs):
            if seen == _JOBS_A_PAGE or len(changes) >= limit:
                return GraphDiff(tuple(changes), _coarser(between), "", offset + seen)
            changes += diff.changes_of(job)
        return GraphDiff(tuple(changes), _coarser(between), "", None)

    def drift(self, namespace: str | None, name: str | None, limit: int, offset: int, *, now_us: int) -> DriftPage:
        """Where the declared and the observed lineage of jobs differ. Jobs are selected by globs."""
        finder = DriftFinder(self.connection, self.nodes, graph_moment(self.connection, self.nodes, self.runs, now_us))
        jobs = finder.jobs(namespace, name, _JOBS_A_PAGE + 1, offset)
        found: list[Drift] = []
        for seen, job in enumerate(jobs):
            if seen == _JOBS_A_PAGE or len(found) >= limit:
                return DriftPage(tuple(found), seen, offset + seen)
            found += finder.of_job(job)
        return DriftPage(tuple(found), len(jobs), None)

    def changes(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """The changes after a cursor. `kinds` selects some kinds of changes; if it is empty, all are returned."""
        return Feed(self.connection, self.nodes).page(after, kinds, limit)

    def with_new_schemas(self) -> list[Node]:
        """The datasets whose schema was replaced or removed, the latest first."""
        return Feed(self.connection, self.nodes).with_new_schemas()


def _coarser(between: Between) -> str:
    both = {resolution(between.since), resolution(between.until)}
    return "day" if "day" in both else "exact"
