"""OpenMetadata's settings become an input that does what each of them says, or are refused."""

import copy
from typing import Any

import pytest

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings, client_config, consumer_config
from lineage_bridge.inputs.openmetadata import translated
from lineage_bridge.inputs.settings import JobPatterns

# As OpenMetadata's documentation gives it, with secrets as references.
WORKFLOW: dict[str, Any] = {
    "source": {
        "type": "openlineage",
        "serviceName": "openlineage_source",
        "serviceConnection": {
            "config": {
                "type": "OpenLineage",
                "brokerConfig": {
                    "brokersUrl": "broker1:9092,broker2:9092",
                    "topicName": "openlineage-events",
                    "consumerGroupName": "openmetadata-consumer",
                    "consumerOffsets": "latest",
                    "poolTimeout": 0.3,
                    "sessionTimeout": 60,
                    "securityProtocol": "SASL_SSL",
                    "sslConfig": {"caCertificate": "-----CA-----", "sslCertificate": "-----CERT-----", "sslKey": "${env:LB_TEST_SSL_KEY}"},
                    "saslConfig": {"saslMechanism": "SCRAM-SHA-512", "saslUsername": "reader", "saslPassword": "${env:LB_TEST_PASSWORD}"},
                },
            }
        },
        "sourceConfig": {"config": {"type": "PipelineMetadata", "includeLineage": True, "includeOwners": True}},
    }
}
BROKER = WORKFLOW["source"]["serviceConnection"]["config"]["brokerConfig"]


def settings_of(settings: dict[str, Any]) -> KafkaInputSettings:
    kind, made = translated("events", {"kind": "openmetadata", **copy.deepcopy(settings)})
    assert kind == "kafka"
    return KafkaInputSettings(**made)


def refused(settings: dict[str, Any]) -> str:
    with pytest.raises(ConfigError) as error:
        settings_of(settings)
    return str(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        WORKFLOW,
        WORKFLOW["source"],
        WORKFLOW["source"]["serviceConnection"]["config"],
        {"type": "OpenLineage", **BROKER},
        BROKER,
    ],
    ids=["workflow", "source", "connection", "flat, as before 1.13", "broker"],
)
def test_each_form_is_read(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LB_TEST_SSL_KEY", "-----KEY-----")
    monkeypatch.setenv("LB_TEST_PASSWORD", "secret")
    made = settings_of(settings)
    assert (made.bootstrap_servers, made.topics, made.group, made.start) == (
        "broker1:9092,broker2:9092",
        ("openlineage-events",),
        "openmetadata-consumer",
        "latest",
    )
    assert (made.poll_s, made.idle_s) == (0.3, 60)
    config = consumer_config(made, made.group)
    assert {name: config[name] for name in ("security.protocol", "sasl.mechanism", "sasl.username", "sasl.password", "group.id")} == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "reader",
        "sasl.password": "secret",
        "group.id": "openmetadata-consumer",
    }
    assert (config["ssl.ca.pem"], config["ssl.certificate.pem"], config["ssl.key.pem"]) == (
        "-----CA-----",
        "-----CERT-----",
        "-----KEY-----",
    )


@pytest.mark.parametrize(
    ("option", "value", "setting", "expected"),
    [
        ("brokersUrl", "other:9093", "bootstrap_servers", "other:9093"),
        ("topicName", "lineage", "topics", ("lineage",)),
        ("consumerGroupName", "mine", "group", "mine"),
        ("consumerOffsets", "earliest", "start", "earliest"),
        ("poolTimeout", 2.5, "poll_s", 2.5),
        ("sessionTimeout", 7, "idle_s", 7),
        ("securityProtocol", "SASL_PLAINTEXT", "security_protocol", "SASL_PLAINTEXT"),
    ],
)
def test_each_option_has_its_setting(option: str, value: Any, setting: str, expected: Any) -> None:
    broker = {name: found for name, found in BROKER.items() if name != "sslConfig"}
    assert getattr(settings_of({**broker, option: value}), setting) == expected


