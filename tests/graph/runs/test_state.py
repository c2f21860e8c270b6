"""Run state, on what real producers were seen to send."""

import pytest

from lineage_bridge.graph.runs.state import HEARTBEAT_US, run_state

S = 1_000_000


@pytest.mark.parametrize(
    ("events", "streaming", "state"),
    [
        ([("START", 1, 1)], False, "START"),
        ([("START", 1, 1), ("RUNNING", 2, 2)], False, "RUNNING"),
        ([("START", 1, 1), ("COMPLETE", 5, 5)], False, "COMPLETE"),
        ([("COMPLETE", 5, 5)], False, "COMPLETE"),
        ([("START", 0, 0), ("FAIL", 1000, 1000), ("COMPLETE", 1014, 1014)], False, "FAIL"),
        ([("START", 0, 0), ("COMPLETE", 5, 5), ("ABORT", 6, 6)], False, "ABORT"),
        ([("START", 0, 10), ("FAIL", 5, 5)], False, "START"),
        ([("START", 0, 10), ("FAIL", 5, 5), ("COMPLETE", 20, 20)], False, "COMPLETE"),
        ([("COMPLETE", 5, 5), ("RUNNING", 9, 9)], False, "COMPLETE"),
        ([("OTHER", 5, 5)], False, "UNKNOWN"),
        ([("", 5, 5)], False, "UNKNOWN"),
        ([], False, "UNKNOWN"),
        ([("START", 0, 0), ("FAIL", 10 * S, 10 * S), ("RUNNING", 1, 11 * S + HEARTBEAT_US)], True, "RUNNING"),
        ([("START", 0, 0), ("ABORT", 10 * S, 10 * S), ("RUNNING", 1, 20 * S)], True, "ABORT"),
        ([("START", 0, 0), ("FAIL", 5 * S, 5 * S), ("COMPLETE", 9 * S, 9 * S)], True, "COMPLETE"),
        ([("FAIL", 5 * S, 5 * S), ("COMPLETE", 5 * S, 5 * S)], True, "FAIL"),
    ],
)
def test_state(events: list[tuple[str, int, int]], streaming: bool, state: str) -> None:
    assert run_state(events, streaming).state == state
    assert run_state(reversed(events), streaming).state == state


def test_an_end_exists_only_in_an_ended_state() -> None:
    assert run_state([("START", 0, 10), ("FAIL", 5, 5)], streaming=False).ended is None
    assert run_state([("START", 0, 0), ("FAIL", 5, 7)], streaming=False).ended == 7


def test_a_start_that_was_not_seen_is_inferred() -> None:
    known, unknown = run_state([("START", 3, 3), ("OTHER", 1, 1)], False), run_state([("OTHER", 1, 1), ("COMPLETE", 5, 5)], False)
    assert (known.started, known.started_inferred) == (3, False)
    assert (unknown.started, unknown.started_inferred) == (1, True)


def test_two_ends_are_flagged() -> None:
    assert run_state([("FAIL", 1, 1), ("COMPLETE", 2, 2)], False).conflict
    assert not run_state([("COMPLETE", 2, 2)], False).conflict
