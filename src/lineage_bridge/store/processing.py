"""How jobs work, as the store knows: whether they end by themselves, and the period of their heartbeats."""

import sqlite3

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs import HEARTBEAT_US, LEARNT_FROM, Processing, learn_period, processing
from lineage_bridge.openlineage.facets import JobTypeJobFacet, ProcessingEngineRunFacet, read_as

_JOB_TYPE = """SELECT f.text FROM current_facet c JOIN facet f ON f.facet = c.facet WHERE c.node = ? AND c.job = 0 AND c.key = 'jobType'"""
_NEWEST = "SELECT subject FROM present WHERE job = ? AND origin = 1 ORDER BY last DESC, subject DESC LIMIT 1"
_ENGINE = """SELECT f.text FROM said s JOIN content c ON c.content = s.content AND c.key = 'processing_engine'
JOIN facet f ON f.facet = c.facet
WHERE s.subject = ? AND s.job = ? AND s.about = ? AND s.side = ? ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
_HEARTBEATS = "SELECT effective FROM event WHERE subject = ? AND type = 'RUNNING' ORDER BY time DESC, event DESC LIMIT ?"


class Processings:
    """Look-ups over one connection; remembers the jobs it met."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._known: dict[int, Processing] = {}

    def of_job(self, job: int) -> Processing:
        """How a job works, by its newest jobType facet, else by the engine that its newest run named."""
        if job not in self._known:
            row = self.connection.execute(_JOB_TYPE, (job,)).fetchone()
            facet = read_as(JobTypeJobFacet, "job", "jobType", row[0].encode()) if row else None
            self._known[job] = processing(facet, None if facet else self._engine(job))
        return self._known[job]

    def _engine(self, job: int) -> str | None:
        newest = self.connection.execute(_NEWEST, (job,)).fetchone()
        row = self.connection.execute(_ENGINE, (newest[0], job, job, int(Side.RUN))).fetchone() if newest else None
        facet = read_as(ProcessingEngineRunFacet, "run", "processing_engine", row[0].encode()) if row else None
        return facet.name if facet else None

    def period(self, run: bytes, job: int) -> int | None:
        """The period of a run's heartbeats in microseconds: declared, or learnt from its newest ones; None if unknown."""
        declared = self.of_job(job).period_us
        if declared is not None:
            return declared
        return learn_period([row[0] for row in self.connection.execute(_HEARTBEATS, (run, LEARNT_FROM))])

    def heartbeat(self, run: bytes, job: int) -> int:
        """The same, with what stands for an unknown period."""
        period = self.period(run, job)
        return HEARTBEAT_US if period is None else period
