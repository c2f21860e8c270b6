"""A power loss while many producers post: what the API acknowledged before is in the log, once, where the answer said."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.crash.running.support import (
    SOON_S,
    SPARK_S,
    Asking,
    Process,
    Producer,
    all_acknowledged,
    audit_log,
    producing,
    settings_in,
    until,
)

LOSSES, CONNECTIONS = 3, 8
WRITTEN = 1000
"""Events that are acknowledged before a loss, at least."""


def count_acknowledged(producers: Sequence[Producer]) -> int:
    return sum(len(producer.acknowledged.events) for producer in producers)


def has_acknowledged(producers: Sequence[Producer], count: int) -> bool:
    return count_acknowledged(producers) >= count


def test_a_power_loss_takes_back_nothing_acknowledged(folder: Path, report: Callable[[str], None]):
    settings = settings_in(folder)
    api = Process("power", settings)
    with Asking(settings) as asking, producing(settings.address, CONNECTIONS, pause_s=0.001, stubborn=False) as producers:
        for number in range(LOSSES):
            until(asking.answers, SOON_S, "the API")
            until(partial(has_acknowledged, producers, count_acknowledged(producers) + WRITTEN), SPARK_S, "the events before the loss")
            api.kill()
            report(f"loss {number + 1}: killed api (pid {api.pid}) and what its disk had not synced, {CONNECTIONS} connections posting")
            api = Process("power", settings)
        until(asking.answers, SOON_S, "the API")
        acknowledged = all_acknowledged(producers)
    api.stop()
    records = audit_log(settings, acknowledged)
    report(
        f"{len(acknowledged.events)} events acknowledged, {acknowledged.unanswered} posts not answered, {len(records)} records in the log"
    )
    assert acknowledged.unanswered >= LOSSES
    times = Counter(record.event_id.hex() for record in records.values())
    assert [event for event in acknowledged.events if times[event] != 1] == []
