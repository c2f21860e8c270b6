"""How many calls of a target may begin a second, by a clock that stands still."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.catalogs.costs.quotas import QuotaThere, WindowThere

from lineage_bridge.catalogs.calls import TargetCalls
from lineage_bridge.catalogs.kinds.google.dataplex_target import DataplexTarget
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.pace import Pace, quota_of

NOW_US = 1_800_000_000_000_000


def test_calls_that_wait_at_the_same_time_begin_one_by_one() -> None:
    waited: list[float] = []
    everybody = threading.Barrier(7)

    def wait(seconds: float) -> None:
        waited.append(seconds)
        everybody.wait(60)

    pace = Pace(lambda: NOW_US, wait, quota_of(0.5))
    with ThreadPoolExecutor(8) as pool:
        for turn in [pool.submit(pace.turn) for _ in range(8)]:
            turn.result()
    assert sorted(waited) == [2, 4, 6, 8, 10, 12, 14]


def test_a_clock_that_is_set_back_does_not_hold_calls_up() -> None:
    now = [NOW_US]
    waited: list[float] = []
    pace = Pace(lambda: now[0], waited.append, quota_of(2))
    pace.turn()
    pace.turn()
    now[0] -= 3_600_000_000
    pace.turn()
    now[0] += 1_000_000
    pace.turn()
    pace.turn()
    assert waited == [1, 1]


@pytest.mark.parametrize("counted", [WindowThere, QuotaThere])
@pytest.mark.parametrize("name", DataplexTarget.quotas)
def test_google_refuses_no_call_however_it_counts_a_minute(name: str, counted: type[QuotaThere]) -> None:
    now_us = [NOW_US]

    def wait(seconds: float) -> None:
        now_us[0] += round(seconds * 1_000_000)

    quota = DataplexTarget.quotas[name]
    there = counted(quota.calls, quota.seconds, clock_s=lambda: now_us[0] / 1_000_000)
    pace = Pace(lambda: now_us[0], wait, quota)
    for call in range(2 * quota.calls + 10):
        pace.turn()
        assert there.has_room()
        there.take()
        now_us[0] += 3_000 * (call % 7 == 0)
    assert there.floor_s <= (now_us[0] - NOW_US) / 1_000_000 <= 2.2 * quota.seconds


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("atlan", {"url": "http://127.0.0.1:9", "token": "${env:PATH}", "connection": "lineage"}),
        ("datazone", {"region": "eu-central-1", "domain": "dzd_4k2m8example"}),
        ("kinesis", {"region": "eu-central-1", "stream": "lineage"}),
        ("google", {"project": "sales-prod", "location": "eu", "token": "${env:PATH}"}),
    ],
)
def test_a_target_waits_as_its_publication_does(tmp_path: Path, kind: str, settings: dict[str, str]) -> None:
    waited: list[float] = []
    target = TargetKinds(tmp_path).make("there", kind, settings)
    TargetCalls(target, lambda: NOW_US, waited.append, lambda: False)
    target.wait(3)
    target.close()
    assert waited == [3]
    assert not hasattr(target, "_wait")
