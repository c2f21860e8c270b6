"""Computes an overview of the whole graph: datasets by system and namespace, jobs by type and state, and the jobs that need attention."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final

from lineage_bridge.graph.identity.node_ids import EXTERNAL, system_of
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.job_states import URGENT, job_state


@dataclass(frozen=True)
class UrgentJob:
    """A job that needs attention, and the run whose state is the reason."""

    job: Node
    job_type: str
    state: str
    run: RunRecord

    @property
    def rank(self) -> tuple[int, int, str, str]:
        """The key by which urgent jobs are sorted: the worst state first, then the latest event."""
        return URGENT.index(self.state), -self.run.last, self.job.namespace, self.job.name


@dataclass
class Overview:
    """The numbers of datasets by (system, namespace) and of jobs by (type, state), and at most `most` urgent jobs, the worst first."""

    datasets: Counter[tuple[str, str]] = field(default_factory=Counter)
    jobs: Counter[tuple[str, str]] = field(default_factory=Counter)
    urgent: list[UrgentJob] = field(default_factory=list)


def system_name(namespace: str) -> str:
    """The name of the system to which a namespace belongs: a known system, or the scheme, or the namespace itself."""
    known = system_of(namespace)
    return known if known != EXTERNAL else namespace.partition("://")[0].lower()


def read_overview(graph: GraphReader, now_us: int, most: int) -> Overview:
    """Read every dataset and job, in portions."""
    overview = Overview()
    for _, heads in graph.inventory.heads((NodeKind.DATASET,)):
        overview.datasets.update((system_name(node.namespace), node.namespace) for node in heads)
    for reader, heads in graph.inventory.heads((NodeKind.JOB,)):
        states = list(_job_states(reader, heads, now_us))
        overview.jobs.update((job_type, state) for _, job_type, state, _ in states)
        found = [UrgentJob(entry.node, job_type, state, run) for entry, job_type, state, run in states if run and state in URGENT]
        overview.urgent = nsmallest(most, [*overview.urgent, *found], key=lambda item: item.rank)
    return overview


MOST_JOBS: Final = 10_000
"""How many names of jobs are searched for one page of a list."""


@dataclass(frozen=True)
class JobFilter:
    """Which jobs to list: by type and state, as the overview counts them, and by globs for any of a job's names. A member that is None
    filters nothing.
    """

    type: str | None = None
    state: str | None = None
    namespace: str | None = None
    name: str | None = None

    def matches(self, job_type: str, state: str) -> bool:
        """Whether a job of this type and in this state passes."""
        return self.type in (None, job_type) and self.state in (None, state)


@dataclass(frozen=True)
class JobPage:
    """A page of jobs, each with its offset, and the offset of the next page (None: this is the last). Offsets count the names of jobs that
    match the globs, whatever the types and states of the jobs.
    """

    jobs: tuple[tuple[int, Node], ...]
    next: int | None


def read_jobs(graph: GraphReader, which: JobFilter, now_us: int, limit: int, offset: int = 0) -> JobPage:
    """A page of the jobs that pass a filter. A job is listed at the position of the first of its names that matches.

    Reads up to MOST_JOBS names of jobs (and the rest of a portion), so a page may have fewer jobs than `limit` and still have a next one.
    """
    found: list[tuple[int, Node]] = []
    for reader, heads, behind in graph.inventory.listed(NodeKind.JOB, which.namespace, which.name, offset):
        states = _job_states(reader, [head for _, head in heads], now_us)
        for (at, head), (_, job_type, state, _) in zip(heads, states, strict=True):
            if which.matches(job_type, state):
                if len(found) == limit:
                    return JobPage(tuple(found), at)
                found.append((at, head))
        if behind - offset >= MOST_JOBS:
            return JobPage(tuple(found), behind)
    return JobPage(tuple(found), None)


def _job_states(reader: GraphReader, jobs: list[Node], now_us: int) -> Iterator[tuple[InventoryEntry, str, str, RunRecord | None]]:
    newest = reader.runs.latest_of(jobs, with_datasets=False)
    for entry in reader.inventory.entries(jobs):
        run = _observed(newest.get(entry.node.id))
        yield entry, entry.node_id.type, job_state(run, now_us), run


def _observed(run: RunRecord | None) -> RunRecord | None:
    return run if run and run.observed else None


def by_first(counts: Counter[tuple[str, str]]) -> Iterable[tuple[str, list[tuple[str, int]]]]:
    """Group counts by the first member of their keys; within each group, counts by the second. Both are sorted, the largest first, then
    by name.
    """
    groups: dict[str, list[tuple[str, int]]] = {}
    for (first, second), count in counts.items():
        groups.setdefault(first, []).append((second, count))
    ordered = {first: sorted(found, key=lambda item: (-item[1], item[0])) for first, found in groups.items()}
    return sorted(ordered.items(), key=lambda item: (-sum(count for _, count in item[1]), item[0]))
