"""Transactional producers as jobs, and as the writing side of groups' applications."""

from typing import Any

from tests.sources.kafka.summaries import poll, summaries

from lineage_bridge.sources.common.kafka.look.cluster import ClusterState, GroupMember, KafkaGroup, KafkaTopic, Producer, Transaction
from lineage_bridge.sources.common.kafka.look.purposes import stems

UUID = "0f1c9b2e-1111-4222-8333-444455556666"


def producers(last: int = 1000, **more: Any) -> ClusterState:
    stand: dict[str, Any] = {
        "transactions": {"writer-0": Transaction(7, "CompleteCommit"), "writer-1": Transaction(8, "Ongoing", frozenset({"bills"}))},
        "producers": {"orders": (Producer(7, last), Producer(99, last))},
    }
    return ClusterState(**{"cluster": "c1", "topics": {}, "groups": {}, **stand, **more})


DONE = {"writer-0": Transaction(7, "CompleteCommit")}


def test_ids_that_a_program_makes_up_are_one_producer() -> None:
    got = poll(producers())
    assert summaries(got.events) == ["START writer:  -> bills orders"]
    (event,) = got.events
    facets: Any = event["run"]["facets"]
    assert facets["kafka_producer"]["transactionalIds"] == ["writer-0", "writer-1"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "PRODUCER"
    assert stems(f"app-{UUID}-12") == (f"app-{UUID}-12", f"app-{UUID}", "app")
    assert stems("7") == ("7",)


def test_a_producer_runs_while_it_writes_and_an_hour_longer() -> None:
    first = poll(producers(transactions=DONE))
    assert summaries(first.events) == ["START writer:  -> orders"]
    same = poll(producers(transactions=DONE, producers={}), first.snapshot, 30)
    assert summaries(same.events) == ["RUNNING writer: "]
    over = poll(producers(transactions=DONE, producers={}), same.snapshot, 61)
    assert summaries(over.events) == ["COMPLETE writer: "]
    assert not poll(producers(transactions=DONE, producers={}), over.snapshot, 62).events
    assert summaries(poll(producers(2000, transactions=DONE), over.snapshot, 63).events) == ["START writer:  -> orders"]


def test_only_ids_that_are_known_to_be_gone_end_a_producer() -> None:
    first = poll(producers(transactions=DONE)).snapshot
    hidden = poll(producers(transactions={}, producers={}), first, 1)
    assert not hidden.events
    assert hidden.snapshot["producers"] == first["producers"]
    gone = poll(producers(transactions={}, producers={}, transactions_gone=frozenset({"writer-0"})), first, 1)
    assert summaries(gone.events) == ["ABORT writer: "]
    assert not gone.snapshot["producers"]
    assert poll(producers(transactions=None), first, 1).snapshot["producers"] == first["producers"]


def test_an_application_that_reads_as_a_group_and_writes_in_transactions_is_one_job() -> None:
    member = GroupMember("app-1", "/h", frozenset({"orders"}), "", 1)
    both = producers(
        groups={"app": KafkaGroup(state="Stable", members=(member,))},
        committed={"app": {"orders": (5,)}},
        transactions={f"app-{UUID}-1": Transaction(7, "Ongoing", frozenset({"bills", "__consumer_offsets"}))},
        producers={"bills": (Producer(7, 1000),)},
    )
    got = poll(both)
    assert summaries(got.events) == ["START app: orders=0 -> bills"]
    assert summaries(poll(both, got.snapshot, 1).events) == ["RUNNING app: orders=0"]


def test_a_streams_application_that_writes_in_transactions_reports_its_sinks() -> None:
    between, store = "app-COUNT-0000000003-repartition", "app-COUNT-0000000003-changelog"
    member = GroupMember(f"app-{UUID}-StreamThread-1-consumer", "/h", frozenset({"words", between}), "", 2)
    names = ("words", "counts", between, store)
    seen = ClusterState(
        "c1",
        topics={name: KafkaTopic(name, leaders=(1,)) for name in names},
        groups={"app": KafkaGroup(state="Stable", assignor="stream", members=(member,))},
        committed={"app": {"words": (2,), between: (8,)}},
        transactions={f"app-{UUID}-1": Transaction(0, "CompleteCommit")},
        producers={name: (Producer(0, 1000),) for name in ("counts", between, store)},
    )
    event: Any = poll(seen).events[-1]
    assert summaries([event]) == [f"START app: {between}=0 words=0 -> {store} {between} counts"]
    flows = {entry["name"]: [source["name"] for source in entry["inputs"]] for entry in event["job"]["facets"]["lineage"]["entries"]}
    assert flows == {between: ["words"], store: [between, "words"], "counts": [between, "words"]}
