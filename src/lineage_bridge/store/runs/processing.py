"""Looks up whether jobs are streaming, and the period of their heartbeats."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

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
_JOB_TYPES = f"WITH wanted (job) AS (VALUES {{}}) SELECT DISTINCT job, ({_JOB_TYPE}) FROM wanted w"
_ENGINES = f"WITH wanted (job) AS (VALUES {{}}) SELECT DISTINCT job, ({_ENGINE}) FROM wanted w"
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
        missing = [job for job in jobs if job not in self._by_job]
        if not missing:
            return
        typed = {job: _by_type(text) for job, text in self._texts(_JOB_TYPES, missing)}
        self._by_job.update((job, found) for job, found in typed.items() if found)
        rest = [job for job, found in typed.items() if not found]
        self._by_job.update((job, _by_engine(text)) for job, text in self._texts(_ENGINES, rest))

    def _texts(self, sql: str, jobs: Iterable[int]) -> Iterator[tuple[int, str | None]]:
        """Each of these jobs with the text of a facet."""
        for some in chunks(jobs):
            yield from self.connection.execute(sql.format(", ".join(["(?)"] * len(some))), some).fetchall()

    def period(self, run: bytes, job: int, names: Sequence[int]) -> int | None:
        """The period of a run's heartbeats in microseconds: the declared one, else one derived from its newest heartbeats; None if unknown.

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


@lru_cache(2_048)
def _by_type(text: str | None) -> Processing | None:
    """Whether a job is streaming or batch, from the text of its jobType facet; None if the facet is missing or invalid. Cached, because
    most texts are equal.
    """
    facet = read_as(JobTypeJobFacet, "job", "jobType", text.encode()) if text else None
    return processing(facet) if facet else None


@lru_cache(2_048)
def _by_engine(text: str | None) -> Processing:
    """Whether a job is streaming or batch, from the text of the facet in which its newest run named an engine."""
    facet = read_as(ProcessingEngineRunFacet, "run", "processing_engine", text.encode()) if text else None
    return processing(None, facet.name if facet else None)
