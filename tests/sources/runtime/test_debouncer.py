"""A burst of changes is one poll: after five quiet seconds, and a minute after the first at the latest."""

from lineage_bridge.sources.runtime.debouncer import Debouncer

SECOND = 1_000_000


def polls(changes: dict[int, int], seconds: int) -> list[int]:
    """The seconds at which a source is polled; `changes`: second to the number of changes noticed by then."""
    debouncer, count, found = Debouncer(), 0, []
    for second in range(seconds):
        count = changes.get(second, count)
        if debouncer.is_due(count, second * SECOND):
            found.append(second)
            debouncer.reset()
    return found


def test_a_burst_of_changes_is_one_poll_once_it_is_quiet():
    assert polls({}, 100) == []
    assert polls({10: 1}, 100) == [15]
    assert polls({10: 1, 12: 5, 16: 6, 60: 7}, 100) == [21, 65]


def test_continuous_changes_are_polled_every_minute():
    assert polls({second: second for second in range(10, 200)}, 200) == [70, 131, 192]


def test_a_new_observer_counts_changes_from_zero():
    assert polls({10: 5, 40: 0, 50: 1}, 100) == [15, 55]


def test_a_clock_that_was_set_back_delays_no_poll():
    debouncer = Debouncer()
    assert not debouncer.is_due(1, 1_000 * SECOND)
    assert debouncer.is_due(1, 10 * SECOND)
