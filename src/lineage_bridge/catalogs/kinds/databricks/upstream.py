"""Finds what lies upstream of a table, hop by hop, in the events of jobs. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.kinds.databricks.naming import system_type, table_of
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import READ_THERE, Json
from lineage_bridge.openlineage.facets.publication import PUBLICATION

MOST_HOPS: Final = 10
MOST_PASSED: Final = 1000
"""The maximum number of jobs that are followed upstream of one table."""
_STREAMS: Final = frozenset(("CONFLUENT", "KAFKA"))
FlowEnd = tuple[str, str]
"""A dataset by namespace and name; a table of the metastore has no namespace, so that all its names are one end."""


class PassedJob(NamedTuple):
    """A job with the datasets that it reads and writes. `is_own`: Databricks itself has recorded the job."""

    namespace: str
    name: str
    kind: str
    is_own: bool
    installations: tuple[str, ...]
    inputs: tuple[FlowEnd, ...]
    outputs: tuple[FlowEnd, ...]


class UpstreamJob(NamedTuple):
    """A job upstream of a table. Those that write the table have distance 1."""

    distance: int
    job: PassedJob


class LineageWalk:
    """The jobs of all events, by what they read and write."""

    def __init__(self, settings: DatabricksSettings) -> None:
        self._settings = settings
        self.writers: dict[FlowEnd, list[PassedJob]] = {}
        self.readers: dict[FlowEnd, list[PassedJob]] = {}
        self._clusters: dict[FlowEnd, tuple[str, str]] = {}

    def add(self, event: Json) -> None:
        """Add the job of an event."""
        inputs, outputs = (tuple(sorted({self._end_of(dataset) for dataset in event.get(side, ())})) for side in ("inputs", "outputs"))
        facets = event["job"].get("facets", {})
        kind = _object(facets.get("jobType")).get("jobType")
        through = _object(facets.get(PUBLICATION)).get("installations")
        job = PassedJob(
            event["job"]["namespace"],
            event["job"]["name"],
            kind if isinstance(kind, str) else "",
            READ_THERE in event,
            tuple(map(str, through)) if isinstance(through, list) else (),
            inputs,
            outputs,
        )
        for end in inputs:
            self.readers.setdefault(end, []).append(job)
        for end in outputs:
            self.writers.setdefault(end, []).append(job)

    def upstream(self, table: str) -> list[UpstreamJob]:
        """The jobs upstream of a table, each once, with its least distance; sorted by distance and name."""
        hops, jobs, seen, frontier = list[UpstreamJob](), set[tuple[str, str]](), {("", table)}, {("", table)}
        for distance in range(1, MOST_HOPS + 1):
            found = {(job.namespace, job.name): job for end in frontier for job in self.writers.get(end, ())}
            new = [job for name, job in sorted(found.items()) if name not in jobs][: MOST_PASSED - len(hops)]
            hops += [UpstreamJob(distance, job) for job in new]
            jobs |= {(job.namespace, job.name) for job in new}
            frontier = {end for job in new for end in job.inputs} - seen
            seen |= frontier
            if not frontier:
                break
        return hops

    def clusters(self, ends: Iterable[FlowEnd]) -> Iterator[tuple[str, str]]:
        """The ids of the clusters and environments of these datasets, as far as their producers state them."""
        return (self._clusters[end] for end in ends if end in self._clusters)

    def _end_of(self, dataset: Json) -> FlowEnd:
        table = table_of(dataset, self._settings)
        end = ("", table) if table else (dataset["namespace"], dataset["name"])
        for facet in dataset.get("facets", {}).values():
            cluster, environment = (_object(facet).get(member) for member in ("cluster_id", "environment_id"))
            if isinstance(cluster, str) and cluster and end not in self._clusters:
                self._clusters[end] = (cluster, environment if isinstance(environment, str) else "")
        return end


def is_topic(end: FlowEnd) -> bool:
    """Whether a dataset is a topic."""
    return system_type(end[0]) in _STREAMS


def _object(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  # JSON
    return value if isinstance(value, dict) else {}
