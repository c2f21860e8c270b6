"""What `calls_per_s` allows over a time, on a clock that only waits move."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogs.google_login import TOKEN
from tests.catalogs.standins.dataplex import Dataplex
from tests.catalogs.standins.google import LOCATION, PROJECT
from tests.catalogs.standins.server import answering

from lineage_bridge.catalogs.calls import TargetCalls
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.pace import Pace, Quota, quota_of
from lineage_bridge.errors import BusyError, StoppedError

SECOND_US = 1_000_000
START_US = 1_700_000_000 * SECOND_US


@dataclass
class Clock:
    """A clock that stands still but for waits."""

    now_us: int = START_US
    waits: list[float] = field(default_factory=list)

    def read(self) -> int:
        return self.now_us

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now_us += round(seconds * SECOND_US)


def begun(pace: Pace, clock: Clock, calls: int) -> list[int]:
    """When each of so many calls began, in microseconds since the first turn was asked for."""
    times = []
    start_us = clock.now_us
    for _ in range(calls):
        pace.turn()
        times.append(clock.now_us - start_us)
    return times


@pytest.mark.parametrize(("calls_per_s", "together", "apart_us"), [(0.5, 1, 2_000_000), (2.5, 3, 1_200_000), (4, 4, SECOND_US)])
def test_calls_begin_as_soon_as_their_limit_allows(calls_per_s: float, together: int, apart_us: int) -> None:
    clock = Clock()
    times = begun(Pace(clock.read, clock.wait, quota_of(calls_per_s)), clock, 5 * together)

    assert times == [number // together * apart_us for number in range(5 * together)]


@given(
    calls_per_s=st.sampled_from((0.5, 1, 2.5, 3, 10)),
    pauses_us=st.lists(st.integers(0, 3 * SECOND_US) | st.sampled_from((0, SECOND_US // 10, SECOND_US)), max_size=60),
)
def test_no_second_has_more_calls_than_the_limit_wherever_it_begins(calls_per_s: float, pauses_us: list[int]) -> None:
    clock, times = Clock(), list[int]()
    pace = Pace(clock.read, clock.wait, quota_of(calls_per_s))
    for number, pause_us in enumerate(pauses_us):
        clock.now_us += pause_us
        asked_us, most = clock.now_us, math.ceil(calls_per_s)
        pace.turn()
        times.append(clock.now_us)
        assert len([time for time in times if time > clock.now_us - SECOND_US]) <= most
        is_free = number < most or asked_us - times[-1 - most] >= most / calls_per_s * SECOND_US
        assert not is_free or clock.now_us == asked_us, "no call waits in vain"
        seconds = (times[-1] - times[0]) / SECOND_US
        assert len(times) <= most + seconds * calls_per_s + 1e-6, "as targets count that save unused calls up"


def test_a_rest_allows_no_more_calls_in_the_second_after_it() -> None:
    clock = Clock()
    pace = Pace(clock.read, clock.wait, quota_of(10))
    begun(pace, clock, 50)
    clock.now_us += 3600 * SECOND_US

    assert begun(pace, clock, 23) == [0] * 10 + [SECOND_US] * 10 + [2 * SECOND_US] * 3


def test_a_target_that_asks_to_wait_is_obeyed_before_the_limit() -> None:
    clock = Clock()
    pace = Pace(clock.read, clock.wait, quota_of(10))
    pace.hold(7)

    assert begun(pace, clock, 12) == [7 * SECOND_US] * 10 + [8 * SECOND_US] * 2


def test_without_a_limit_no_call_waits() -> None:
    clock = Clock()
    begun(Pace(clock.read, clock.wait), clock, 1000)

    assert clock.waits == []


def test_the_setting_limits_the_calls_of_a_target(tmp_path: Path) -> None:
    clock = Clock()
    target = TargetKinds(tmp_path).make("catalog", "files", {"calls_per_s": 4})
    calls = TargetCalls(target, clock.read, clock.wait, lambda: False)
    times = []
    for asked in range(8):
        answers = list(calls.answers(len, [asked]))
        assert answers == [([asked], 1)]
        times.append(clock.now_us - START_US)
    target.close()

    assert times == [0] * 4 + [SECOND_US] * 4


def test_a_stop_lets_a_call_make_its_other_requests(tmp_path: Path) -> None:
    """Else an object would be left half written where it needs no more than to go on."""
    clock, made = Clock(), list[int]()
    target = TargetKinds(tmp_path).make("catalog", "openlineage", {"url": "http://127.0.0.1:9"})
    calls = TargetCalls(target, clock.read, clock.wait, lambda: len(made) >= 2)

    def call(asked: Sequence[int]) -> int:
        for number in asked:
            target.repeated(lambda number=number: made.append(number))  # type: ignore[misc]  # of this turn
        return len(asked)

    assert list(calls.answers(call, [1, 2, 3, 4])) == [([1, 2, 3, 4], 4)]
    assert made == [1, 2, 3, 4]
    with pytest.raises(StoppedError):
        list(calls.answers(call, [5]))
    target.close()


def test_a_request_that_is_to_be_repeated_is_not_after_a_stop(tmp_path: Path) -> None:
    clock, made = Clock(), list[int]()
    target = TargetKinds(tmp_path).make("catalog", "openlineage", {"url": "http://127.0.0.1:9"})
    calls = TargetCalls(target, clock.read, clock.wait, lambda: bool(made))

    def request() -> None:
        made.append(1)
        raise BusyError("later")

    def call(_: Sequence[int]) -> None:
        target.repeated(request)

    with pytest.raises(StoppedError):
        list(calls.answers(call, [1]))
    assert made == [1]
    target.close()


@pytest.mark.parametrize(("settings", "waits"), [({}, [60.0]), ({"calls_per_s": 100}, [])], ids=["documented", "of the user"])
def test_a_quota_counts_its_own_requests_unless_the_user_sets_a_limit(
    tmp_path: Path, settings: dict[str, float], waits: list[float]
) -> None:
    clock, there = Clock(), Dataplex()
    (tmp_path / "token").write_text(TOKEN)
    with answering(there.handle) as url:
        login = {"url": url, "project": PROJECT, "location": LOCATION, "token": f"${{file:{tmp_path / 'token'}}}"}
        target = TargetKinds(tmp_path).make("topics", "dataplex", {**login, **settings})
        target.quotas = {"reads": Quota(2, 60), "writes": Quota(1, 60)}
        TargetCalls(target, clock.read, clock.wait, lambda: False)
        assert [check.works for check in target.test()] == [True, True, False]
        target.close()
    assert len(there.requests) == 3
    assert clock.waits == waits
