"""Groups as streaming jobs: their runs, what they read and how far, and whose they are."""

from typing import Any

from tests.sources.kafka.summaries import poll, summaries

from lineage_bridge.sources.common.kafka.events.translate import shared_metadata
from lineage_bridge.sources.common.kafka.look.cluster import CONSUMER, SHARE, STREAMS, ClusterState, GroupMember, KafkaGroup, Subtopology
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import SameJob, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

MEMBER = GroupMember("app-1", "/10.0.0.1", frozenset({"orders"}), "", 2)
WORKING, IDLE = KafkaGroup(state="Stable", assignor="range", members=(MEMBER,)), KafkaGroup(state="Empty", members=())


def groups(reader: KafkaGroup | None = WORKING, at: int = 5, **more: Any) -> ClusterState:
    found = {} if reader is None else {"reader": reader}
    return ClusterState(**{"cluster": "c1", "topics": {}, "groups": found, "committed": {"reader": {"orders": (at, 0)}}, **more})


def facet(event: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in event["run"]["facets"][name].items() if not key.startswith("_")}


def test_a_working_group_runs_and_counts_from_when_it_was_first_seen() -> None:
    first = poll(groups(ends={"orders": (9, 3)}))
    assert summaries(first.events) == ["START reader: orders=0"]
    (event,) = first.events
    job: Any = event["job"]
    assert (job["namespace"], job["facets"]["jobType"]["integration"]) == ("kafka://broker:9092", "KAFKA")
    assert job["facets"]["jobType"]["jobType"] == "CONSUMER_GROUP"
    assert facet(event, "kafka_group") == {
        "clusterId": "c1",
        "groupType": "classic",
        "state": "Stable",
        "assignor": "range",
        "memberCount": 1,
        "members": [{"clientId": "app-1", "host": "10.0.0.1", "partitions": 2}],
    }
    assert facet(event, "kafka_lag") == {"at": "2026-11-18T11:06:40.000000Z", "rows": 7, "topics": {"orders": 7}}
    second = poll(groups(at=25), first.snapshot, 1)
    assert summaries(second.events) == ["RUNNING reader: orders=20"]
    assert second.events[0]["run"]["runId"] == event["run"]["runId"]
    assert "kafka_group" not in second.events[0]["run"]["facets"]
    assert summaries(poll(groups(at=30), second.snapshot, 2).events) == ["RUNNING reader: orders=25"]


def partitions(*offsets: int, ends: tuple[int, ...]) -> ClusterState:
    return groups(committed={"reader": {"orders": offsets}}, ends={"orders": ends})


def stuck(*polls: ClusterState) -> Any:
    """What the last of these polls reports as stuck."""
    got = None
    for minute, seen in enumerate(polls):
        got = poll(seen, got.snapshot if got else None, minute)
    assert got is not None
    return facet(got.events[0], "kafka_lag").get("stuck")


def test_a_partition_that_is_not_read_while_others_are_is_stuck() -> None:
    first = partitions(5, 5, 5, -1, ends=(9, 9, 9, 9))
    assert stuck(first) is None
    assert stuck(first, partitions(9, 5, 5, -1, ends=(9, 9, 12, 9))) == {"orders": {"partitions": 2, "worst": 2, "rows": 7}}
    assert stuck(first, partitions(9, 6, 9, -1, ends=(9, 9, 9, 9))) is None


def test_a_partition_is_stuck_no_sooner_than_at_the_second_poll() -> None:
    caught_up, more = partitions(9, 9, ends=(9, 9)), partitions(12, 9, ends=(12, 10))
    assert stuck(caught_up, more) is None
    assert stuck(caught_up, more, partitions(15, 9, ends=(15, 10))) == {"orders": {"partitions": 1, "worst": 1, "rows": 1}}


def test_no_partition_is_stuck_where_none_is_read_or_offsets_were_set_back() -> None:
    behind = partitions(5, 5, ends=(9, 9))
    assert stuck(behind, behind) is None
    assert stuck(behind, partitions(3, 5, ends=(9, 9))) is None


def test_an_offset_that_was_set_back_takes_no_rows_away() -> None:
    first = poll(groups(at=25)).snapshot
    back = poll(groups(at=3), first, 1)
    assert summaries(back.events) == ["RUNNING reader: orders=0"]
    assert summaries(poll(groups(at=10), back.snapshot, 2).events) == ["RUNNING reader: orders=7"]


def test_a_group_that_is_idle_at_two_polls_has_ended_and_runs_anew_when_members_come() -> None:
    first = poll(groups())
    pause = poll(groups(IDLE), first.snapshot, 1)
    assert summaries(pause.events) == ["RUNNING reader: orders=0"]
    back = poll(groups(), pause.snapshot, 2)
    assert summaries(back.events) == ["RUNNING reader: orders=0"]
    over = poll(groups(IDLE, 8), poll(groups(IDLE, 8), back.snapshot, 3).snapshot, 4)
    assert summaries(over.events) == ["RUNNING reader: orders=3"]
    over = poll(groups(IDLE, 8), over.snapshot, 5)
    assert summaries(over.events) == ["COMPLETE reader: orders=3"]
    assert not poll(groups(IDLE, 8), over.snapshot, 6).events
    anew = poll(groups(at=8), over.snapshot, 7)
    assert summaries(anew.events) == ["START reader: orders=0"]
    assert anew.events[0]["run"]["runId"] != first.events[0]["run"]["runId"]


