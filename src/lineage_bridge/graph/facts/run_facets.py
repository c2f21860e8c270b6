"""Reads the facets of a run: its parent and root run, and its nominal time."""

from typing import NamedTuple, TypeVar

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import NEVER_US, NO_EVENT
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Run
from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid
from lineage_bridge.openlineage.times import parse_time

NO_PARENT = (None, None, None, None, None, None, NEVER_US, 0, NO_EVENT)
NO_NOMINAL = (None, None, NEVER_US, NO_EVENT)
NO_RAW = (None, NO_EVENT)


class RunsAbove(NamedTuple):
    """The columns of `run` that refer to its parent and root runs, and the rows of `node` (without time) for the jobs of the parent and
    root runs.
    """

    columns: Row
    jobs: tuple[Row, ...]


_RunFacet = TypeVar("_RunFacet", bound=standard.Facet)


def run_facet(kind: type[_RunFacet], key: str, run: Run) -> _RunFacet | None:
    """A facet of a run by its key; None if the facet is absent, withdrawn or unreadable."""
    return standard.read_as(kind, "run", key, run.facets[key]) if key in run.facets else None


def runs_above(facet: standard.ParentRunFacet, run: Run, names: Names) -> RunsAbove:
    """The parent and root of a run, which may send no events themselves. A run that names itself as its parent has none."""
    parent, job = _named_run(facet.job, facet.run, names)
    root, root_job = _named_run(facet.root.job, facet.root.run, names) if facet.root else ((None, None, None), None)
    jobs = (job, *((root_job,) if root_job else ()))
    if parent[0] == run.id:
        return RunsAbove(NO_PARENT[:6], jobs)
    root = (None, None, None) if root[0] == run.id else root
    return RunsAbove((*parent[:2], *root[:2], parent[2], root[2]), jobs)


def nominal_time(run: Run) -> tuple[int | None, int | None] | None:
    """The nominal start and end of a run, UTC microseconds, as far as they are stated; None without the facet."""
    facet = run_facet(standard.NominalTimeRunFacet, "nominalTime", run)
    return (_time(facet.nominalStartTime), _time(facet.nominalEndTime)) if facet else None


def _named_run(job: standard.JobIdentifier, run: standard.RunName, names: Names) -> tuple[Row, Row]:
    """A parent or root run as (id, job, the id as sent if it is not a UUID), and the row of its job in the relation `node`."""
    id_ = names.job(job.namespace, job.name)
    above = run_uuid(job.namespace, job.name, run.runId), id_, None if parse_uuid(run.runId) else run.runId
    return above, (id_, int(NodeKind.JOB), job.namespace, job.name)


def _time(text: str | None) -> int | None:
    parsed = parse_time(text) if text else None
    return parsed.us if parsed else None
