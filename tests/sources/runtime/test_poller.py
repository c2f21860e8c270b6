"""The poller: what is stored of an observation, what is delivered, and how failures are handled."""

import json
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.servers.collector import recording
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


class Harness:
    """A poller with a repository, a clock, and a receiver that keeps the messages that arrived."""

    def __init__(self, folder: Path, in_file: dict) -> None:
        self.now = 1_795_000_000 * SECOND
        self.repository = SourceRepository(StateDatabase(folder / "state.db"))
        self.service = SourceService(in_file, self.repository, kinds=scripted.KINDS)
        self.arrived: list[OutboxMessage] = []
        self.is_away, self.listings = False, 0
        self.poller = self.new_poller()

    def new_poller(self, **more: Any) -> Poller:
        return Poller(self.records, self.repository, self.receive, lambda: self.now, kinds=scripted.KINDS, **more)

    def records(self) -> list[SourceRecord]:
        self.listings += 1
        return self.service.records()

    def receive(self, message: OutboxMessage) -> None:
        if self.is_away:
            raise UnavailableError("away")
        self.arrived.append(message)

    def poll(self, name: str) -> None:
        self.poller.poll(self.service.record(name))

    def jobs(self) -> list[str]:
        events = [event for message in self.arrived if message.path.endswith("/lineage") for event in json.loads(message.body)]
        return [event["job"]["name"] for event in events]


@pytest.fixture
def harness(tmp_path: Path, scripts: dict) -> Harness:
    made = Harness(tmp_path, {"filed": {"kind": "scripted", "system": "f"}})
    made.service.add("one", "scripted", {"system": "a", "interval_s": 10}, replace=False)
    scripts["f"] = [((), (), ())]
    return made


def test_snapshot_and_events_are_stored_together_and_delivered_once(harness: Harness, scripts: dict):
    scripts["a"] = [(["x", "y"], (), ()), (["z"], (), ())]
    harness.is_away = True
    harness.poll("one")
    with pytest.raises(UnavailableError):
        harness.poller.deliver()
    harness.is_away = False
    assert harness.new_poller().deliver() == 1
    harness.poll("one")
    assert (harness.poller.deliver(), harness.poller.deliver()) == (1, 0)
    assert harness.jobs() == ["x", "y", "z"]
    assert [before for before, _ in scripted.SEEN["a"]] == [None, {"poll": 1}]
    state = harness.service.record("one").state
    assert (state.polls, state.events, state.failures, state.due_us) == (2, 3, 0, harness.now + 10 * SECOND)