def test_what_is_left_out_is_as_openmetadata_has_it() -> None:
    made = settings_of({"brokersUrl": "b:9092", "topicName": "t", "consumerGroupName": None})
    assert (made.start, made.poll_s, made.security_protocol, made.group) == ("earliest", 1.0, "PLAINTEXT", "")
    login = {"securityProtocol": "SASL_SSL", "saslConfig": {"saslUsername": "u", "saslPassword": "${env:X}"}}
    assert settings_of({"brokersUrl": "b:9092", "topicName": "t", **login}).sasl_mechanism == "PLAIN"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"topicName": "t"}, "brokersUrl is missing"),
        ({"brokersUrl": "b:9092"}, "topicName is missing"),
        ({**BROKER, "topicname": "t"}, "unknown option topicname"),
        ({**BROKER, "saslConfig": {"saslUser": "u"}}, "unknown option saslConfig.saslUser"),
        ({**BROKER, "sslConfig": "text"}, "sslConfig is not an object"),
        ({"type": "OpenLineage", "brokerConfig": {**BROKER, "streamName": "s"}}, "option of Kafka"),
        ({**BROKER, "type": "Airflow"}, "only the connector OpenLineage"),
        ({**BROKER, "supportsMetadataExtraction": False}, "pause the input"),
        ({**BROKER, "namespaceToServiceMapping": {"ns": "service"}}, "LineageBridge has no services"),
        ({**BROKER, "pipelineFilterPattern": ["etl.*"]}, "pipelineFilterPattern is not an object"),
        ({**BROKER, "pipelineFilterPattern": {"include": ["etl.*"]}}, "unknown option pipelineFilterPattern.include"),
    ],
)
def test_what_cannot_be_done_is_refused(settings: dict[str, Any], reason: str) -> None:
    assert reason in refused(settings)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("includeLineage", False, "as a whole"),
        ("includeOwners", False, "as a whole"),
        ("includeTags", False, "as a whole"),
        ("includeUnDeployedPipelines", False, "for every pipeline"),
        ("overrideLineage", True, "merged"),
        ("overrideMetadata", True, "merged"),
        ("ownershipUpdateMode", "append", "newest ownership facet"),
        ("statusLookbackDays", 3, "all records"),
        ("markDeletedPipelines", "later", "use true or false"),
        ("lineageInformation", {"dbServiceNames": ["db"]}, "no services"),
        ("unheardOf", 1, "unknown option"),
    ],
)
def test_options_of_the_ingestion_that_would_change_something_are_refused(option: str, value: Any, reason: str) -> None:
    workflow = copy.deepcopy(WORKFLOW)
    workflow["source"]["sourceConfig"]["config"][option] = value
    assert reason in refused(workflow)


@pytest.mark.parametrize("value", [True, False])
def test_marking_pipelines_as_deleted_has_no_effect_as_there(value: bool) -> None:
    workflow = copy.deepcopy(WORKFLOW)
    workflow["source"]["sourceConfig"]["config"]["markDeletedPipelines"] = value
    assert settings_of(workflow) == settings_of(WORKFLOW)


def test_an_ingestion_with_all_options_as_their_page_writes_them_is_accepted() -> None:
    workflow = copy.deepcopy(WORKFLOW)
    workflow["source"]["sourceConfig"]["config"] |= {
        "includeTags": True,
        "includeUnDeployedPipelines": True,
        "lineageInformation": {},
        "markDeletedPipelines": True,
        "overrideLineage": False,
        "overrideMetadata": False,
        "ownershipUpdateMode": "replace",
        "pipelineFilterPattern": {"includes": [], "excludes": []},
        "statusLookbackDays": 1,
    }
    assert settings_of(workflow) == settings_of(WORKFLOW)


@pytest.mark.parametrize(
    ("ingestion", "connection", "include", "exclude"),
    [
        (None, {"includes": ["etl.*"]}, ("etl.*",), ()),
        (None, {"excludes": ["etl.*"]}, (), ("etl.*",)),
        ({"excludes": ["test"]}, None, (), ("test",)),
        ({"excludes": ["test"]}, {"includes": ["etl.*"]}, (), ("test",)),
        ({}, {"includes": ["etl.*"]}, (), ()),
        ({"includes": ["a"], "excludes": ["ab"]}, None, ("a",), ()),
        ({"includes": [], "excludes": ["ab"]}, None, (), ("ab",)),
        ({"includes": None, "excludes": None}, None, (), ()),
    ],
    ids=["include", "exclude", "ingestion", "before the connection's", "empty", "includes come first", "no includes", "null"],
)
def test_patterns_of_pipelines_are_those_of_jobs(
    ingestion: dict[str, Any] | None, connection: dict[str, Any] | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    workflow = copy.deepcopy(WORKFLOW)
    source = workflow["source"]
    source["sourceConfig"]["config"]["pipelineFilterPattern"] = ingestion
    source["serviceConnection"]["config"]["pipelineFilterPattern"] = connection
    assert settings_of(workflow).jobs == JobPatterns(include=include, exclude=exclude)


def test_a_secret_in_plain_text_is_refused_and_not_repeated() -> None:
    kind, made = translated("events", {"kind": "openmetadata", **BROKER, "saslConfig": {"saslUsername": "u", "saslPassword": "hunter2"}})
    assert kind == "kafka"
    with pytest.raises(ValueError, match="must be a reference") as error:
        KafkaInputSettings(**made)
    assert "hunter2" not in str(error.value)


def test_a_connection_without_login_has_none() -> None:
    assert "sasl.mechanism" not in client_config(settings_of({"brokersUrl": "127.0.0.1:9092", "topicName": "t"}))
