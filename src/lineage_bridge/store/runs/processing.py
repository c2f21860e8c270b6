"""Looks up whether jobs are streaming, and the period of their heartbeats."""

from collections.abc import Iterable, Sequence

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.state import HEARTBEAT_US, LEARNT_FROM, Processing, learn_period, processing
from lineage_bridge.openlineage.facets import JobTypeJobFacet, ProcessingEngineRunFacet, read_as
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection

_JOB_TYPE = """SELECT f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.node = w.job AND c.job = 0 AND c.key = 'jobType'"""
_ENGINE = f"""SELECT f.text FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'processing_engine'
JOIN facet f ON f.facet = c.facet
WHERE s.asserted_by = (SELECT asserted_by FROM run_shape WHERE job = w.job AND origin = 1 ORDER BY last DESC, asserted_by DESC LIMIT 1)
AND s.job = w.job AND s.node = w.job AND s.side = {int(Side.RUN)} ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
_PROCESSING = f"""WITH wanted (job) AS (VALUES {{}}) SELECT DISTINCT job, ({_JOB_TYPE}), ({_ENGINE}) FROM wanted w"""
_HEARTBEATS = """SELECT effective FROM event WHERE asserted_by = ? AND type = 'RUNNING' AND job IN ({})
ORDER BY time DESC, event DESC LIMIT ?"""


class ProcessingTypes:
    """Looks up over one connection whether jobs are streaming, and caches the jobs that it has loaded."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self._by_job: dict[int, Processing] = {}

    def of_job(self, job: int) -> Processing:
        """Whether a job is streaming or batch, as its newest jobType facet states. Without such a facet, it follows from the engine that
        the newest run named.
        """
        if job not in self._by_job:
            self.load([job])
        return self._by_job[job]

    def load(self, jobs: Iterable[int]) -> None:
        """Look up many jobs at once."""
        for some in chunks(job for job in jobs if job not in self._by_job):
            sql = _PROCESSING.format(", ".join(["(?)"] * len(some)))
            for job, job_type, engine in self.connection.execute(sql, some).fetchall():
                job_type_facet = read_as(JobTypeJobFacet, "job", "jobType", job_type.encode()) if job_type else None
                named = (
                    read_as(ProcessingEngineRunFacet, "run", "processing_engine", engine.encode())
                    if engine and not job_type_facet
                    else None
                )
                self._by_job[job] = processing(job_type_facet, named.name if named else None)

    def period(self, run: bytes, job: int, names: Sequence[int]) -> int | None:
        """The period of a run's heartbeats in microseconds: declared, or derived from its newest ones; None if unknown.

        `names` are the ids of all names of the job.
        """
        declared = self.of_job(job).period_us
        if declared is not None:
            return declared
        rows = self.connection.execute(_HEARTBEATS.format(marks(names)), (run, *names, LEARNT_FROM))
        return learn_period([row[0] for row in rows])

    def heartbeat(self, run: bytes, job: int, names: Sequence[int]) -> int:
        """The period of a run's heartbeats in microseconds, as `period` returns it; a default if it is unknown."""
        period = self.period(run, job, names)
        return HEARTBEAT_US if period is None else period
