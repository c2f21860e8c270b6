"""MSK Connect: the lives of its connectors, against events written by hand, and that nothing ends for want of an answer."""

import json
import logging
import sys
from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.connect.events.test_lifecycles import Reader
from tests.sources.http import Reply
from tests.sources.msk_connect.server import ACCOUNT, BROKEN, BROKERS, FORBIDDEN, REGION, THROTTLED, Msk, arn, connector, msk, refused

from lineage_bridge.errors import BusyError, ConfigError, ForbiddenError, SourceError, UnreachableError
from lineage_bridge.sources.common.aws import session as aws_session
from lineage_bridge.sources.common.observer import Observation, SameJob
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.msk_connect.observer import MskObserver
from lineage_bridge.sources.msk_connect.settings import MskSettings
from lineage_bridge.sources.runtime.kinds import KINDS
from lineage_bridge.sources.runtime.poller import outbox_messages

T0, MINUTE_US = 1_795_000_000_000_000, 60_000_000
JOBS = f"msk-connect://{REGION}/{ACCOUNT}"
SPACE = f"kafka://{BROKERS.split(',')[0]}"
FILE = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "topic": "lines", "file": "/in.txt"}
CAPTURE = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "tasks.max": "1",
    "topic.prefix": "shop",
    "database.hostname": "orders.db.example.org",
    "database.port": "5432",
    "database.dbname": "orders",
    "database.user": "${secretManager:db:user}",
    "database.password": "hunter2-in-clear",
    "table.include.list": "public.orders",
}
LAKE = {"connector.class": "io.confluent.connect.s3.S3SinkConnector", "topics": "shop.public.orders", "s3.bucket.name": "lake"}
WHY = {"code": "UnknownError.Unknown", "message": "The connector cannot reach its database"}
ALL = "+kafka_connect +kafka_connect_health +processing_engine"
BOTH = "+kafka_connect +kafka_connect_health"
BEGUN = [f"START shop #1 {ALL}", "RUNNING shop #1"]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    for key in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "from-the-environment")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(aws_session, "TRIES", 1)


def observer(service: Msk, **settings: Any) -> MskObserver:
    return MskObserver("aws", MskSettings(**{"region": REGION, "endpoint_url": service.url, "timeout_s": 5, **settings}))


def seen_after(
    service: Msk, before: Observation | None = None, minutes: int = 0, around: SharedMetadata = NO_METADATA, **settings: Any
) -> Observation:
    source = observer(service, **settings)
    try:
        return source.observe(before.snapshot if before else None, around, T0 + minutes * MINUTE_US)
    finally:
        source.close()


def events_of(seen: Observation) -> list[Any]:
    """The events, as JSON."""
    return list(seen.events)


def lines(reader: Reader, seen: Observation) -> list[str]:
    return [*map(reader.line, events_of(seen)), *(f"unseen {entry.what}" for entry in seen.unseen)]


