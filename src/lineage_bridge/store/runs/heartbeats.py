"""Computes the liveness of streams from their stored heartbeats and counters."""

from collections.abc import Collection

from lineage_bridge.graph.runs.liveness import MISSED, Liveness, liveness, moves
from lineage_bridge.graph.runs.state import TERMINAL
from lineage_bridge.graph.runs.statistics import Sample, counting, increments
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.runs.runs import Runs

_NEWEST = f"""SELECT asserted_by, last, EXISTS (SELECT 1 FROM run_event e
WHERE e.run = p.asserted_by AND e.type IN ({", ".join(f"'{type_}'" for type_ in TERMINAL)}))
FROM run_shape p WHERE job = ? AND origin = 1 ORDER BY last DESC, asserted_by DESC LIMIT ?"""
_NEWEST_RUNS = 8
"""How many of a job's newest runs are searched for one that still runs, if the newest has ended."""
_SAMPLES = """SELECT time, rows, bytes, files FROM io_sample WHERE run = ? AND job = ? AND dataset = ? AND side = ?
ORDER BY time DESC LIMIT ?"""
_LOOKED_AT = 32


class Heartbeats:
    """Computes the liveness of streams as of `now_us`, over one connection. The rows of a job are read once."""

    def __init__(self, connection: StoreConnection, runs: Runs, now_us: int) -> None:
        self.connection, self.runs, self.now_us = connection, runs, now_us
        self._newest: dict[int, tuple[bytes, int, int] | None] = {}

    def liveness_of(self, job: int, last: int | None, ports: tuple[tuple[int, int], ...] = ()) -> Liveness | None:
        """Return the liveness of an edge or port of a job, from the last event of a run that asserted it.

        None if the job is not streaming, or if its runs have ended. `ports` are the (dataset, side) whose counters show whether data moves.
        """
        newest = self._newest_of(job)
        if newest is None:
            return None
        asserter, seen, period = newest
        moving = [self._moves(asserter, job, *port) for port in ports] if last == seen else []
        reported = [value for value in moving if value is not None]
        own = None if last is None else min(last, seen)
        return liveness(own, self.now_us, period, any(reported) if reported else None)

    def streams(self, jobs: Collection[int]) -> set[int]:
        """Those of these jobs that are streaming."""
        self.runs.processing.load(jobs)
        return {job for job in jobs if self.runs.is_streaming(job)}

    def of_run(self, asserter: bytes, job: int, last: int) -> Liveness | None:
        """The liveness of a run; None if its job is not streaming, or if it has ended."""
        if not self.runs.is_streaming(job) or self.runs.state(asserter, job).state in TERMINAL:
            return None
        return liveness(last, self.now_us, self.runs.heartbeat(asserter, job))

    def _newest_of(self, job: int) -> tuple[bytes, int, int] | None:
        """The run of a streaming job with the latest event, the time of that event, and the period of heartbeats; None if all have ended.

        If the newest run has ended, an earlier run that still sends heartbeats is used.
        """
        if job not in self._newest:
            self._newest[job] = self._running(job) if self.runs.is_streaming(job) else None
        return self._newest[job]

    def _running(self, job: int) -> tuple[bytes, int, int] | None:
        for limit in (1, _NEWEST_RUNS):
            for asserter, last, has_end in self.connection.execute(_NEWEST, (job, limit)).fetchall()[limit // _NEWEST_RUNS :]:
                if not has_end or self.runs.state(asserter, job).state not in TERMINAL:
                    period = self.runs.heartbeat(asserter, job)
                    if limit == 1 or liveness(last, self.now_us, period) is Liveness.ALIVE:
                        return asserter, last, period
        return None

    def _moves(self, asserter: bytes, job: int, dataset: int, side: int) -> bool | None:
        """Whether data moved, judged by the newest three reports of a run; None if the reports have no counters."""
        rows = self.connection.execute(_SAMPLES, (asserter, job, dataset, side, _LOOKED_AT)).fetchall()
        series = [Sample(*row) for row in rows]
        added = [amount for _, amount in increments(series, counting(series))][1:] if len(series) > 1 else []
        newest = [next((value for value in amount if value is not None), None) for amount in added[-MISSED:]]
        return moves(newest)
