"""Polling: what is kept of an observation, what is delivered, what becomes of failures."""

import json
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.sources import scripted
from tests.sources.scripted import SameJob, SameNamespace, Unseen

from lineage_bridge.errors import ConfigError, NotFoundError, RequestError, UnavailableError, UnreachableError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.ports.sources import OutboxMessage
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

SECOND = 1_000_000


class World:
    """A book, a clock, and the parcels that arrived."""

    def __init__(self, folder: Path, in_file: dict) -> None:
        self.now = 1_795_000_000 * SECOND
        self.book = SourceRepository(StateDatabase(folder / "state.db"))
        self.desk = SourceService(in_file, self.book, kinds=scripted.KINDS)
        self.arrived: list[OutboxMessage] = []
        self.away, self.looks = False, 0
        self.poller = self.fresh()

    def fresh(self, **more: Any) -> Poller:
        return Poller(self.records, self.book, self.take, lambda: self.now, kinds=scripted.KINDS, **more)

    def records(self) -> list[SourceRecord]:
        self.looks += 1
        return self.desk.records()

    def take(self, parcel: OutboxMessage) -> None:
        if self.away:
            raise UnavailableError("away")
        self.arrived.append(parcel)

    def poll(self, name: str) -> None:
        self.poller.poll(self.desk.record(name))

    def jobs(self) -> list[str]:
        events = [event for parcel in self.arrived if parcel.path.endswith("/lineage") for event in json.loads(parcel.body)]
        return [event["job"]["name"] for event in events]


@pytest.fixture
def world(tmp_path: Path, scripts: dict) -> World:
    made = World(tmp_path, {"filed": {"kind": "scripted", "system": "f"}})
    made.desk.add("one", "scripted", {"system": "a", "interval_s": 10}, replace=False)
    scripts["f"] = [((), (), ())]
    return made


def test_snapshot_and_events_are_kept_together_and_delivered_once(world: World, scripts: dict):
    scripts["a"] = [(["x", "y"], (), ()), (["z"], (), ())]
    world.away = True
    world.poll("one")
    with pytest.raises(UnavailableError):
        world.poller.deliver()
    world.away = False
    assert world.fresh().deliver() == 1
    world.poll("one")
    assert (world.poller.deliver(), world.poller.deliver()) == (1, 0)
    assert world.jobs() == ["x", "y", "z"]
    assert [before for before, _ in scripted.SEEN["a"]] == [None, {"poll": 1}]
    state = world.desk.record("one").state
    assert (state.polls, state.events, state.failures, state.due_us) == (2, 3, 0, world.now + 10 * SECOND)


