"""Targets that follow the change feed: what changes is published, whatever fails in between, and nothing is lost."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, Other
from tests.catalogs.places import LOCAL, Place, make_place
from tests.catalogs.test_targets import CrashError, CrashingLedger
from tests.events import RUNS, dataset, job_event, run_event
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.continuous.attempts import Attempts
from lineage_bridge.catalogs.continuous.feed import changes_behind
from lineage_bridge.catalogs.continuous.follower import Attempt, Follower, Following
from lineage_bridge.catalogs.continuous.manager import basis_of
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.ports.continuous import FollowersReport
from lineage_bridge.store.state.targets import PublicationLedger
from lineage_bridge.store.write.apply import GraphWriter

SECOND = 1_000_000


@dataclass
class Followed:
    """The follower of the target `there` of a server, without a thread; each makes a new one, as a new process does."""

    server: Server
    complete: bool = True
    stopped: bool = False
    attempts: list[bool] = field(default_factory=list)
    now: Follower | None = None

    def again(self) -> Follower:
        (target,) = [target for target in self.server.targets.configured() if target.name == "there"]
        settings = self.server.targets.target("there").settings
        clock = lambda: self.server.parts.now_us  # noqa: E731 - an argument twice
        behind, repository = partial(changes_behind, self.server.pool.reader), self.server.follow_repository
        following = Following(behind, self.publish, lambda: self.complete, repository, clock, lambda: 1.0)
        self.now = Follower("there", basis_of(target), settings.debounce_s, settings.max_wait_s, following)
        return self.now

    def publish(self, complete: bool) -> Attempt:
        self.attempts.append(complete)
        server = self.server
        ledger = server.publication_ledger(server.state)
        attempts = Attempts(
            server.pool.reader,
            ledger,
            server.follow_repository,
            graph_id(server.key_bytes),
            lambda: server.parts.now_us,
            lambda _, seconds: server.wait(seconds),
            7,
        )
        return attempts.publish(server.targets.target("there"), lambda: self.stopped, complete=complete)

    def after(self, seconds: float) -> str:
        """What the follower does when it looks that much later."""
        assert self.now is not None
        self.server.parts.now_us += int(seconds * SECOND)
        assert self.now.step()
        return self.now.activity


@pytest.fixture
def followed(ours: Server) -> Followed:
    return Followed(ours)


def add(server: Server, place: Place, **settings: Any) -> None:
    server.targets.add("there", place.kind, {**place.settings, "publish": "continuous", **settings}, replace=True)


def change(server: Server, job: str = "declared", source: str = "d", target: str = "e") -> None:
    server.parts.now_us += SECOND
    server.send(job_event(job, time_us=server.parts.now_us, inputs=[dataset(source)], outputs=[dataset(target)]))
    server.fold()


@pytest.fixture(params=LOCAL)
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    return make_place(request.param, request, ours)


def test_what_changes_is_published_once_it_is_quiet(ours: Server, place: Place, followed: Followed) -> None:
    ours.fold()
    add(ours, place)
    followed.again()
    assert followed.after(0) == "idle"
    assert place.edges() == EDGES
    assert [followed.after(1000), followed.after(1000)] == ["idle", "idle"]
    change(ours)
    assert [followed.after(1), followed.after(4)] == ["pending", "pending"]
    assert followed.after(1) == "idle"
    assert place.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e")}
    assert followed.attempts == [True, False]
    state = ours.follow_repository.state("there")
    assert state is not None
    assert (state.done, state.failed, state.operations) == (2, 0, 4 + place.has_datasets)


def test_changes_that_do_not_stop_are_published_all_the_same(ours: Server, followed: Followed) -> None:
    ours.fold()
    ours.targets.add("there", "files", {"publish": "continuous", "debounce_s": 5, "max_wait_s": 20}, replace=True)
    followed.again()
    followed.after(0)
    for number in range(9):
        change(ours, f"job-{number}")
        followed.after(2)
    assert followed.attempts == [True, False]


def test_a_target_that_is_down_for_long_loses_nothing(
    ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed, request: pytest.FixtureRequest
) -> None:
    ours.fold()
    place = make_place("openlineage-jobs", request, ours)
    proxy = faulty(other.url)
    add(ours, place.behind(proxy), tries=1)
    followed.again()
    followed.after(0)
    proxy.refuse()
    change(ours)
    assert [followed.after(0), followed.after(6)] == ["pending", "retrying"]
    before = ours.follow_repository.state("there")
    assert before is not None
    assert (before.code, before.failures, before.due_us - ours.parts.now_us) == ("unreachable", 1, 2 * SECOND)
    for _ in range(12):
        followed.again()  # as after a restart
        followed.after(301)
    change(ours, "later", "a", "z")
    # The feed keeps the newest changes only: those that the cursor leads to are no longer there.
    writer = GraphWriter(ours.folder / "graph.db", ours.names)
    writer.connection.execute("DELETE FROM change WHERE seq < (SELECT max(seq) FROM change)")
    writer.close()
    proxy.mend()
    followed.complete = False
    assert followed.after(301) == "waiting"
    followed.complete = True
    assert followed.after(301) == "idle"
    assert followed.attempts[-1]
    assert place.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e"), ("later", "a", "z")}
    after = ours.follow_repository.state("there")
    assert after is not None
    assert (after.failures, after.code, after.failed) == (0, "", before.failed + 12)


def test_a_target_that_asks_to_wait_is_left_in_peace_for_so_long(
    ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed
) -> None:
    ours.fold()
    proxy = faulty(other.url)
    proxy.answer(429, "/lineage", times=1, headers={"Retry-After": "3600"})
    ours.targets.add("there", "openlineage", {"url": proxy.url, "publish": "continuous", "at_once": 1}, replace=True)
    followed.again()
    assert followed.after(0) == "retrying"
    state = ours.follow_repository.state("there")
    assert state is not None
    assert (state.code, state.due_us - ours.parts.now_us) == ("rate_limited", 3601 * SECOND)
    followed.again()
    assert [followed.after(3600), len(followed.attempts)] == ["retrying", 1]
    assert followed.after(1) == "idle"


@pytest.mark.parametrize("fails", [True, False])
def test_a_clock_that_was_set_back_delays_no_publication(
    ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed, *, fails: bool
) -> None:
    ours.fold()
    proxy = faulty(other.url)
    if fails:
        proxy.answer(429, "/lineage", times=1, headers={"Retry-After": "3600"})
    ours.targets.add("there", "openlineage", {"url": proxy.url, "publish": "continuous", "at_once": 1}, replace=True)
    followed.again()
    assert followed.after(0) == ("retrying" if fails else "idle")
    change(ours)
    assert followed.after(-10 * 86_400) == ("idle" if fails else "pending")
    assert followed.after(0 if fails else 6) == "idle"


def test_one_object_that_times_out_does_not_hold_up_what_changes_since(
    ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed, request: pytest.FixtureRequest
) -> None:
    ours.fold()
    place, proxy = make_place("openlineage-jobs", request, ours), faulty(other.url)
    add(ours, place.behind(proxy), at_once=1, tries=1, timeout_s=0.5)
    proxy.hang("/lineage", times=1)
    followed.again()
    assert followed.after(0) == "retrying"
    report = ours.follow_repository.report("there")
    assert report is not None
    assert (report.state, report.given_up, report.outcomes) == ("failed", False, {"done": 3, "failed": 1})
    assert [operation.code for operation in report.operations if operation.outcome == "failed"] == ["timed_out"]
    assert followed.after(3) == "idle"
    assert place.edges() == EDGES


def test_a_target_where_everything_times_out_is_given_up(
    ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed
) -> None:
    for number in range(6):
        ours.send(run_event(job=f"job-{number}", run=RUNS[3 + number % 2], inputs=[dataset("a")], outputs=[dataset(f"{number}")]))
    ours.fold()
    proxy = faulty(other.url)
    proxy.hang("/lineage")
    settings = {"url": proxy.url, "publish": "continuous", "at_once": 1, "tries": 1, "timeout_s": 0.3}
    ours.targets.add("there", "openlineage", settings, replace=True)
    followed.again()
    assert followed.after(0) == "retrying"
    report = ours.follow_repository.report("there")
    assert report is not None
    assert (report.given_up, report.outcomes["failed"], report.outcomes["not_tried"] > 0) == (True, 5, True)
    proxy.mend()


def test_one_object_that_cannot_be_read_does_not_hold_up_the_others(
    ours: Server, faulty: Callable[[str], Faulty], followed: Followed, request: pytest.FixtureRequest
) -> None:
    ours.fold()
    place = make_place("marquez", request, ours)
    proxy = faulty(place.settings["url"])
    add(ours, place.behind(proxy), at_once=1, tries=1, timeout_s=0.5)
    proxy.hang("/jobs/clean")
    followed.again()
    assert followed.after(0) == "retrying"
    report = ours.follow_repository.report("there")
    assert report is not None
    assert (report.given_up, report.outcomes) == (False, {"done": 3, "failed": 1})
    (failed,) = (operation for operation in report.operations if operation.outcome == "failed")
    assert (failed.action, failed.name, failed.code) == ("read", "clean", "timed_out")
    proxy.mend()
    assert followed.after(3) == "idle"
    assert place.edges() == EDGES


def test_an_idle_graph_costs_no_calls_and_a_change_reads_what_it_changes(
    ours: Server, faulty: Callable[[str], Faulty], followed: Followed, request: pytest.FixtureRequest
) -> None:
    ours.fold()
    place = make_place("marquez", request, ours)
    proxy = faulty(place.settings["url"])
    add(ours, place.behind(proxy), at_once=1)
    followed.again()
    followed.after(0)
    asked = len(proxy.requests)
    assert [followed.after(100) for _ in range(20)] == ["idle"] * 20
    assert len(proxy.requests) == asked
    change(ours)
    followed.after(0)
    followed.after(6)
    assert [request.split()[0] for request in proxy.requests[asked:]] == ["GET", "POST"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_after_a_crash_at_any_step_everything_is_published(
    ours: Server, followed: Followed, request: pytest.FixtureRequest, after: bool
) -> None:
    ours.fold()
    place = make_place("openlineage-jobs", request, ours)
    for crash_at in range(1, 10):
        add(ours, place, map_names={"*": f"{crash_at}-"})
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=after)
        followed.again()
        with pytest.raises(CrashError):
            followed.after(1)
        ours.publication_ledger = PublicationLedger
        followed.again()
        assert followed.after(1) == "idle"
        assert {edge for edge in place.edges() if edge[0].startswith(f"{crash_at}-")} == {
            (f"{crash_at}-{job}", f"{crash_at}-{source}", f"{crash_at}-{target}") for job, source, target in EDGES
        }


def test_what_left_the_graph_is_deleted_only_if_the_target_says_so(
    ours: Server, followed: Followed, request: pytest.FixtureRequest
) -> None:
    ours.fold()
    place = make_place("files", request, ours)
    add(ours, place)
    followed.again()
    followed.after(0)
    add(ours, place, exclude_namespaces=["jobs"])
    followed.again()
    followed.after(0)
    assert place.edges() == EDGES
    add(ours, place, exclude_namespaces=["jobs"], prune=True)
    followed.again()
    followed.after(0)
    assert place.edges() == set()


def test_what_somebody_changed_is_reported_and_stays(ours: Server, followed: Followed, request: pytest.FixtureRequest) -> None:
    ours.fold()
    place = make_place("marquez", request, ours)
    add(ours, place)
    followed.again()
    followed.after(0)
    place.plant("declared")
    change(ours)
    followed.after(0)
    assert followed.after(6) == "idle"
    assert ("declared", "x", "y") in place.edges()
    item = ours.client.get("/api/v1/targets/there").json()["continuous"]
    assert (item["drift"], item["lag_changes"]) == (1, 0)


def test_a_target_that_was_removed_is_no_longer_followed(ours: Server, followed: Followed, request: pytest.FixtureRequest) -> None:
    ours.fold()
    add(ours, make_place("files", request, ours))
    follower = followed.again()
    assert follower.step()
    ours.targets.remove("there")
    change(ours)
    assert not follower.step()
    assert ours.follow_repository.state("there") is None


def test_how_far_it_lags_is_shown_everywhere(ours: Server, other: Other, faulty: Callable[[str], Faulty], followed: Followed) -> None:
    ours.fold()
    proxy = faulty(other.url)
    ours.targets.add("there", "openlineage", {"url": proxy.url, "publish": "continuous", "tries": 1}, replace=True)
    followed.again()
    followed.after(0)
    ready = ours.client.get("/api/v1/ready").json()
    assert (ready["ready"], ready["parts"]["targets"]["state"]) == (True, "failing")  # no process publishes
    ours.parts.followers = FollowersReport(7, ours.parts.now_us, {"there": "idle"})
    assert ours.client.get("/api/v1/ready").json()["parts"]["targets"] == {"state": "ok", "detail": "1 target: all changes are published"}
    proxy.answer(403)
    change(ours)
    followed.after(0)
    followed.after(30)
    ours.parts.followers = FollowersReport(7, ours.parts.now_us, {"there": "retrying"})
    ours.parts.pipeline = {"state": "running", "pid": 7, "beat_us": ours.parts.now_us, "error": None}
    item = ours.client.get("/api/v1/targets/there").json()["continuous"]
    assert (item["state"], item["lag_s"], item["last_error"]["code"]) == ("retrying", 30.0, "forbidden")
    assert item["lag_changes"] > 0
    ready = ours.client.get("/api/v1/ready").json()
    assert (ready["ready"], ready["parts"]["targets"]["state"]) == (True, "failing")
    assert "there (forbidden)" in ready["parts"]["targets"]["detail"]
    metrics = ours.client.get("/metrics").text
    labels = '{kind="openlineage",target="there"}'
    assert f"lineage_bridge_target_lag_seconds{labels} 30.0" in metrics
    assert f"lineage_bridge_target_up{labels} 0.0" in metrics
    assert 'lineage_bridge_target_publications_total{kind="openlineage",outcome="failed",target="there"} 1.0' in metrics
    report = ours.client.get("/api/v1/targets/there/publication", params={"continuous": True}).json()
    assert (report["state"], report["code"]) == ("failed", "forbidden")
