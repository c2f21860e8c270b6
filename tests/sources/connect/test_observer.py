"""The observer over HTTP: what is asked how often, and that nothing disappears when something is not answered."""

from typing import Any

import pytest
from tests.sources.connect.worker import SILENCE, entry, fake_worker, worker_with

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.connect.client import PATIENCE
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.connect.observer import ConnectObserver

FILE = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "topic": "lines", "file": "/in.txt"}
SINK = {"connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector", "topics": "lines", "file": "/out.txt"}
T0, MINUTE_US = 1_795_000_000_000_000, 60_000_000


def observer(url, **settings):
    return ConnectObserver("shop", ConnectSettings(url=url, kafka="broker:9092", **settings))


def kinds(observation):
    return [(event.get("eventType"), event["job"]["name"]) for event in observation.events]


def offsets(**topics):
    return {
        "offsets": [{"partition": {"kafka_topic": t, "kafka_partition": 0}, "offset": {"kafka_offset": at}} for t, at in topics.items()]
    }


def test_a_poll_of_what_is_known_asks_three_times_and_twice_for_each_connector():
    entries = [entry(f"c{number}", {**FILE, "topic": f"t{number}"}) for number in range(20)]
    with fake_worker(worker_with(*entries)) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        assert len(worker.asked) == 3 + 2 + 3 * 20  # plugins listed and one of them asked, and each connector's tasks
        worker.asked.clear()
        second = source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
        assert len(worker.asked) == 3 + 2 * 20
    assert kinds(second) == sorted(("RUNNING", f"c{number}") for number in range(20))
    assert not second.unseen


def test_what_does_not_run_and_is_known_is_not_asked():
    with fake_worker(worker_with(entry("paused", FILE, state="PAUSED", tasks=("PAUSED",)))) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        worker.asked.clear()
        source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
        assert len(worker.asked) == 3


def test_an_older_worker_has_no_offsets_and_is_asked_once_a_poll_whether_it_has_them_now():
    entries = [entry("a", SINK, "sink"), entry("b", SINK, "sink")]
    answers = worker_with(*entries, **{"/connectors/a/offsets": 404, "/connectors/b/offsets": 405})
    with fake_worker(answers) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        assert [entry.what for entry in first.unseen] == ["connectors' offsets"]
        worker.asked.clear()
        second = source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
        assert [path for path in worker.asked if path.endswith("offsets")] == ["/connectors/a/offsets"]
        assert [entry.what for entry in second.unseen] == ["connectors' offsets"]
        worker.answers |= {"/connectors/a/offsets": offsets(lines=7), "/connectors/b/offsets": offsets(lines=7)}
        third = source.observe(second.snapshot, NO_METADATA, T0 + 2 * MINUTE_US)
        assert not third.unseen


@pytest.mark.parametrize(
    "broken", [{"/": 500}, {"/connectors?": 409}, {"/connectors?": b'{"shop": {"info"'}, {"/connectors?": ["shop"]}, {"/": 401}]
)
def test_without_any_answer_there_is_an_error(broken):
    with fake_worker(worker_with(entry("shop", FILE), **broken)) as worker, pytest.raises(SourceError):
        observer(worker.url).observe(None, NO_METADATA, T0)


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        ({"/connectors": 500}, ["list of connectors"]),
        ({"/connectors": {}}, ["list of connectors"]),
        ({"/connectors/shop/topics": 409}, ["connector shop: topics"]),
        ({"/connectors/shop/topics": {"shop": {}}}, ["connector shop: topics"]),
        ({"/connectors/shop/offsets": 500}, ["connector shop: offsets"]),
        ({"/connectors/shop/offsets": b"<html>"}, ["connector shop: offsets"]),
        ({"/connectors?": {}}, ["connector shop"]),
        ({"/connectors?": {"shop": {"info": entry("shop", FILE)["info"]}}}, ["connector shop"]),
        ({"/connectors?": {"shop": {}}, "/connectors": 500}, ["connector shop", "list of connectors"]),
    ],
)
def test_what_is_not_answered_is_unseen_and_nothing_disappears(broken, what):
    answers = worker_with(entry("shop", FILE), **{"/connectors/shop/topics": {"shop": {"topics": ["lines", "more"]}}})
    with fake_worker(answers) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        worker.answers = {**answers, **broken}
        second = source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
        assert [entry.what for entry in second.unseen] == what
        assert set(kinds(second)) <= {("RUNNING", "shop")}
        worker.answers = answers
        third = source.observe(second.snapshot, NO_METADATA, T0 + 2 * MINUTE_US)
    assert kinds(third) == [("RUNNING", "shop")]
    assert third.events[0]["run"]["runId"] == first.events[0]["run"]["runId"]
    assert third.snapshot["connectors"]["shop"]["topics"] == ["lines", "more"]
    assert third.events[0]["inputs"] == third.events[0]["outputs"] == []