def test_a_message_that_did_not_arrive_is_sent_again_with_the_same_bytes(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    harness.poll("one")
    first = harness.repository.pending_messages(10)
    harness.is_away = True
    with pytest.raises(UnavailableError):
        harness.poller.deliver()
    assert harness.repository.pending_messages(10) == first


def test_no_source_is_polled_while_the_outbox_is_full(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    harness.is_away = True
    stop = threading.Event()
    running = threading.Thread(target=harness.new_poller(tick_s=0.01, most_pending=2).run, args=(stop,))
    running.start()
    while harness.repository.count_pending() < 2 and running.is_alive():
        harness.now += 60 * SECOND
        stop.wait(0.05)
    harness.now += 3600 * SECOND
    listings = harness.listings
    while harness.listings < listings + 20 and running.is_alive():
        stop.wait(0.01)
    stop.set()
    running.join(20)
    assert (harness.repository.count_pending(), harness.listings >= listings + 20) == (2, True)


def test_many_events_are_delivered_in_order_and_in_batches(harness: Harness, scripts: dict):
    scripts["a"] = [([f"j{number}" for number in range(2500)], (), ())]
    harness.poll("one")
    assert harness.poller.deliver() == 3
    assert harness.jobs() == [f"j{number}" for number in range(2500)]


def test_a_failure_keeps_the_snapshot_and_its_first_time(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ()), UnreachableError("nobody home", "knock"), UnreachableError("still nobody"), (["y"], (), ())]
    for wait_s in (0, 10, 20, 30):
        harness.now += wait_s * SECOND
        harness.poll("one")
        if wait_s == 20:
            failing = harness.service.record("one").state
    assert (failing.failures, failing.error, failing.failing_since_us) == (2, "still nobody", harness.now - 50 * SECOND)
    assert failing.due_us == (failing.tried_us or 0) + 20 * SECOND, "a source that fails is asked less often"
    state = harness.service.record("one").state
    assert (state.failures, state.failing_since_us, state.error) == (0, None, "still nobody")
    assert [before for before, _ in scripted.SEEN["a"]][-1] == {"poll": 1}


def test_an_unexpected_error_is_recorded_as_a_failure(harness: Harness, scripts: dict):
    scripts["a"] = [ZeroDivisionError("oops")]
    harness.poll("one")
    assert harness.service.record("one").state.error == "ZeroDivisionError: oops"


def test_settings_that_became_invalid_are_a_failure(harness: Harness):
    harness.repository.save("one", "scripted", {"system": "a", "interval_s": "often"})
    harness.poll("one")
    state = harness.service.record("one").state
    assert "interval_s" in state.error
    assert state.due_us == harness.now + 60 * SECOND


def test_an_observation_that_cannot_be_stored_is_a_failure(harness: Harness, scripts: dict):
    scripts["a"] = [([object()], (), ())]
    harness.poll("one")
    state = harness.service.record("one").state
    assert (state.failures, state.polls) == (1, 1)
    assert not harness.repository.pending_messages(1)


def test_a_fault_of_the_store_ends_the_poller(harness: Harness, scripts: dict, monkeypatch: pytest.MonkeyPatch):
    scripts["a"] = [((), (), ())]

    def broken(limit: int) -> list[OutboxMessage]:
        raise OSError(f"{limit} messages cannot be read")

    monkeypatch.setattr(harness.repository, "pending_messages", broken)
    with pytest.raises(OSError, match="cannot be read"):
        harness.poller.run(threading.Event())


def test_what_is_unseen_keeps_the_time_it_was_first_unseen(harness: Harness, scripts: dict):
    scripts["a"] = [
        ((), (), [Unseen("topics", "refused")]),
        ((), (), [Unseen("topics", "cut off"), Unseen("groups", "refused")]),
        ((), (), []),
        ((), (), [Unseen("topics", "refused")]),
    ]
    began, seen = harness.now, []
    for _ in range(4):
        harness.poll("one")
        seen.append(
            {unseen.what: (unseen.why, (unseen.since_us - began) // SECOND) for unseen in harness.service.record("one").state.unseen}
        )
        harness.now += 60 * SECOND
    assert seen == [
        {"topics": ("refused", 0)},
        {"topics": ("cut off", 0), "groups": ("refused", 60)},
        {},
        {"topics": ("refused", 180)},
    ]


def test_same_jobs_and_namespaces_are_delivered_as_aliases_with_evidence(harness: Harness, scripts: dict):
    scripts["a"] = [((), [SameJob("n", "a", "m", "b", "seen"), SameNamespace("kafka://a:1", "kafka://b:1", "one cluster")], ())]
    harness.poll("one")
    harness.poller.deliver()
    (message,) = harness.arrived
    assert message.path == "/api/v1/operations/alias"
    assert json.loads(message.body) == {
        "aliases": [
            {"entity": "job", "a": {"namespace": "n", "name": "a"}, "b": {"namespace": "m", "name": "b"}, "evidence": "seen"},
            {"a": {"namespace": "kafka://a:1"}, "b": {"namespace": "kafka://b:1"}, "evidence": "one cluster"},
        ]
    }


def test_sources_are_given_the_metadata_of_others(harness: Harness, scripts: dict):
    scripts["a"] = [((), (), ())]
    harness.poll("filed")
    harness.poll("one")
    harness.poll("one")
    clusters = [{(cluster.id, cluster.namespace) for cluster in shared.clusters} for _, shared in scripted.SEEN["a"]]
    filed = ("1", "kafka://f:9092")
    assert clusters == [{filed}, {filed, ("1", "kafka://a:9092")}]


def test_a_snapshot_that_cannot_be_read_stops_no_other_source(harness: Harness, scripts: dict, monkeypatch: pytest.MonkeyPatch):
    scripts["a"] = [(["x"], (), ())]
    harness.poll("filed")
    monkeypatch.setattr(scripted.Scripted, "shared_metadata", lambda _, snapshot: snapshot["absent"])
    harness.poll("one")
    assert harness.service.record("one").state.failures == 0


def test_another_system_is_not_compared_with_the_one_before(harness: Harness, scripts: dict):
    scripts["a"] = scripts["b"] = [((), (), ())]
    harness.poll("one")
    harness.service.add("one", "scripted", {"system": "b"}, replace=True)
    harness.poll("one")
    assert [before for before, _ in scripted.SEEN["b"]] == [None]


def test_a_source_removed_during_its_poll_leaves_nothing(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ()), (["y"], (), ())]
    harness.poll("one")
    record = harness.service.record("one")
    harness.service.remove("one")
    harness.poller.poll(record)
    assert "one" not in harness.repository.states()
    assert [json.loads(message.body)[0]["job"]["name"] for message in harness.repository.pending_messages(10)] == ["x"]


def test_a_pause_during_a_poll_is_kept(harness: Harness, scripts: dict):
    scripts["a"] = [((), (), ())]
    record = harness.service.record("one")
    harness.service.pause("one", paused=True)
    harness.poller.poll(record)
    assert harness.service.record("one").state.paused
    with pytest.raises(RequestError, match="paused"):
        harness.service.poll("one")
    assert not harness.service.pause("one", paused=False).state.paused


def test_it_polls_in_the_background_and_delivers_everything_before_it_stops(harness: Harness, scripts: dict):
    polled = threading.Event()
    scripts["a"] = [(["x"], (), ())]
    harness.service.add("two", "scripted", {"system": "b"}, replace=False)
    harness.service.pause("two", paused=True)
    scripts["b"] = [(["never"], (), ())]
    stop = threading.Event()
    running = threading.Thread(target=harness.new_poller(tick_s=0.01).run, args=(stop,))
    running.start()
    while not polled.wait(0.05) and running.is_alive():
        if harness.service.record("one").state.polls and harness.service.record("filed").state.polls:
            polled.set()
    stop.set()
    running.join(20)
    assert not running.is_alive()
    assert harness.jobs() == ["x"]


def test_a_clock_that_was_set_back_delays_no_poll(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ()), (["y"], (), ())]
    harness.poll("one")
    harness.poll("filed")
    harness.now -= 10 * 86_400 * SECOND
    stop = threading.Event()
    running = threading.Thread(target=harness.new_poller(tick_s=0.01).run, args=(stop,))
    running.start()
    listings = harness.listings
    while harness.service.record("one").state.polls < 2 and harness.listings < listings + 200 and running.is_alive():
        stop.wait(0.05)
    listings = harness.listings
    while harness.listings < listings + 20 and running.is_alive():
        stop.wait(0.01)
    stop.set()
    running.join(20)
    assert [harness.service.record(name).state.polls for name in ("one", "filed")] == [2, 2]


def test_invalid_sources_are_refused_and_the_setting_is_named(harness: Harness):
    refused = {
        ("a b", "scripted"): {"system": "x"},
        ("new", "unheard"): {},
        ("new", "scripted"): {"sistem": "x"},
        ("newer", "scripted"): {"system": "x", "password": "hunter2"},
    }
    for (name, kind), settings in refused.items():
        with pytest.raises(ConfigError) as error:
            harness.service.add(name, kind, settings, replace=False)
        assert "hunter2" not in str(error.value)
    with pytest.raises(RequestError, match="already"):
        harness.service.add("one", "scripted", {"system": "x"}, replace=False)
    with pytest.raises(RequestError, match="settings file"):
        harness.service.add("filed", "scripted", {"system": "x"}, replace=True)
    with pytest.raises(RequestError, match="settings file"):
        harness.service.remove("filed")
    with pytest.raises(NotFoundError):
        harness.service.poll("nobody")
    with pytest.raises(ConfigError, match="system"):
        SourceService({"bad": {"kind": "scripted"}}, harness.repository, kinds=scripted.KINDS).check_file()


def test_a_test_reports_each_step_and_what_failed(harness: Harness):
    assert [check.works for check in harness.service.test("one")] == [True]
    harness.service.add("one", "scripted", {"system": "a", "password": "${env:NONE_SUCH}"}, replace=True)
    assert [(check.step, check.works, check.hint) for check in harness.service.test("one")] == [
        ("reach", True, ""),
        ("reach", False, "mind the step"),
    ]


def due(harness: Harness) -> list[str]:
    return [record.name for record in harness.poller._due({})]


def test_a_source_that_notices_changes_is_polled_early_unless_it_fails(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ()), UnreachableError("away")]
    for name in ("one", "filed"):
        harness.poll(name)
    assert due(harness) == []
    scripted.NOTICED["a"] = 3
    assert due(harness) == []
    harness.now += 4 * SECOND
    assert due(harness) == []
    harness.now += 1 * SECOND
    assert due(harness) == ["one"]
    harness.poll("one")
    harness.now += 1 * SECOND
    assert due(harness) == []


