"""Amounts, from events."""

from typing import Any

import pytest
from tests.events import KEY, RUNS, T0, dataset, facet, run_event, stored_record
from tests.store.reading import listening_reader_of, reader_of
from tests.store.writing import add

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsSeries
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)
S = 1_000_000
HOUR = 3600 * S


def asked(writer: GraphWriter, since: int = T0, until: int = T0 + DAY_US, name: str = "b", **more: Any) -> tuple[StatisticsSeries, ...]:
    which = StatisticsFilter(since, until, datasets=frozenset({NAMES.dataset("ns", name)}), **more)
    return reader_of(writer).runs.statistics(which).series


def wrote(at_s: int, rows: int | None, run: str = RUNS[0], type_: str = "RUNNING", **more: Any) -> bytes:
    output = dataset("b", access=("outputFacets", {"outputStatistics": facet(rowCount=rows)}))
    return run_event(type_, run=run, time_us=T0 + at_s * S, outputs=[output], **more)


def test_parallel_tasks_do_not_mix(writer: GraphWriter) -> None:
    """Merged, the numbers of the two would fall at every step."""
    add(writer, *(wrote(n, 1000 + n, RUNS[0]) for n in range(10)), *(wrote(n, 10 + n, RUNS[1]) for n in range(10)))
    (series,) = asked(writer)
    assert (series.amount.rows, series.runs, series.samples, series.counting) == (1009 + 19, 2, 20, ("cumulative",))


def test_a_window_takes_what_was_added_in_it(writer: GraphWriter) -> None:
    add(writer, *(wrote(n * 60, 100 * (n + 1)) for n in range(120)))
    (series,) = asked(writer, T0 + HOUR, T0 + 2 * HOUR, bucket_us=30 * 60 * S)
    assert series.amount.rows == 6000
    assert [(start - T0, amount.rows) for start, amount in series.buckets] == [(HOUR, 3000), (HOUR + HOUR // 2, 3000)]
    assert asked(writer, T0 + DAY_US, T0 + 2 * DAY_US) == ()


def test_a_job_that_declares_windows_counts_by_interval(writer: GraphWriter) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventCompleteness": "COMPLETE_SNAPSHOT", "windowDuration": 60}
    streaming = {"jobType": facet(processingType="STREAMING", integration="X", emissionPattern=pattern)}
    add(writer, *(wrote(n * 60, 50, job_facets=streaming) for n in range(10)))
    (series,) = asked(writer)
    assert (series.amount.rows, series.counting) == (500, ("interval",))


def test_statistics_only_on_a_running_event_count(writer: GraphWriter) -> None:
    add(writer, run_event("START"), wrote(60, 70), run_event("COMPLETE", time_us=T0 + 90 * S, outputs=[dataset("b")]))
    (series,) = asked(writer)
    assert series.amount.rows == 70
    assert series.side == Side.OUTPUT


@pytest.mark.parametrize("later", [0, None])
def test_a_later_zero_or_null_hides_nothing(writer: GraphWriter, later: int | None) -> None:
    add(writer, wrote(60, 70), wrote(90, later, type_="COMPLETE"))
    assert asked(writer)[0].amount.rows == 70


def test_by_job_by_run_and_by_side(writer: GraphWriter) -> None:
    read = dataset("b", access=("inputFacets", {"inputStatistics": facet(rowCount=5, byteCount=500)}))
    add(writer, wrote(0, 10), wrote(5, 20, RUNS[1]), run_event(run=RUNS[2], job="reader", inputs=[read]))
    assert [(s.job.name, s.side, s.amount.rows, s.amount.bytes) for s in asked(writer)] == [
        ("job", Side.OUTPUT, 30, None),
        ("reader", Side.INPUT, 5, 500),
    ]
    assert [s.job.name for s in asked(writer, side=Side.INPUT)] == ["reader"]
    assert [s.job.name for s in asked(writer, limit=1, offset=1)] == ["reader"]
    assert [s.amount.rows for s in asked(writer, job=NAMES.job("jobs", "job"))] == [30]
    assert [s.amount.rows for s in asked(writer, run=bytes.fromhex(RUNS[1].replace("-", "")))] == [20]
    of_job = StatisticsFilter(T0, T0 + DAY_US, job=NAMES.job("jobs", "job"))
    assert [(s.dataset.name, s.amount.rows) for s in reader_of(writer).runs.statistics(of_job).series] == [("b", 30)]


def test_an_event_from_a_clock_far_ahead_counts_once_however_often_it_came(writer: GraphWriter) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 60}
    job = {"jobType": facet(processingType="STREAMING", integration="X", emissionPattern=pattern)}
    ahead = wrote(3 * 86_400, 500, job_facets=job)
    for offset, arrival in enumerate((T0, T0 + 5 * S, T0 + 2 * DAY_US)):
        copies = [stored_record(ahead, offset=offset, arrival=arrival)]
        writer.apply(Batch({}, dict(flat(fold_records(copies, NAMES)))), Budget(10**6))
    (series,) = asked(writer, T0, T0 + 4 * DAY_US)
    assert (series.amount.rows, series.samples, series.first) == (500, 1, T0)


def test_of_many_datasets_a_job_is_asked_about_its_own_alone(writer: GraphWriter) -> None:
    add(writer, wrote(60, 70))
    many = frozenset({NAMES.dataset("ns", "b"), *(NAMES.dataset("ns", f"other{number}") for number in range(500))})
    reader, statements = listening_reader_of(writer)
    (series,) = reader.runs.statistics(StatisticsFilter(T0, T0 + DAY_US, datasets=many)).series
    assert series.amount.rows == 70
    assert 0 < sum("io_sample" in statement for statement in statements) <= 2