def test_a_parcel_that_did_not_arrive_is_sent_again_with_the_same_bytes(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    world.poll("one")
    first = world.book.pending_messages(10)
    world.away = True
    with pytest.raises(UnavailableError):
        world.poller.deliver()
    assert world.book.pending_messages(10) == first


def test_nothing_is_polled_while_too_much_waits(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    world.away = True
    stop = threading.Event()
    running = threading.Thread(target=world.fresh(tick_s=0.01, most_pending=2).run, args=(stop,))
    running.start()
    while world.book.count_pending() < 2 and running.is_alive():
        world.now += 60 * SECOND
        stop.wait(0.05)
    world.now += 3600 * SECOND
    looks = world.looks
    while world.looks < looks + 20 and running.is_alive():
        stop.wait(0.01)
    stop.set()
    running.join(20)
    assert (world.book.count_pending(), world.looks >= looks + 20) == (2, True)


def test_many_events_travel_in_order_some_at_a_time(world: World, scripts: dict):
    scripts["a"] = [([f"j{number}" for number in range(2500)], (), ())]
    world.poll("one")
    assert world.poller.deliver() == 3
    assert world.jobs() == [f"j{number}" for number in range(2500)]


def test_a_failure_keeps_the_snapshot_and_says_since_when(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ()), UnreachableError("nobody home", "knock"), UnreachableError("still nobody"), (["y"], (), ())]
    for wait_s in (0, 10, 20, 30):
        world.now += wait_s * SECOND
        world.poll("one")
        if wait_s == 20:
            failing = world.desk.record("one").state
    assert (failing.failures, failing.error, failing.failing_since_us) == (2, "still nobody", world.now - 50 * SECOND)
    assert failing.due_us == (failing.tried_us or 0) + 20 * SECOND, "a source that fails is asked less often"
    state = world.desk.record("one").state
    assert (state.failures, state.failing_since_us, state.error) == (0, None, "still nobody")
    assert [before for before, _ in scripted.SEEN["a"]][-1] == {"poll": 1}


def test_a_fault_of_ours_stops_no_other_source(world: World, scripts: dict):
    scripts["a"] = [ZeroDivisionError("oops")]
    world.poll("one")
    assert world.desk.record("one").state.error == "ZeroDivisionError: oops"


def test_settings_that_cannot_be_any_more_are_a_failure_like_others(world: World):
    world.book.save("one", "scripted", {"system": "a", "interval_s": "often"})
    world.poll("one")
    state = world.desk.record("one").state
    assert "interval_s" in state.error
    assert state.due_us == world.now + 60 * SECOND


def test_what_cannot_be_kept_is_a_failure_and_not_silence(world: World, scripts: dict):
    scripts["a"] = [([object()], (), ())]
    world.poll("one")
    state = world.desk.record("one").state
    assert (state.failures, state.polls) == (1, 1)
    assert not world.book.pending_messages(1)


def test_a_delivery_that_breaks_ends_the_poller(world: World, scripts: dict, monkeypatch: pytest.MonkeyPatch):
    scripts["a"] = [((), (), ())]

    def broken(limit: int) -> list[OutboxMessage]:
        raise OSError(f"{limit} parcels cannot be read")

    monkeypatch.setattr(world.book, "pending_messages", broken)
    with pytest.raises(OSError, match="cannot be read"):
        world.poller.run(threading.Event())


def test_what_is_unseen_keeps_its_time_while_it_stands(world: World, scripts: dict):
    scripts["a"] = [
        ((), (), [Unseen("topics", "refused")]),
        ((), (), [Unseen("topics", "cut off"), Unseen("groups", "refused")]),
        ((), (), []),
        ((), (), [Unseen("topics", "refused")]),
    ]
    began, seen = world.now, []
    for _ in range(4):
        world.poll("one")
        seen.append({unseen.what: (unseen.why, (unseen.since_us - began) // SECOND) for unseen in world.desk.record("one").state.unseen})
        world.now += 60 * SECOND
    assert seen == [
        {"topics": ("refused", 0)},
        {"topics": ("cut off", 0), "groups": ("refused", 60)},
        {},
        {"topics": ("refused", 180)},
    ]


def test_names_that_are_one_become_aliases_with_evidence(world: World, scripts: dict):
    scripts["a"] = [((), [SameJob("n", "a", "m", "b", "seen"), SameNamespace("kafka://a:1", "kafka://b:1", "one cluster")], ())]
    world.poll("one")
    world.poller.deliver()
    (parcel,) = world.arrived
    assert parcel.path == "/api/v1/operations/alias"
    assert json.loads(parcel.body) == {
        "aliases": [
            {"entity": "job", "a": {"namespace": "n", "name": "a"}, "b": {"namespace": "m", "name": "b"}, "evidence": "seen"},
            {"a": {"namespace": "kafka://a:1"}, "b": {"namespace": "kafka://b:1"}, "evidence": "one cluster"},
        ]
    }


def test_sources_know_what_others_saw(world: World, scripts: dict):
    scripts["a"] = [((), (), ())]
    world.poll("filed")
    world.poll("one")
    world.poll("one")
    known = [{(cluster.id, cluster.namespace) for cluster in around.clusters} for _, around in scripted.SEEN["a"]]
    filed = ("1", "kafka://f:9092")
    assert known == [{filed}, {filed, ("1", "kafka://a:9092")}]


def test_a_snapshot_that_cannot_be_read_stops_no_other_source(world: World, scripts: dict, monkeypatch: pytest.MonkeyPatch):
    scripts["a"] = [(["x"], (), ())]
    world.poll("filed")
    monkeypatch.setattr(scripted.Scripted, "shared_metadata", lambda _, snapshot: snapshot["absent"])
    world.poll("one")
    assert world.desk.record("one").state.failures == 0


def test_another_system_is_not_compared_with_the_one_before(world: World, scripts: dict):
    scripts["a"] = scripts["b"] = [((), (), ())]
    world.poll("one")
    world.desk.add("one", "scripted", {"system": "b"}, replace=True)
    world.poll("one")
    assert [before for before, _ in scripted.SEEN["b"]] == [None]


def test_a_source_removed_during_its_poll_leaves_nothing(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ()), (["y"], (), ())]
    world.poll("one")
    record = world.desk.record("one")
    world.desk.remove("one")
    world.poller.poll(record)
    assert "one" not in world.book.states()
    assert [json.loads(parcel.body)[0]["job"]["name"] for parcel in world.book.pending_messages(10)] == ["x"]


def test_a_pause_during_a_poll_counts(world: World, scripts: dict):
    scripts["a"] = [((), (), ())]
    record = world.desk.record("one")
    world.desk.pause("one", paused=True)
    world.poller.poll(record)
    assert world.desk.record("one").state.paused
    with pytest.raises(RequestError, match="paused"):
        world.desk.poll("one")
    assert not world.desk.pause("one", paused=False).state.paused


def test_it_runs_by_itself_and_finishes_what_it_began(world: World, scripts: dict):
    polled = threading.Event()
    scripts["a"] = [(["x"], (), ())]
    world.desk.add("two", "scripted", {"system": "b"}, replace=False)
    world.desk.pause("two", paused=True)
    scripts["b"] = [(["never"], (), ())]
    stop = threading.Event()
    running = threading.Thread(target=world.fresh(tick_s=0.01).run, args=(stop,))
    running.start()
    while not polled.wait(0.05) and running.is_alive():
        if world.desk.record("one").state.polls and world.desk.record("filed").state.polls:
            polled.set()
    stop.set()
    running.join(20)
    assert not running.is_alive()
    assert world.jobs() == ["x"]


def test_what_cannot_be_is_refused_with_its_setting(world: World):
    refused = {
        ("a b", "scripted"): {"system": "x"},
        ("new", "unheard"): {},
        ("new", "scripted"): {"sistem": "x"},
        ("newer", "scripted"): {"system": "x", "password": "hunter2"},
    }
    for (name, kind), settings in refused.items():
        with pytest.raises(ConfigError) as error:
            world.desk.add(name, kind, settings, replace=False)
        assert "hunter2" not in str(error.value)
    with pytest.raises(RequestError, match="already"):
        world.desk.add("one", "scripted", {"system": "x"}, replace=False)
    with pytest.raises(RequestError, match="settings file"):
        world.desk.add("filed", "scripted", {"system": "x"}, replace=True)
    with pytest.raises(RequestError, match="settings file"):
        world.desk.remove("filed")
    with pytest.raises(NotFoundError):
        world.desk.poll("nobody")
    with pytest.raises(ConfigError, match="system"):
        SourceService({"bad": {"kind": "scripted"}}, world.book, kinds=scripted.KINDS).check_file()


def test_a_test_tells_each_step_and_what_failed(world: World):
    assert [check.works for check in world.desk.test("one")] == [True]
    world.desk.add("one", "scripted", {"system": "a", "password": "${env:NONE_SUCH}"}, replace=True)
    assert [(check.step, check.works, check.hint) for check in world.desk.test("one")] == [
        ("reach", True, ""),
        ("reach", False, "mind the step"),
    ]


def due(world: World) -> list[str]:
    return [record.name for record in world.poller._due({})]


def test_a_source_that_notices_changes_is_polled_early_unless_it_fails(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ()), UnreachableError("away")]
    for name in ("one", "filed"):
        world.poll(name)
    assert due(world) == []
    scripted.NOTICED["a"] = 3
    assert due(world) == []
    world.now += 4 * SECOND
    assert due(world) == []
    world.now += 1 * SECOND
    assert due(world) == ["one"]
    world.poll("one")
    world.now += 1 * SECOND
    assert due(world) == []


def test_a_change_noticed_while_another_looks_is_not_forgotten(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    mine = [True]
    world.poller = world.fresh(hold_source=lambda _: nullcontext(mine[0]))
    for name in ("one", "filed"):
        world.poll(name)
    scripted.NOTICED["a"] = 1
    assert due(world) == []
    world.now += 5 * SECOND
    for mine[0], left in ((False, ["one"]), (True, [])):
        assert due(world) == ["one"]
        world.poller.poll_locked(world.desk.record("one"))
        assert due(world) == left


def test_who_is_polled_no_more_is_let_go(world: World, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    for name in ("one", "filed"):
        world.poll(name)
    assert due(world) == []
    scripted.CLOSED.clear()
    assert due(world) == []
    assert not scripted.CLOSED
    world.desk.pause("one", paused=True)
    assert due(world) == []
    assert scripted.CLOSED == ["a"]
