"""The two days of the demo: every run, and every event of a run.

Times are given as ages, which are seconds before now. The enrichment job failed once, and was restarted in a version that writes one more
column. Some hours ago, a rebalance made the CDC connector send some orders twice, which is visible in every row count downstream.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lineage_bridge.demo.datasets import (
    CUSTOMERS_TABLE,
    CUSTOMERS_TOPIC,
    ENRICHED_TABLE,
    ENRICHED_TOPIC,
    ORDERS_TABLE,
    ORDERS_TOPIC,
)
from lineage_bridge.demo.facets import facets
from lineage_bridge.demo.jobs import (
    BUILD,
    CDC,
    ENRICHMENT,
    FACT_MODEL,
    FIRST_ENRICHMENT,
    HEARTBEAT_S,
    REFRESH,
    REVENUE_MODEL,
    SINK,
)
from lineage_bridge.demo.model import Job
from lineage_bridge.openlineage.event_builder import Json

MINUTE_S = 60
HOUR_S = 60 * MINUTE_S
BEGIN_S = 48 * HOUR_S
FAILURE_S = 30 * HOUR_S + 12 * 60
RESTART_S = FAILURE_S - 6 * 60
REBALANCE_S = 9 * HOUR_S
LANDING_S = BEGIN_S - 7 * 60

CDC_REPORT_S = 2 * HOUR_S
SINK_REPORT_S = HOUR_S
BUILD_EVERY_S = 6 * HOUR_S
REFRESH_EVERY_S = 3 * HOUR_S

ORDERS_PER_MINUTE = 21
CUSTOMERS_PER_HOUR = 40
REPEATED_PERCENT = 28
CANCELLED_PERCENT = 4
DAYS = 3

CHECKPOINT_ERROR = "org.apache.flink.util.FlinkRuntimeException: Exceeded checkpoint tolerable failure threshold."
CHECKPOINT_TRACE = (
    f"{CHECKPOINT_ERROR}\n"
    "\tat org.apache.flink.runtime.checkpoint.CheckpointFailureManager.checkFailureAgainstCounter"
    "(CheckpointFailureManager.java:192)\n"
    "Caused by: org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing."
)


@dataclass(frozen=True)
class Run:
    """A run of a job. `generation` is its number, counted from the oldest; `due_s` is the age of its scheduled time, if any."""

    job: Job
    generation: int
    parent: "Run | None" = None
    due_s: int | None = None


@dataclass(frozen=True)
class Moment:
    """One event of a run: its age in seconds, its OpenLineage type, and its content in addition to the run's facets.

    `rebalanced`: the ages between which the tasks of the job were distributed anew, if the event reports this.
    """

    age_s: int
    type: str
    run: Run
    inputs: list[Json] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)
    facets: Json = field(default_factory=dict)
    rebalanced: tuple[int, int] | None = None


def moments() -> list[Moment]:
    """Return every event of the demo, oldest first. One is repeated, as if a transport had sent it twice."""
    once = [*_capture(), *_enrichment(), *_landing(), *_builds(), *_refreshes()]
    repeated = next(moment for moment in reversed(once) if moment.run.job is ENRICHMENT)
    return sorted([*once, repeated], key=lambda moment: -moment.age_s)


def heartbeats(since_s: int) -> list[Moment]:
    """The heartbeats of the demo's streaming jobs, some seconds after the demo was loaded: row counts since the start of their runs."""
    age_s = -since_s
    return [*_captured(Run(CDC, 0), age_s), _enriching(Run(ENRICHMENT, 1), RESTART_S, age_s), _landed(Run(SINK, 0), age_s)]


def _capture() -> Iterator[Moment]:
    """Yield the events of the CDC connector. Like Debezium, it never names tables and topics in the same event."""
    run = Run(CDC, 0)
    yield Moment(BEGIN_S, "START", run)
    yield Moment(BEGIN_S - 1, "RUNNING", run)
    yield Moment(BEGIN_S - 2, "RUNNING", run, inputs=CDC.described_inputs())
    for delay_s, output in enumerate(CDC.described_outputs(), start=4):
        yield Moment(BEGIN_S - delay_s, "RUNNING", run, outputs=[output])
    for age_s in _reports(BEGIN_S, 0, CDC_REPORT_S, last_s=95):
        yield from _captured(run, age_s)
    yield Moment(REBALANCE_S, "RUNNING", run, rebalanced=(REBALANCE_S + MINUTE_S, REBALANCE_S))


def _captured(run: Run, age_s: int) -> Iterator[Moment]:
    customers = _customers(BEGIN_S, age_s)
    tables = [ORDERS_TABLE.read(_orders(BEGIN_S, age_s)), CUSTOMERS_TABLE.read(customers)]
    topics = [ORDERS_TOPIC.written(_sent(BEGIN_S, age_s)), CUSTOMERS_TOPIC.written(customers)]
    yield Moment(age_s, "RUNNING", run, inputs=tables)
    yield Moment(age_s, "RUNNING", run, outputs=topics)