def test_a_worker_that_is_silent_is_not_asked_for_everything():
    entries = [entry(f"c{number}", FILE) for number in range(30)]
    with fake_worker(worker_with(*entries, **{f"/connectors/c{number}/topics": SILENCE for number in range(30)})) as worker:
        seen = observer(worker.url, at_once=2, timeout_s=0.1).observe(None, NO_METADATA, T0)
        asked = {path for path in worker.asked if path.endswith(("topics", "offsets"))}
    assert len(asked) <= PATIENCE + 1
    assert len(seen.unseen) == 60
    assert {kind for kind, _ in kinds(seen)} == {"START", "RUNNING"}


def test_what_is_left_out_is_not_gone():
    with fake_worker(worker_with(entry("shop", FILE), entry("test-1", FILE))) as worker:
        first = observer(worker.url).observe(None, NO_METADATA, T0)
        second = observer(worker.url, exclude=("test-*",)).observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
    assert kinds(second) == [("RUNNING", "shop")]
    assert list(second.snapshot["connectors"]) == ["shop"]


def test_rows_of_a_sink_are_counted_since_the_run_was_seen_and_never_fall():
    with fake_worker(worker_with(entry("out", SINK, "sink"))) as worker:
        source, snapshot, rows = observer(worker.url), None, []
        for number, at in enumerate((100, 130, 130, 40, 45)):
            worker.answers["/connectors/out/offsets"] = offsets(lines=at)
            seen = source.observe(snapshot, NO_METADATA, T0 + number * MINUTE_US)
            snapshot = seen.snapshot
            beat = seen.events[-1]
            rows.append([dataset["inputFacets"]["inputStatistics"]["rowCount"] for dataset in beat["inputs"]])
    assert rows == [[], [30], [], [], [35]]


def test_the_lag_of_a_sinks_group_is_that_of_the_sink_while_it_is_new():
    lag = {"rows": 7, "topics": {"lines": 7}, "stuck": {"lines": {"partitions": 1, "worst": 0, "rows": 7}}}
    with fake_worker(worker_with(entry("out", SINK, "sink"), entry("shop", FILE))) as worker:
        source, snapshot, found = observer(worker.url), None, []
        for number, minutes_old in enumerate((1, 1, 10, 11)):
            read = {**lag, "at": format_time(T0 + (number - minutes_old) * MINUTE_US)}
            lags = {"connect-out": read, "connect-shop": read}
            cluster = ClusterMetadata("cluster", "kafka://broker:9092", frozenset({"broker:9092"}), frozenset({"lines"}), lags=lags)
            seen = source.observe(snapshot, SharedMetadata((cluster,)), T0 + number * MINUTE_US)
            snapshot = seen.snapshot
            facets = [(event["job"]["name"], event["run"].get("facets", {}).get("kafka_lag")) for event in seen.events]
            found.append([(job, facet["rows"], facet["namespaces"], facet["stuck"]) for job, facet in facets if facet])
    reported = [("out", 7, {"lines": "kafka://broker:9092"}, lag["stuck"])]
    assert found == [reported, reported, reported, []]


def test_rows_of_a_source_are_those_of_topics_that_it_alone_writes():
    entries = [entry("a", FILE), entry("b", {**FILE, "topic": "shared"}), entry("c", {**FILE, "topic": "shared"})]
    with fake_worker(worker_with(*entries)) as worker:
        source, snapshot, rows = observer(worker.url), None, []
        for number, ends in enumerate(({"shared": 5}, {"lines": 3, "shared": 9})):
            cluster = ClusterMetadata("cluster", "kafka://broker:9092", frozenset({"broker:9092"}), frozenset(ends), ends=ends)
            seen = source.observe(snapshot, SharedMetadata((cluster,)), T0 + number * MINUTE_US)
            snapshot = seen.snapshot
            rows += [(e["job"]["name"], o["name"], o["outputFacets"]) for e in seen.events for o in e["outputs"] if "outputFacets" in o]
    assert [(job, topic, facets["outputStatistics"]["rowCount"]) for job, topic, facets in rows] == [("a", "lines", 3)]


