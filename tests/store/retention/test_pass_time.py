"""The time by which a pass decides: a wrong clock of the machine does not let everything go."""

from contextlib import nullcontext
from datetime import datetime, timezone
from uuid import UUID

from tests.events import T0, dataset, records_of, run_event
from tests.store.retention.removing import Gone, put

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.keeping.retention import RetentionPolicy
from lineage_bridge.store.retention.expiry import Expiry
from lineage_bridge.store.retention.pass_time import MOST_FORWARD_US, time_of_pass
from lineage_bridge.store.write.apply import GraphWriter

FAR_US = int(datetime(2099, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000


def put_events(writer: GraphWriter, *times: int) -> None:
    bodies = [run_event("OTHER", str(UUID(int=number + 1)), "job", at, [dataset("a")]) for number, at in enumerate(times)]
    put(writer, records_of(bodies, arrival=T0))


def make_pass(writer: GraphWriter, now_us: int) -> int:
    at_us = time_of_pass(writer.connection, now_us)
    for step in Expiry(writer, RetentionPolicy([]), Gone()).steps(lambda: nullcontext(writer.connection), at_us):
        step()
    return at_us


def test_a_clock_that_agrees_with_the_events_is_believed(writer: GraphWriter) -> None:
    put_events(writer, T0 - 90 * DAY_US, T0)
    assert time_of_pass(writer.connection, T0 + 5) == T0 + 5


def test_without_events_nothing_is_old(writer: GraphWriter) -> None:
    assert time_of_pass(writer.connection, T0) == 0


def test_a_clock_far_ahead_of_the_newest_event_is_not_believed(writer: GraphWriter) -> None:
    put_events(writer, T0 - 90 * DAY_US, T0)
    assert time_of_pass(writer.connection, FAR_US) == T0 + DAY_US


def test_a_producer_whose_clock_is_ahead_moves_nothing(writer: GraphWriter) -> None:
    put_events(writer, T0, FAR_US)
    assert time_of_pass(writer.connection, T0 + 40 * DAY_US) == T0 + DAY_US


def test_passes_go_forward_by_a_week_at_most(writer: GraphWriter) -> None:
    """Even if the events have the wrong time, too, because this machine made them."""
    put_events(writer, T0, FAR_US)
    assert make_pass(writer, T0) == T0
    assert make_pass(writer, FAR_US) == T0 + MOST_FORWARD_US
    assert make_pass(writer, FAR_US) == T0 + 2 * MOST_FORWARD_US


def test_a_clock_that_was_behind_holds_nothing_up(writer: GraphWriter) -> None:
    put_events(writer, T0 - 300 * DAY_US, T0)
    assert make_pass(writer, T0) == T0
    assert make_pass(writer, T0 - 300 * DAY_US) == T0 - 300 * DAY_US
    assert make_pass(writer, T0 + 1) == T0 + 1
