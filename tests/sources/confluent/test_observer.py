"""The observer with scripted planes and a stand-in for the control plane: each plane fails, ends and disappears independently."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.model.tasks import PlaneRecord
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.sources.common.observer import Observation, SameNamespace, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.common.stepwise import FAILED, NOT_OBSERVED, OBSERVED, SKIPPED, Selection
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import ConfluentSettings

OUT = EventBuilder("https://lineagebridge.dev/sources/scripted")
NOW = 1_750_000_000_000_000


def listed(*data: Any) -> Reply:
    return Reply(200, {"metadata": {}, "data": list(data)})


def cluster(name: str, server: str) -> dict[str, Any]:
    return {"id": name, "spec": {"display_name": name.upper(), "kafka_bootstrap_endpoint": f"SASL_SSL://{server}:9092"}}


class Org:
    """An organization with two environments. Tests change the clusters of each."""

    def __init__(self) -> None:
        self.clusters = {"env-1": [cluster("lkc-1", "a"), cluster("lkc-2", "b")], "env-2": [cluster("lkc-3", "b")]}
        self.environments = ["env-1", "env-2"]
        self.answers: dict[str, Any] = {}
        """Plane key to what its fetch returns: a list of topics, or an error."""
        self.asked: list[str] = []
        self.metadata_used: dict[str, SharedMetadata] = {}
        self.holding = threading.Event()
        self.holding.set()

    def api(self, request: Request) -> Reply:
        path = "/".join(request.parts)
        if path == "org/v2/environments":
            crn = "crn://confluent.cloud/organization=o-1/environment="
            return listed(*({"id": env, "display_name": env, "metadata": {"resource_name": crn + env}} for env in self.environments))
        return listed(*(self.clusters.get(request.query["environment"], []) if path == "cmk/v2/clusters" else []))

    def planes(self, context: PlaneContext) -> Planes:
        for cluster in context.observed.kafka_clusters:
            yield Scripted(context, cluster.scope, self, "topics", 1)
            yield Scripted(context, cluster.scope, self, "groups", 5)


class Scripted(Plane[tuple[str, ...]]):
    def __init__(self, context: PlaneContext, scope: str, org: Org, name: str, stage: int) -> None:
        super().__init__(context, scope)
        self.org = org
        self.name, self.stage = name, stage  # type: ignore[misc]  # one class plays several planes

    def unavailable_reason(self) -> str:
        return "no credential" if self.org.answers.get(self.key) is None else ""

    def fetch(self, before: Snapshot | None, now_us: int) -> tuple[str, ...]:  # noqa: ARG002  # a script needs neither
        self.org.holding.wait(10)
        assert self.settings.cloud is not None
        self.clients.rate_limiter(self.settings.cloud, "cloud").acquire()
        self.org.asked.append(self.key)
        answer = self.org.answers[self.key]
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer)

    def translate(self, fetched: tuple[str, ...], before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        self.org.metadata_used[self.key] = shared
        if "bug" in fetched:
            raise KeyError("bug")
        was = set((before or {}).get("topics", ()))
        events = [OUT.dataset_event(now_us, (self.scope, f"+{name}"), {}) for name in fetched if name not in was]
        events += [OUT.dataset_event(now_us, (self.scope, f"-{name}"), {}) for name in sorted(was - set(fetched))]
        return Observation({"topics": list(fetched)}, tuple(events), unseen=(Unseen("part", "hidden"),) if "part" in fetched else ())

    def empty_answer(self) -> tuple[str, ...]:
        return ()

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        topics = frozenset(snapshot["topics"])
        return SharedMetadata((ClusterMetadata(self.scope.rpartition("/")[2], f"confluent://{self.scope}", topics=topics),))


KEYS = [f"{plane} {scope}" for plane in ("groups", "topics") for scope in ("env-1/lkc-1", "env-1/lkc-2", "env-2/lkc-3")]


@pytest.fixture
def org(monkeypatch: pytest.MonkeyPatch) -> Org:
    org = Org()
    org.answers = {key: ["orders"] for key in KEYS}
    monkeypatch.setenv("SECRET", "hunter2")
    return org


@pytest.fixture
def server(org: Org) -> Iterator[Standin]:
    with standing(Standin(org.api, "cloud-key:hunter2")) as server:
        yield server


@pytest.fixture
def observer(server: Standin, org: Org) -> Iterator[ConfluentObserver]:
    cloud = {"key": "cloud-key", "secret": "${env:SECRET}"}
    observer_ = ConfluentObserver(
        "cc", ConfluentSettings.model_validate({"url": server.url, "cloud": cloud, "timeout_s": 20}), (org.planes,)
    )
    yield observer_
    observer_.close()


def emitted(seen: Observation) -> list[str]:
    return [f"{event['dataset']['namespace']} {event['dataset']['name']}" for event in seen.events]


def test_every_plane_is_translated_once_and_then_only_its_changes(observer: ConfluentObserver, org: Org) -> None:
    first = observer.observe(None, NO_METADATA, NOW)
    assert emitted(first) == [f"env-{env} +orders" for env in ("1/lkc-1", "1/lkc-2", "2/lkc-3") for _ in "x"] * 2
    again = observer.observe(first.snapshot, NO_METADATA, NOW)
    assert (again.events, again.aliases, again.snapshot) == ((), (), first.snapshot)
    org.answers["groups env-1/lkc-2"] = ["orders", "new"]
    assert emitted(observer.observe(first.snapshot, NO_METADATA, NOW)) == ["env-1/lkc-2 +new"]


def test_a_bootstrap_server_is_an_alias_only_if_one_cluster_has_it(observer: ConfluentObserver) -> None:
    seen = observer.observe(None, NO_METADATA, NOW)
    assert [alias[:2] for alias in seen.aliases] == [("confluent://env-1/lkc-1", "kafka://a:9092")]
    assert isinstance(seen.aliases[0], SameNamespace)
    assert [part.what for part in seen.unseen] == ["bootstrap server b:9092"]


@pytest.mark.parametrize("answer", [SourceError("500"), ["bug"], None])
def test_a_failed_plane_does_not_affect_the_others_and_ends_no_runs(observer: ConfluentObserver, org: Org, answer: Any) -> None:
    first = observer.observe(None, NO_METADATA, NOW)
    org.answers["topics env-1/lkc-1"] = answer
    org.answers["groups env-2/lkc-3"] = []
    outcomes = {step.plane.key: step.plane for step in observer.steps(first.snapshot, NO_METADATA, NOW)}
    assert outcomes["topics env-1/lkc-1"].state == (NOT_OBSERVED if answer is None else FAILED)
    assert {outcome.state for key, outcome in outcomes.items() if key != "topics env-1/lkc-1" and " " in key} == {OBSERVED}
    seen = observer.observe(first.snapshot, NO_METADATA, NOW)
    assert emitted(seen) == ["env-2/lkc-3 -orders"]
    assert seen.snapshot["planes"]["topics env-1/lkc-1"] == {"topics": ["orders"]}
    assert "topics env-1/lkc-1" in [part.what for part in seen.unseen]
    org.answers["topics env-1/lkc-1"] = ["orders"]
    healed = observer.observe(seen.snapshot, NO_METADATA, NOW)
    assert (emitted(healed), "topics env-1/lkc-1" in [part.what for part in healed.unseen]) == ([], False)


def test_a_scope_is_gone_only_if_a_complete_listing_does_not_have_it(observer: ConfluentObserver, org: Org, server: Standin) -> None:
    first = observer.observe(None, NO_METADATA, NOW)
    org.clusters["env-1"] = [cluster("lkc-1", "a")]
    server.failing["/cmk/v2/clusters?page_size=100&environment=env-1"] = Reply(403, {"errors": [{"detail": "no"}]})
    hidden = observer.observe(first.snapshot, NO_METADATA, NOW)
    assert emitted(hidden) == []
    assert any(part.what == "Kafka clusters of env-1" and "no" in part.why for part in hidden.unseen)
    server.failing.clear()
    gone = observer.observe(hidden.snapshot, NO_METADATA, NOW)
    assert emitted(gone) == ["env-1/lkc-2 -orders"] * 2
    assert "topics env-1/lkc-2" not in gone.snapshot["planes"]
    org.environments = ["env-1"]
    assert emitted(observer.observe(gone.snapshot, NO_METADATA, NOW)) == ["env-2/lkc-3 -orders"] * 2


def test_if_environments_cannot_be_listed_the_previous_ones_are_observed(observer: ConfluentObserver, org: Org, server: Standin) -> None:
    server.failing["/org"] = Reply(401, {})
    with pytest.raises(SourceError, match="401"):
        observer.observe(None, NO_METADATA, NOW)
    server.failing.clear()
    first = observer.observe(None, NO_METADATA, NOW)
    server.failing["/org"] = Reply(401, {})
    org.answers["topics env-1/lkc-1"] = ["orders", "new"]
    seen = observer.observe(first.snapshot, NO_METADATA, NOW)
    assert emitted(seen) == ["env-1/lkc-1 +new"]
    assert any("401" in part.why for part in seen.unseen)


def test_a_narrowed_poll_keeps_the_state_of_the_rest(observer: ConfluentObserver, org: Org) -> None:
    org.answers["groups env-2/lkc-3"] = ["orders", "part"]
    first = observer.observe(None, NO_METADATA, NOW)
    org.answers = {key: ["orders", "new"] for key in KEYS}
    only = Selection(frozenset(("env-1",)), frozenset(("lkc-2",)), frozenset(("groups",)))
    steps = list(observer.steps(first.snapshot, NO_METADATA, NOW, only=only))
    assert [step.plane.key for step in steps[1:]] == ["topics env-1/lkc-2"]
    last = steps[-1].observation
    assert last.snapshot["planes"]["topics env-1/lkc-1"] == {"topics": ["orders"]}
    assert Unseen("groups env-2/lkc-3: part", "hidden") in last.unseen
    rest = observer.observe(last.snapshot, NO_METADATA, NOW)
    assert "env-1/lkc-2 +new" in emitted(rest)
    assert sorted(emitted(rest)) == sorted(
        [*(f"env-{entry} +new" for entry in ["1/lkc-1", "2/lkc-3"] * 2), "env-1/lkc-2 +new", "env-2/lkc-3 -part"]
    )


def test_planes_that_are_done_are_skipped(observer: ConfluentObserver, org: Org) -> None:
    steps = list(observer.steps(None, NO_METADATA, NOW, done={"topics env-1/lkc-1", "groups env-2/lkc-3"}))
    assert [step.plane.key for step in steps] == [
        "discovery",
        "topics env-1/lkc-2",
        "topics env-2/lkc-3",
        "groups env-1/lkc-1",
        "groups env-1/lkc-2",
    ]
    assert sorted(org.asked) == sorted(step.plane.key for step in steps[1:])


def test_planes_use_metadata_of_earlier_stages_and_no_stale_metadata(observer: ConfluentObserver, org: Org) -> None:
    first = observer.observe(None, NO_METADATA, NOW)
    org.answers["topics env-1/lkc-1"] = ["clicks"]
    stale = observer.shared_metadata(first.snapshot)
    other = ClusterMetadata("other", "kafka://o:9092")
    shared = replace(stale, clusters=(*stale.clusters, other))
    observer.observe(first.snapshot, shared, NOW)
    org.answers["groups env-1/lkc-1"] = ["clicks"]
    metadata = org.metadata_used["groups env-1/lkc-1"].cluster("lkc-1")
    assert metadata is not None
    assert "clicks" in (metadata.topics or ())
    assert org.metadata_used["topics env-1/lkc-2"].cluster("other") == other
    assert org.metadata_used["groups env-1/lkc-1"].cluster("other") == other


def test_a_stop_ends_waiting_and_reports_skipped_planes(observer: ConfluentObserver, org: Org) -> None:
    org.holding.clear()
    stop, records = threading.Event(), list[PlaneRecord]()
    steps = observer.steps(None, NO_METADATA, NOW, stop=stop, on_progress=records.append)
    assert next(steps).plane.key == "discovery"
    stop.set()
    org.holding.set()
    rest = list(steps)
    assert {step.plane.state for step in rest} == {SKIPPED}
    assert not any(part.what in KEYS for part in rest[-1].observation.unseen)
    assert not any(step.observation.events for step in rest)
    assert len(records) == len(KEYS)


def test_a_key_of_another_organization_is_refused(observer: ConfluentObserver) -> None:
    first = observer.observe(None, NO_METADATA, NOW)
    other = {**first.snapshot["estate"], "organization": "o-2"}
    with pytest.raises(SourceError, match="belongs to the organization"):
        observer.observe({**first.snapshot, "estate": other}, NO_METADATA, NOW)


def test_a_test_tries_every_plane(observer: ConfluentObserver, org: Org) -> None:
    org.answers["groups env-1/lkc-1"] = SourceError("refused")
    checks = {check.step: check for check in observer.test()}
    assert checks["environments"].works
    assert (checks["groups env-1/lkc-1"].works, checks["groups env-1/lkc-1"].message) == (False, "refused")
    assert checks["topics env-1/lkc-1"].works


def test_a_missing_secret_is_named(observer: ConfluentObserver, org: Org) -> None:
    org.answers["topics env-1/lkc-1"] = ConfigError("the variable KAFKA_SECRET is not set")
    outcomes = {step.plane.key: step.plane for step in observer.steps(None, NO_METADATA, NOW)}
    assert (outcomes["topics env-1/lkc-1"].state, outcomes["topics env-1/lkc-1"].why) == (FAILED, ("the variable KAFKA_SECRET is not set",))
    assert outcomes["groups env-1/lkc-1"].state == OBSERVED