def test_secrets_are_masked_by_what_the_plugin_declares_and_never_stored():
    config = {
        **FILE,
        "plain.looking": "hunter2",
        "connection.url": "http://me:hunter3@host",
        "db.password": "hunter4",
        "kept": "${file:/x:y}",
    }
    answers = worker_with(entry("shop", config))
    answers[f"/connector-plugins/{FILE['connector.class']}/config"] = [
        {"name": "plain.looking", "type": "PASSWORD"},
        {"name": "file", "type": "STRING"},
    ]
    with fake_worker(answers) as worker:
        source = observer(worker.url)
        seen = source.observe(None, NO_METADATA, T0)
        worker.answers["/connectors?"] = {"shop": entry("shop", {**config, "plain.looking": "hunter5"})}
        again = source.observe(seen.snapshot, NO_METADATA, T0 + MINUTE_US)
    assert "hunter" not in repr(seen) + repr(again)
    told_config = seen.events[0]["run"]["facets"]["kafka_connect"]["config"]
    assert (told_config["kept"], told_config["file"]) == ("${file:/x:y}", "/in.txt")
    assert kinds(again) == [("RUNNING", "shop")], "a new password is no new configuration"


def test_no_configuration_is_reported_before_it_is_known_which_settings_are_secrets():
    config = {**FILE, "plain.looking": "hunter2"}
    answers = worker_with(entry("shop", config))
    path = f"/connector-plugins/{FILE['connector.class']}/config"
    with fake_worker({**answers, path: 500}) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        assert [entry.what for entry in first.unseen] == [f"plugin {FILE['connector.class']}: its passwords"]
        assert "config" not in first.events[0]["run"]["facets"]["kafka_connect"]
        assert "hunter" not in repr(first)
        worker.answers[path] = [{"name": "plain.looking", "type": "PASSWORD"}]
        second = source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
    assert kinds(second) == [("RUNNING", "shop")]
    assert "config" in second.events[0]["run"]["facets"]["kafka_connect"]


def test_a_class_may_be_named_without_its_package():
    answers = worker_with(entry("shop", {**FILE, "connector.class": "FileStreamSource"}))
    answers["/connector-plugins"] = [{"class": FILE["connector.class"], "type": "source", "version": "9"}]
    answers[f"/connector-plugins/{FILE['connector.class']}/config"] = [{"name": "file", "type": "PASSWORD"}]
    with fake_worker(answers) as worker:
        source = observer(worker.url)
        first = source.observe(None, NO_METADATA, T0)
        assert kinds(source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)) == [("RUNNING", "shop")]
    facet = first.events[0]["run"]["facets"]["kafka_connect"]
    assert (facet["connectorClass"], facet["pluginVersion"], facet["inferred"]) == (FILE["connector.class"], "9", False)
    assert [dataset["name"] for dataset in first.events[0]["inputs"]] == ["/in.txt"]
    assert facet["config"]["file"] != "/in.txt"


def test_topics_named_by_the_clusters_id_meet_those_named_by_a_server():
    with fake_worker(worker_with(entry("shop", FILE))) as worker:
        source = ConnectObserver("shop", ConnectSettings(url=worker.url))
        first = source.observe(None, NO_METADATA, T0)
        known = SharedMetadata((ClusterMetadata("cluster", "kafka://broker:9092", frozenset({"broker:9092"})),))
        second = source.observe(first.snapshot, known, T0 + MINUTE_US)
        third = source.observe(second.snapshot, known, T0 + 2 * MINUTE_US)
    begun: list[Any] = [first.events[0], second.events[0]]
    spaces = [dataset["namespace"] for event in begun for dataset in event["outputs"]]
    assert spaces == ["kafka://cluster", "kafka://broker:9092"]
    assert [pair[:2] for pair in second.aliases] == [("kafka://broker:9092", "kafka://cluster")]
    assert first.aliases == third.aliases == ()


def test_a_test_reports_each_step():
    with fake_worker(worker_with(entry("shop", FILE), **{"/connectors/shop/offsets": 404})) as worker:
        checks = list(observer(worker.url).test())
    assert [(check.step, check.works) for check in checks] == [
        ("reach the worker", True),
        ("list connectors", True),
        ("tasks of connector shop", True),
        ("topics of connector shop", True),
        ("offsets of connector shop", False),
        ("list plugins", True),
    ]
    assert [check.works for check in observer("http://127.0.0.1:1").test()] == [False]


def test_sinks_own_their_groups():
    with fake_worker(
        worker_with(entry("out", SINK, "sink"), entry("own", {**SINK, "consumer.override.group.id": "mine"}, "sink"))
    ) as worker:
        source = observer(worker.url, namespace="connect")
        snapshot = source.observe(None, NO_METADATA, T0).snapshot
    assert source.shared_metadata(snapshot).owners == {
        ("cluster", "connect-out"): ("connect", "out"),
        ("cluster", "mine"): ("connect", "own"),
    }
