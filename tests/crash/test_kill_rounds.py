"""`kill -9` of API and pipeline, over and over, while producers go on: what was acknowledged is in the store once."""

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash.running.support import Pair, Process, all_acknowledged, audit, producing, settings_in

pytestmark = pytest.mark.spark

ROUNDS = (
    ("api", "part"),
    ("pipeline", "commit"),
    ("api", "written"),
    ("api", "synced"),
    ("pipeline", "commit"),
    ("api", "shown"),
    ("api", "create"),
    ("pipeline", "committed"),
    ("api", "part"),
    ("api", "any"),
    ("pipeline", "commit"),
    ("api", "written"),
    ("api", "create"),
    ("pipeline", "any"),
    ("api", "synced"),
    ("api", "any"),
    ("pipeline", "commit"),
    ("api", "shown"),
    ("api", "part"),
    ("pipeline", "commit"),
)
"""Who is killed and where. The API is killed while the pipeline starts again, which takes longest."""
IN_AN_APPEND = frozenset({"part", "written", "synced", "shown", "create"})


def standing_at(pair: Pair, victim: Process, point: str, batches: int) -> str:
    """Wait until a process stands still at a point, the pipeline after so many batches; where that is."""
    pair.wait_for(victim, batches)
    victim.request(point)
    where = victim.wait_for_point(point)
    return f"in {where}" if victim.part == "api" else f"between {where}"


def at_any_moment(pair: Pair, victim: Process, delay_s: float) -> str:
    """Wait a little; the pipeline is then still starting."""
    if victim.part == "api":
        pair.wait_for(victim)
    time.sleep(delay_s)
    return f"at a random moment, after {delay_s:.3f} s"


def test_kill_9_in_20_rounds(folder: Path, report: Callable[[str], None]):
    killed_at: Counter[tuple[str, str]] = Counter()
    chance = random.Random(20)
    began = time.monotonic()
    with Pair(settings_in(folder)) as pair, producing(pair.settings.address, threads=3, pause_s=0.3) as producers:
        for part, point in ROUNDS:
            victim = pair.running[part]
            if point == "any":
                where = at_any_moment(pair, victim, chance.random())
            else:
                where = standing_at(pair, victim, point, batches=chance.randrange(4))
            victim.kill()
            killed_at[part, point] += 1
            report(f"round {killed_at.total()}: killed {part} (pid {victim.pid}) {where}")
            pair.start(part)
        acknowledged = all_acknowledged(producers)
        pair.settle()
        pair.stop()
    records = audit(pair.settings, acknowledged)
    report(f"{len(acknowledged.events)} events acknowledged, {acknowledged.unanswered} posts sent again, {len(records)} records in the log")
    report(f"{killed_at.total()} rounds in {time.monotonic() - began:.0f} s")
    assert killed_at.total() >= 20
    assert killed_at["pipeline", "commit"] >= 5
    assert sum(killed_at["api", point] for point in IN_AN_APPEND) >= 5
    twice = [event for event, times in Counter(record.event_id for record in records.values()).items() if times > 1]
    assert twice, "no event was sent again after it had become durable"