LIVES: list[tuple[str, list[tuple[dict[str, Any] | None, list[str]]]]] = [
    (
        "created, updated, paused and resumed: one run, until the configuration is another",
        [
            ({"state": "CREATING"}, BEGUN),
            ({}, [f"RUNNING shop #1 {BOTH}"]),
            ({}, ["RUNNING shop #1"]),
            ({"state": "UPDATING"}, [f"RUNNING shop #1 {BOTH}"]),
            ({"state": "RESTARTING"}, [f"RUNNING shop #1 {BOTH}"]),
            ({"state": "PAUSED"}, [f"RUNNING shop #1 {BOTH}"]),
            ({"state": "RESUMING"}, [f"RUNNING shop #1 {BOTH}"]),
            ({"config": {**FILE, "topic": "more"}, "version": "K2"}, ["COMPLETE shop #1", f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    (
        "it fails, is updated, and runs again",
        [
            ({}, BEGUN),
            ({"state": "FAILED", "stateDescription": WHY}, [f"FAIL shop #1 {BOTH} - UnknownError.Unknown: {WHY['message']}"]),
            ({"state": "FAILED", "stateDescription": WHY}, []),
            ({"state": "FAILED", "stateDescription": {"message": "Gone"}}, ["FAIL shop #1 +kafka_connect_health - Gone"]),
            ({"state": "UPDATING"}, []),
            ({}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    (
        "being deleted is no end yet, to be gone is; what has its name later is new",
        [
            ({}, BEGUN),
            ({"state": "DELETING"}, [f"RUNNING shop #1 {BOTH}"]),
            (None, ["ABORT shop #1"]),
            (None, []),
            ({}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    (
        "failed, then deleted: it has ended already",
        [
            (
                {"state": "FAILED", "stateDescription": WHY},
                [f"START shop #1 {ALL}", f"FAIL shop #1 - UnknownError.Unknown: {WHY['message']}"],
            ),
            ({"state": "DELETING"}, []),
            (None, []),
        ],
    ),
]


@pytest.mark.parametrize("life", LIVES, ids=lambda life: life[0])
def test_each_poll_gives_the_events_of_its_changes(life):
    reader, before = Reader(), None
    with msk() as service:
        source = observer(service)
        for number, (state, gives) in enumerate(life[1]):
            service.connectors = [] if state is None else [connector("shop", **{"config": FILE, **state})]
            seen = source.observe(before, NO_METADATA, T0 + number * MINUTE_US)
            anew = seen_after(service, Observation(before) if before else None, number)
            assert anew == seen, "what is remembered of descriptions changes nothing"
            assert lines(reader, seen) == gives, f"poll {number + 1}"
            before = json.loads(json.dumps(seen.snapshot))


def test_what_is_as_it_was_is_not_described_again():
    with msk(*(connector(f"c{number}", FILE) for number in range(5))) as service:
        source = observer(service)
        first = source.observe(None, NO_METADATA, T0)
        assert len(service.asked) == 3 + 5
        service.asked.clear()
        service.connectors[1] = connector("c1", {**FILE, "topic": "other"}, version="K2")
        service.connectors[2] = connector("c2", FILE, state="FAILED")
        second = source.observe(first.snapshot, NO_METADATA, T0 + MINUTE_US)
        assert sorted(target.split("/")[-1] for target in service.asked if "arn" in target) == sorted(
            target.split("/")[-1] for target in service.asked[3:]
        )
        assert len(service.asked) == 3 + 2
    assert [event["eventType"] for event in events_of(second)] == ["RUNNING", "COMPLETE", "START", "RUNNING", "FAIL", "RUNNING", "RUNNING"]


@pytest.mark.parametrize(
    ("listing", "described", "unseen"),
    [
        ({1: THROTTLED}, {}, ["list of connectors"]),
        ({1: BROKEN}, {}, ["list of connectors"]),
        ({1: FORBIDDEN}, {}, ["list of connectors"]),
        ({1: Reply(200, b"<html>", "text/html")}, {}, ["list of connectors"]),
        ({}, {"a": FORBIDDEN}, ["connector a"]),
        ({}, {"a": THROTTLED, "c": BROKEN}, ["connector a", "connector c"]),
        ({}, {"b": refused(404, "NotFoundException")}, ["connector b"]),
        ({}, {"b": Reply(200, {"connectorName": "b", "connectorState": "RUNNING"})}, ["connector b"]),
        ({}, {"b": Reply(200, b"<html>", "text/html")}, ["connector b"]),
    ],
)
def test_what_is_not_answered_is_unseen_and_nothing_ends(listing, described, unseen):
    with msk(*(connector(name, {**FILE, "topic": name}) for name in "abc")) as service:
        first = seen_after(service)
        service.listing, service.described = listing, described
        second = seen_after(service, first, 1)
        assert [entry.what for entry in second.unseen] == unseen
        assert {event["eventType"] for event in events_of(second)} <= {"RUNNING"}
        service.listing, service.described = {}, {}
        third = seen_after(service, second, 2)
    assert [(event["eventType"], event["job"]["name"]) for event in events_of(third)] == [("RUNNING", name) for name in "abc"]
    assert {event["run"]["runId"] for event in events_of(third)} == {event["run"]["runId"] for event in events_of(first)}


@pytest.mark.parametrize(
    ("answer", "error", "hint"),
    [
        (FORBIDDEN, ForbiddenError, "kafkaconnect:ListConnectors"),
        (refused(401, "UnauthorizedException"), ForbiddenError, "kafkaconnect:DescribeConnector"),
        (THROTTLED, BusyError, ""),
        (BROKEN, BusyError, ""),
        (Reply(200, b"<html>", "text/html"), SourceError, "endpoint_url"),
    ],
)
def test_when_nothing_can_be_listed_an_error_says_so(answer, error, hint):
    with msk(connector("shop", FILE)) as service:
        first = seen_after(service)
        service.listing = {0: answer}
        with pytest.raises(error) as caught:
            seen_after(service, first, 1)
        assert hint in caught.value.hint
        checks = list(observer(service).test())
    assert [check.works for check in checks] == [False]


def test_an_address_without_a_server_is_an_error():
    with msk() as service:
        gone = observer(service)
    with pytest.raises(UnreachableError):
        gone.observe(None, NO_METADATA, T0)


def test_throttled_calls_are_tried_again(monkeypatch):
    monkeypatch.setattr(aws_session, "TRIES", 3)
    with msk(connector("shop", FILE)) as service:
        answers = iter([THROTTLED, THROTTLED])
        plain = service.answer
        service.standin.api = lambda request: next(answers, None) or plain(request)
        assert not seen_after(service).unseen
    assert len(service.asked) == 4


def test_a_test_tries_the_listing_and_a_description():
    with msk(connector("shop", FILE), connector("other", FILE)) as service:
        source = observer(service, exclude=("oth*",))
        assert [(check.step, check.works) for check in source.test()] == [("list connectors", True), ("describe connector shop", True)]
        service.described = {"shop": FORBIDDEN}
        assert [check.works for check in observer(service).test()] == [True, True]
        assert [check.works for check in source.test()] == [True, True], "it is as it was"
        assert [check.works for check in observer(service, include=("shop",)).test()] == [True, False]


def facet(seen: Observation, key: str = "kafka_connect") -> Any:
    return json.loads(json.dumps(events_of(seen)[0]))["run"]["facets"][key]


def test_secrets_are_masked_and_placeholders_stay(caplog):
    caplog.set_level(logging.DEBUG)
    with msk(connector("shop", CAPTURE)) as service:
        seen = seen_after(service)
    config = facet(seen)["config"]
    assert config["database.password"] == "********"
    assert config["database.user"] == "${secretManager:db:user}"
    assert "hunter2" not in json.dumps([events_of(seen), seen.snapshot]) + caplog.text


def test_a_configuration_of_plugins_whose_secrets_nobody_knows_is_not_reported():
    own = {**LAKE, "transforms": "seal", "transforms.seal.type": "org.example.Seal", "transforms.seal.recipe": "hunter2-in-clear"}
    with msk(
        connector("lake", own), connector("odd", {"connector.class": "org.example.OddSource", "recipe": "hunter2-in-clear"})
    ) as service:
        seen = seen_after(service)
    assert "config" not in facet(seen)
    assert "hunter2" not in json.dumps([events_of(seen), seen.snapshot])


def test_the_facet_reports_what_the_service_does():
    with msk(connector("shop", CAPTURE)) as service:
        found = facet(seen_after(service))
    assert found["connectorArn"] == arn("shop")
    assert found["capacity"] == {"provisionedCapacity": {"mcuCount": 1, "workerCount": 2}}
    assert (found["pluginVersion"], found["workerVersion"], found["kafkaClusterId"]) == ("debezium revision 3", "3.7.x", "")
    assert (found["direction"], found["tasks"]) == ("source", [])


def test_connectors_of_two_clusters_have_topics_groups_and_rows_of_their_own():
    other = {"apacheKafkaCluster": {"bootstrapServers": "kafka.example.org:9092"}}
    sink = {**LAKE, "consumer.override.group.id": "readers"}
    near = ClusterMetadata(
        "near", SPACE, frozenset(BROKERS.split(",")), frozenset(("lines",)), {}, {"lines": 7}, {("readers", "shop.public.orders"): 3}
    )
    far = ClusterMetadata(
        "far", "kafka://kafka.example.org:9092", frozenset(("kafka.example.org:9092",)), frozenset(("lines",)), {}, {"lines": 70}
    )
    with msk(
        connector("a", FILE), connector("b", FILE, kafkaCluster=other), connector("c", sink), connector("d", sink, kafkaCluster=other)
    ) as service:
        first = seen_after(service, around=SharedMetadata((near, far)))
        more = (
            ClusterMetadata(near.id, near.namespace, near.servers, near.topics, {}, {"lines": 9}, {("readers", "shop.public.orders"): 4}),
            ClusterMetadata(far.id, far.namespace, far.servers, far.topics, {}, {"lines": 75}),
        )
        second = seen_after(service, first, 1, SharedMetadata(more))
        known = observer(service).shared_metadata(json.loads(json.dumps(second.snapshot)))
    outputs = {event["job"]["name"]: event["outputs"] for event in events_of(second)}
    rows = {
        name: (dataset[0]["namespace"], dataset[0]["outputFacets"]["outputStatistics"]["rowCount"])
        for name, dataset in outputs.items()
        if dataset
    }
    assert rows == {"a": (SPACE, 2), "b": ("kafka://kafka.example.org:9092", 5)}
    assert known.owners == {("near", "readers"): (JOBS, "c"), ("far", "readers"): (JOBS, "d")}
    read = {event["job"]["name"]: event["inputs"] for event in events_of(second)}
    assert read["c"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 1
    assert not read["d"]


def test_a_broker_of_amazon_is_the_same_one_at_each_of_its_ports():
    known = ClusterMetadata(
        "near", "kafka://b-2.shop.abc.c2.kafka.eu-west-1.amazonaws.com:9096", frozenset((BROKERS.split(",")[1].replace("9098", "9096"),))
    )
    with msk(connector("a", FILE)) as service:
        seen = seen_after(service, around=SharedMetadata((known,)))
        assert events_of(seen)[0]["outputs"][0]["namespace"] == known.namespace
        assert facet(seen)["kafkaClusterId"] == "near"
        found = seen_after(service, kafka="b.example.org:9092")
        assert events_of(found)[0]["outputs"][0]["namespace"] == "kafka://b.example.org:9092"


def test_the_account_completes_names_and_debezium_runs_task_0():
    table = {
        "connector.class": "io.confluent.connect.aws.dynamodb.DynamoDbSinkConnector",
        "topics": "orders",
        "aws.dynamodb.region": REGION,
    }
    own = {**CAPTURE, "openlineage.integration.enabled": "true", "openlineage.integration.job.namespace": "cdc"}
    with msk(connector("cdc", own), connector("table", table)) as service:
        seen = seen_after(service)
    spaces = {dataset["namespace"] for event in events_of(seen) for dataset in event["outputs"]}
    assert f"arn:aws:dynamodb:{REGION}:{ACCOUNT}" in spaces
    assert SameJob(JOBS, "cdc", "cdc", "shop.0", "connector cdc: openlineage.integration.enabled") in seen.aliases


def test_another_account_is_another_system():
    with msk(connector("a", FILE)) as service:
        first = seen_after(service)
        service.connectors = [{**connector("b", FILE), "connectorArn": arn("b", "210987654321")}]
        second = seen_after(service, first, 1)
    assert [(event["eventType"], event["job"]["namespace"]) for event in events_of(second)] == [
        (kind, f"msk-connect://{REGION}/210987654321") for kind in ("START", "RUNNING")
    ]


def test_who_asks_is_found_as_the_library_does_or_set(monkeypatch, tmp_path):
    with msk(connector("a", FILE)) as service:
        assert not seen_after(service).unseen
        assert "AKIAENV/" in service.signed[-1]
        monkeypatch.setenv("SECRET_KEY", "k")
        seen_after(service, access_key_id="AKIASET", secret_access_key="${env:SECRET_KEY}")
        assert "AKIASET/" in service.signed[-1]
        (tmp_path / "credentials").write_text("[audit]\naws_access_key_id = AKIAFILE\naws_secret_access_key = k\n")
        (tmp_path / "config").write_text("[profile audit]\nregion = eu-west-3\n")
        seen_after(service, profile="audit", region="")
        assert "AKIAFILE/" in service.signed[-1]
        assert "/eu-west-3/kafkaconnect/" in service.signed[-1]
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", service.url)
        seen_after(service, role_arn="arn:aws:iam::123456789012:role/lineage", external_id="shop")
        assert "ASIAROLE/" in service.signed[-1]


def test_without_keys_region_or_the_library_an_error_says_what_to_do(monkeypatch):
    with msk(connector("a", FILE)) as service:
        with pytest.raises(ConfigError, match="region"):
            seen_after(service, region="")
        with pytest.raises(ConfigError, match="profile"):
            seen_after(service, profile="nobody")
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(ForbiddenError, match="credentials"):
            seen_after(service)
        monkeypatch.setitem(sys.modules, "lineage_bridge.sources.msk_connect.service", None)
        with pytest.raises(ConfigError) as caught:
            observer(service)
        assert caught.value.hint == "install it with: pip install 'lineage-bridge[aws]'"


@pytest.mark.parametrize(
    "settings",
    [
        {"access_key_id": "a"},
        {"secret_access_key": "${env:A}"},
        {"access_key_id": "a", "secret_access_key": "in-clear"},
        {"access_key_id": "a", "secret_access_key": "${env:A}", "profile": "p"},
        {"role_arn": "lineage"},
        {"endpoint_url": "b-1:9098"},
    ],
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError, match="1 validation error"):
        KINDS.load("msk-connect").settings(**settings)


def test_a_table_is_followed_through_a_topic_to_the_lake(graph: Server):
    graph.parts.now_us = T0
    with msk(connector("cdc", CAPTURE), connector("lake", LAKE)) as service:
        for path, body in outbox_messages(seen_after(service)):
            assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    database = "postgres://orders.db.example.org:5432"
    walk = graph.ask("/graph/neighbourhood", namespace=database, name="orders.public.orders", direction="downstream", depth=5)
    names = {(node["kind"], node["namespace"], node["name"]) for node in walk["nodes"]}
    assert {("dataset", SPACE, "shop.public.orders"), ("job", JOBS, "cdc"), ("job", JOBS, "lake")} <= names
    assert any(namespace == "s3://lake" for _, namespace, _ in names)
    assert graph.ask("/lineage/jobs/detail", namespace=JOBS, name="lake")["latest_run"]["state"] == "RUNNING"