def test_an_idle_group_is_reported_once() -> None:
    first = poll(groups(IDLE))
    assert summaries(first.events) == ["COMPLETE reader: orders"]
    assert not poll(groups(IDLE), first.snapshot, 1).events


def test_a_group_that_only_commits_runs_while_its_offsets_move() -> None:
    first = poll(groups(IDLE)).snapshot
    moved = poll(groups(IDLE, 7), first, 1)
    assert summaries(moved.events) == ["START reader: orders=2"]
    still = poll(groups(IDLE, 7), moved.snapshot, 30)
    assert summaries(still.events) == ["RUNNING reader: orders=2"]
    assert summaries(poll(groups(IDLE, 7), still.snapshot, 62).events) == ["COMPLETE reader: orders=2"]


def test_only_a_group_that_is_known_to_be_dead_is_gone() -> None:
    first = poll(groups())
    hidden = poll(groups(None), first.snapshot, 1)
    assert not hidden.events
    assert hidden.snapshot["groups"] == first.snapshot["groups"]
    gone = poll(groups(None, committed={}, groups_gone=frozenset({"reader"})), first.snapshot, 1)
    assert summaries(gone.events) == ["ABORT reader: orders=0"]
    assert not gone.snapshot["groups"]


def test_a_group_whose_members_are_unknown_is_reported_all_the_same() -> None:
    blind = groups(KafkaGroup(SHARE, "Stable", "share"), unseen=(Unseen("groups: members", "too old (1: reader)"),))
    got = poll(blind)
    assert summaries(got.events) == ["START reader: orders=0"]
    assert facet(got.events[0], "kafka_group") == {"clusterId": "c1", "groupType": "share", "state": "Stable", "membersUnknown": True}
    assert got.unseen == (Unseen("groups: members", "too old (1: reader)"),)


def test_members_that_could_not_be_had_are_no_change() -> None:
    both = {"reader": {"orders": (5, 0), "old": (7,)}}
    first = poll(groups(committed=both)).snapshot
    blind = poll(groups(KafkaGroup(state="Stable"), committed=both), first, 1)
    assert summaries(blind.events) == ["RUNNING reader: orders=0"]
    assert "kafka_group" not in blind.events[0]["run"]["facets"]
    again = poll(groups(committed=both), blind.snapshot, 2)
    assert summaries(again.events) == ["RUNNING reader: orders=0"]
    assert "kafka_group" not in again.events[0]["run"]["facets"]


def test_offsets_that_could_not_be_had_change_nothing() -> None:
    first = poll(groups())
    blind = poll(groups(committed={}), first.snapshot, 1)
    assert blind.snapshot["groups"]["reader"]["at"] == first.snapshot["groups"]["reader"]["at"]
    assert summaries(poll(groups(at=9), blind.snapshot, 2).events) == ["RUNNING reader: orders=4"]


def test_a_group_reads_what_it_subscribed_to_and_not_what_it_once_read() -> None:
    both = {"reader": {"orders": (5, 0), "old": (7,)}}
    got = poll(groups(committed=both))
    assert summaries(got.events) == ["START reader: orders=0"]
    assert summaries(poll(groups(IDLE, committed=both)).events) == ["COMPLETE reader: old orders"]


def test_a_subscription_by_pattern_is_reported() -> None:
    member = GroupMember("app-1", "/10.0.0.1", frozenset({"orders"}), "ord.*", 2)
    got = poll(groups(KafkaGroup(CONSUMER, "Stable", members=(member,))))
    assert facet(got.events[0], "kafka_group")["subscribedPatterns"] == ["ord.*"]


def test_workers_of_connect_are_no_readers() -> None:
    assert not poll(groups(KafkaGroup(protocol="connect", state="Stable", members=(GroupMember("connect-1"),)), committed={})).events


OWNED = SharedMetadata(owners={("c1", "reader"): ("kafka-connect://connect:8083", "sink")})


def test_a_group_of_another_sources_job_is_not_reported() -> None:
    got = poll(groups(), around=OWNED)
    assert not got.events
    assert not [same for same in got.aliases if isinstance(same, SameJob)]
    assert "reader" in got.snapshot["groups"]


def test_the_lag_of_a_group_of_another_sources_job_is_for_that_source() -> None:
    first = poll(groups(committed={"reader": {"orders": (5, 3)}}, ends={"orders": (9, 9)}), around=OWNED)
    again = poll(groups(committed={"reader": {"orders": (8, 3)}}, ends={"orders": (9, 9)}), first.snapshot, 1, OWNED)
    settings = KafkaSettings(bootstrap_servers="broker:9092")
    (before,), (after,) = (shared_metadata(settings, got.snapshot).clusters for got in (first, again))
    assert before.lags == {"reader": {"at": "2026-11-18T11:06:40.000000Z", "rows": 10, "topics": {"orders": 10}}}
    assert after.lags["reader"]["stuck"] == {"orders": {"partitions": 1, "worst": 1, "rows": 6}}
    assert not shared_metadata(settings, poll(groups(ends={"orders": (9, 9)})).snapshot).clusters[0].lags


