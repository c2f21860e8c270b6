"""Topics and streams take many records at once: after a crash at any step of the ledger, none is lost, and few are there twice."""

import itertools
from collections import defaultdict
from functools import partial
from typing import Any

import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place, everything, make_place
from tests.catalogs.test_targets import CrashError, CrashingLedger
from tests.events import dataset, job_event

from lineage_bridge.catalogs.kinds.kafka import KafkaTarget
from lineage_bridge.catalogs.kinds.kinesis.kinesis_target import KinesisTarget
from lineage_bridge.store.state.targets import PublicationLedger

PORTIONS = {"kafka": KafkaTarget.batch, "kinesis": KinesisTarget.batch}
OBJECTS = 4 + max(PORTIONS.values())
"""More than one portion."""


@pytest.mark.servers
@pytest.mark.parametrize("kind", PORTIONS)
def test_a_crash_loses_no_record_and_doubles_one_portion_at_most(request: pytest.FixtureRequest, ours: Server, kind: str) -> None:
    ours.parts.alive = False  # the process of the publication that crashed
    ours.send(*(job_event(f"job{number}", inputs=[dataset("a")], outputs=[dataset("b")]) for number in range(OBJECTS - 4)))
    place, doubles = make_place(kind, request, ours), list[int]()
    for crash_at in itertools.count(1):  # before writes of the ledger: the plan, each portion that begins, and each that was sent
        place = _emptied(request, place, f"crash-{kind}-{crash_at}")
        added(ours, place, at_once=1)
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=False)
        try:
            published(ours)
        except CrashError:
            pass
        else:
            break
        finally:
            ours.publication_ledger = PublicationLedger
        ours.parts.now_us += 5_000_000
        report = published(ours)
        assert (report.state, set(report.outcomes)) == ("done", {"done"})
        found = _records(request, place)
        assert len(found) == OBJECTS
        assert all(len({msgspec.json.encode({**event, "eventTime": ""}) for event in events}) == 1 for events in found.values())
        doubles.append(sum(len(events) - 1 for events in found.values()))
    first = PORTIONS[kind]
    assert doubles == [0, 0, first, 0, OBJECTS - first]


def _emptied(request: pytest.FixtureRequest, place: Place, name: str) -> Place:
    """The same, with another topic or stream."""
    if place.kind == "kafka":
        request.getfixturevalue("kafka").create_topics(name)
        return Place("kafka", {**place.settings, "topic": name}, set)
    place.more["there"].create(name, 2)
    return Place("kinesis", {**place.settings, "stream": name}, set, more=place.more)


def _records(request: pytest.FixtureRequest, place: Place) -> dict[str, list[Any]]:
    """All events, by their jobs' and datasets' names."""
    if place.kind == "kafka":
        bodies = everything(request.getfixturevalue("kafka"), place.settings["topic"])
    else:
        bodies = [record["Data"] for record in place.more["there"].records(place.settings["stream"])]
    found = defaultdict[str, list[Any]](list)
    for event in map(msgspec.json.decode, bodies):
        found[event.get("job", event.get("dataset"))["name"]].append(event)
    return found