def _enrichment() -> Iterator[Moment]:
    """Yield the events of two runs of the Flink job: one that failed, and one of another version, which is still running."""
    begin_s = BEGIN_S - 4 * 60
    yield from _enrichment_run(Run(FIRST_ENRICHMENT, 0), begin_s, FAILURE_S)
    error = facets.error_message(CHECKPOINT_ERROR, CHECKPOINT_TRACE)
    yield Moment(FAILURE_S, "FAIL", Run(FIRST_ENRICHMENT, 0), facets={"errorMessage": error})
    yield from _enrichment_run(Run(ENRICHMENT, 1), RESTART_S, 0)


def _enrichment_run(run: Run, begin_s: int, end_s: int) -> Iterator[Moment]:
    yield Moment(begin_s, "START", run, run.job.described_inputs(), run.job.described_outputs())
    for age_s in _reports(begin_s, end_s, HEARTBEAT_S, last_s=60):
        yield _enriching(run, begin_s, age_s)


def _enriching(run: Run, begin_s: int, age_s: int) -> Moment:
    read = [ORDERS_TOPIC.read(_sent(begin_s, age_s)), CUSTOMERS_TOPIC.read(_customers(begin_s, age_s))]
    return Moment(age_s, "RUNNING", run, read, [ENRICHED_TOPIC.written(_enriched(begin_s, age_s))])


def _landing() -> Iterator[Moment]:
    """Yield the events of the sink connector, which sends its inputs and outputs at the start, and row counts afterwards."""
    run = Run(SINK, 0)
    yield Moment(LANDING_S, "START", run, SINK.described_inputs(), SINK.described_outputs())
    for age_s in _reports(LANDING_S, 0, SINK_REPORT_S, last_s=75):
        yield _landed(run, age_s)


def _landed(run: Run, age_s: int) -> Moment:
    rows = _enriched(LANDING_S, age_s)
    return Moment(age_s, "RUNNING", run, [ENRICHED_TOPIC.read(rows)], [ENRICHED_TABLE.written(rows)])


def _builds() -> Iterator[Moment]:
    """Yield the events of dbt. Each invocation is a run, which is the parent of one run for each model."""
    for generation, due_s in enumerate(_schedule(BUILD_EVERY_S, last_s=40 * 60)):
        build = Run(BUILD, generation, due_s=due_s)
        yield Moment(due_s - 2, "START", build)
        rows = _enriched(BEGIN_S, due_s)
        yield from _batch(Run(FACT_MODEL, generation, parent=build), due_s - 9, took_s=88, rows=rows)
        yield from _batch(Run(REVENUE_MODEL, generation, parent=build), due_s - 99, took_s=31, rows=DAYS)
        yield Moment(due_s - 133, "COMPLETE", build)


def _refreshes() -> Iterator[Moment]:
    for generation, due_s in enumerate(_schedule(REFRESH_EVERY_S, last_s=20 * 60)):
        yield from _batch(Run(REFRESH, generation, due_s=due_s), due_s - 1, took_s=12, rows=1)


def _batch(run: Run, begin_s: int, took_s: int, rows: int) -> Iterator[Moment]:
    """Yield the events of a batch run, which sends its inputs at the start, and its outputs with row counts at the end."""
    inputs = run.job.described_inputs()
    yield Moment(begin_s, "START", run, inputs)
    described = zip(run.job.outputs, run.job.described_outputs(), strict=True)
    outputs = [{**output, **dataset.written(rows)} for (dataset, _), output in described]
    yield Moment(begin_s - took_s, "COMPLETE", run, inputs, outputs)


def _schedule(every_s: int, last_s: int) -> range:
    """The ages of the times in a schedule, oldest first; the newest is `last_s` seconds old."""
    count = (BEGIN_S - last_s - HOUR_S) // every_s + 1
    return range(last_s + (count - 1) * every_s, last_s - 1, -every_s)


def _reports(begin_s: int, end_s: int, every_s: int, last_s: int) -> Iterator[int]:
    """The ages of the reports that a run sends from `begin_s` to `end_s`, oldest first; the newest is at `last_s`."""
    quiet_s = 5 * 60
    ages = range(last_s, begin_s - quiet_s, every_s)
    return (age_s for age_s in reversed(ages) if age_s > end_s)


def _orders(begin_s: int, age_s: int) -> int:
    """The number of orders placed between two ages."""
    return ORDERS_PER_MINUTE * (begin_s - age_s) // 60


def _customers(begin_s: int, age_s: int) -> int:
    """The number of customers added or changed between two ages."""
    return CUSTOMERS_PER_HOUR * (begin_s - age_s) // HOUR_S


def _sent(begin_s: int, age_s: int) -> int:
    """The number of order records sent to Kafka between two ages. Since the rebalance, some are sent twice."""
    repeated_since_s = min(begin_s, REBALANCE_S)
    repeated = REPEATED_PERCENT * _orders(repeated_since_s, age_s) // 100 if age_s < repeated_since_s else 0
    return _orders(begin_s, age_s) + repeated


def _enriched(begin_s: int, age_s: int) -> int:
    """The number of order records between two ages that pass the filter of the enrichment."""
    return (100 - CANCELLED_PERCENT) * _sent(begin_s, age_s) // 100