def test_a_group_that_was_reported_before_its_owner_was_known_is_that_job() -> None:
    first = poll(groups())
    joined = poll(groups(), first.snapshot, 1, OWNED)
    assert summaries(joined.events) == ["COMPLETE reader: orders=0"]
    evidence = "group reader of cluster c1 is that job's"
    assert joined.aliases == (SameJob("kafka-connect://connect:8083", "sink", "kafka://broker:9092", "reader", evidence),)
    again = poll(groups(), joined.snapshot, 2, OWNED)
    assert not again.events
    assert not again.aliases


def lineage(event: Any) -> list[tuple[str, list[str]]]:
    entries = event["job"]["facets"]["lineage"]["entries"]
    return [(entry.get("name", "the job"), [source["name"] for source in entry["inputs"]]) for entry in entries]


def test_a_streams_group_states_its_topology() -> None:
    parts = (
        Subtopology(("orders",), ("reader-by-key-repartition",)),
        Subtopology(("reader-by-key-repartition",), ("reader-counts-changelog",)),
    )
    read = frozenset({"orders", "reader-by-key-repartition"})
    got = poll(groups(KafkaGroup(STREAMS, "Stable", "streams", members=(GroupMember("t", "/h", read),), topology=parts)))
    (event,) = got.events
    assert summaries([event]) == ["START reader: orders=0 reader-by-key-repartition -> reader-by-key-repartition reader-counts-changelog"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "STREAMS_APPLICATION"
    assert lineage(event) == [
        ("reader-by-key-repartition", ["orders"]),
        ("reader-counts-changelog", ["reader-by-key-repartition"]),
    ]


def test_a_streams_application_of_the_classic_kind_is_known_by_its_topics() -> None:
    from lineage_bridge.sources.common.kafka.look.cluster import KafkaTopic

    thread = "reader-0f1c9b2e-1111-4222-8333-444455556666-StreamThread-1-consumer"
    member = GroupMember(thread, "/h", frozenset({"orders", "reader-by-key-repartition"}), "", 3)
    internal = {name: KafkaTopic() for name in ("orders", "reader-by-key-repartition", "reader-counts-changelog", "other-x-changelog")}
    got = poll(groups(KafkaGroup(state="Stable", assignor="stream", members=(member,)), topics=internal))
    event = got.events[-1]
    assert lineage(event) == [
        ("reader-by-key-repartition", ["orders"]),
        ("reader-counts-changelog", ["orders", "reader-by-key-repartition"]),
    ]


def test_topics_that_are_not_reported_are_no_inputs() -> None:
    got = poll(groups(), exclude_topics=("ord*",))
    assert summaries(got.events) == ["START reader: "]


def rebalances(*polls: KafkaGroup) -> list[Any]:
    """What each of these polls, a minute apart, reports as a rebalance."""
    got, found = None, []
    for minute, reader in enumerate(polls):
        got = poll(groups(reader, minute), got.snapshot if got else None, minute)
        jobs: list[Any] = [event["job"].get("facets", {}) for event in got.events]
        found += [{key: value for key, value in job.get("kafka_rebalance", {}).items() if not key.startswith("_")} for job in jobs]
    return found


def of_members(*members: tuple[str, int], state: str = "Stable") -> KafkaGroup:
    return KafkaGroup(state=state, members=tuple(GroupMember(name, "/10.0.0.1", frozenset({"orders"}), "", size) for name, size in members))


def test_members_that_come_and_partitions_that_move_are_rebalances_between_two_polls() -> None:
    alone, both, moved = of_members(("a", 2)), of_members(("a", 1), ("b", 1)), of_members(("a", 2), ("b", 0))
    first, second = "2026-11-18T11:06:40.000000Z", "2026-11-18T11:07:40.000000Z"
    found = rebalances(alone, both, both, moved)
    assert found[:3] == [{}, {"since": first, "until": second, "what": "MEMBERS", "before": 1, "after": 2}, {}]
    assert (found[3]["what"], found[3]["before"], found[3]["after"]) == ("ASSIGNMENT", 2, 2)


def test_a_rebalance_that_two_polls_see_is_reported_once() -> None:
    found = rebalances(of_members(("a", 2)), of_members(("a", 2), state="PreparingRebalance"), of_members(("a", 1), ("b", 1)))
    assert [facet.get("what") for facet in found] == [None, "ASSIGNMENT", None]


def test_nothing_is_a_rebalance_that_could_not_be_seen_or_is_an_end() -> None:
    unknown = KafkaGroup(state="Stable", members=None)
    assert not any(rebalances(of_members(("a", 2)), unknown, of_members(("a", 2)), IDLE, of_members(("b", 2))))
    assert rebalances(of_members(("a", 2)), unknown, of_members(("b", 2)))[2]["since"] == "2026-11-18T11:06:40.000000Z"