def test_a_change_noticed_while_another_process_polls_is_not_forgotten(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    mine = [True]
    harness.poller = harness.new_poller(hold_source=lambda _: nullcontext(mine[0]))
    for name in ("one", "filed"):
        harness.poll(name)
    scripted.NOTICED["a"] = 1
    assert due(harness) == []
    harness.now += 5 * SECOND
    for mine[0], left in ((False, ["one"]), (True, [])):
        assert due(harness) == ["one"]
        harness.poller.poll_locked(harness.service.record("one"))
        assert due(harness) == left


def test_observers_of_paused_sources_are_closed(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ())]
    for name in ("one", "filed"):
        harness.poll(name)
    assert due(harness) == []
    scripted.CLOSED.clear()
    assert due(harness) == []
    assert not scripted.CLOSED
    harness.service.pause("one", paused=True)
    assert due(harness) == []
    assert scripted.CLOSED == ["a"]


def test_a_poll_that_fails_is_a_failed_span_without_its_message(harness: Harness, scripts: dict):
    scripts["a"] = [(["x"], (), ()), UnreachableError("alice@example.com does not answer", "start it")]
    with recording() as collector:
        harness.poll("one")
        harness.poll("one")
    first, second = collector.named("poll source", 2)
    assert first.attributes == {"lineage_bridge.source": "one", "lineage_bridge.kind": "scripted"}
    assert [(first.is_failed, second.is_failed), second.attributes["error.type"]] == [(False, True), "UnreachableError"]
    assert "alice" not in second.text
