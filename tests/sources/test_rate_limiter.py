"""The gate: who asks waits as long as the system says, and not a moment longer than told to stop."""

import threading
from contextlib import suppress

import pytest

from lineage_bridge.errors import StoppedError
from lineage_bridge.sources.common.rate_limiter import LONGEST_WAIT_S, RateLimiter


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (200, {"x-ratelimit-remaining": "3", "x-ratelimit-reset": "9"}, 0),
        (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"}, 9),
        (429, {"retry-after": "2"}, 2),
        (429, {"retry-after": "2", "x-ratelimit-reset": "5"}, 5),
        (429, {}, 0),
        (429, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0),
        (429, {"retry-after": "86400"}, LONGEST_WAIT_S),
    ],
)
def test_it_is_closed_as_long_as_was_asked(status: int, headers: dict[str, str], wait_s: float) -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    limiter.update(status, headers)
    passed = threading.Event()
    waiting = threading.Thread(target=_enter, args=(limiter, passed), daemon=True)
    waiting.start()
    assert passed.wait(0.2) == (wait_s == 0)
    if wait_s:
        clock.now = wait_s - 0.01
        assert not passed.wait(0.05)
    limiter.stop.set()
    waiting.join(5)


def _enter(limiter: RateLimiter, passed: threading.Event) -> None:
    with suppress(StoppedError):
        limiter.acquire()
        passed.set()


def test_it_opens_by_itself_and_a_shorter_wait_does_not_open_it_sooner() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    limiter.update(429, {"retry-after": "60"})
    limiter.update(429, {"retry-after": "1"})
    clock.now = 30
    limiter.stop.set()
    with pytest.raises(StoppedError):
        limiter.acquire()
    limiter.stop.clear()
    clock.now = 60
    limiter.acquire()


def _headers(left: int, reset: str = "9") -> dict[str, str]:
    return {"x-ratelimit-limit": "3", "x-ratelimit-remaining": str(left), "x-ratelimit-reset": reset}


def _passed(limiter: RateLimiter, tries: int) -> int:
    """How many of so many callers pass at once."""
    passed = [threading.Event() for _ in range(tries)]
    threads = [threading.Thread(target=_enter, args=(limiter, caller), daemon=True) for caller in passed]
    for thread in threads:
        thread.start()
    for caller in passed[:-1]:
        caller.wait(0.05)
    limiter.stop.set()
    for thread in threads:
        thread.join(5)
    limiter.stop.clear()
    return sum(caller.is_set() for caller in passed)


def test_calls_under_way_count_before_they_are_answered() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    assert _passed(limiter, 5) == 5
    limiter.update(200, _headers(2))
    assert _passed(limiter, 5) == 2
    clock.now = 9
    assert _passed(limiter, 5) == 3


def test_calls_that_nobody_answers_do_not_close_it_for_ever() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    limiter.update(200, _headers(0))
    clock.now = 9
    assert _passed(limiter, 5) == 3
    clock.now = 17.9
    assert _passed(limiter, 5) == 0
    clock.now = 18
    assert _passed(limiter, 5) == 3


def test_an_answer_of_a_new_time_shortens_the_wait_and_a_refusal_lengthens_it() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    limiter.update(200, _headers(0))
    clock.now = 9
    limiter.acquire()
    limiter.update(200, _headers(0, "1"))
    clock.now = 10
    limiter.acquire()
    limiter.update(429, _headers(0, "5"))
    clock.now = 14.9
    assert _passed(limiter, 2) == 0
    clock.now = 15
    assert _passed(limiter, 5) == 3


def test_a_reset_without_a_limit_is_believed() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    limiter.update(200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"})
    clock.now = 9
    assert _passed(limiter, 3) == 1
