"""OpenMetadata's settings for Kinesis become an input that does what each of them says, or are refused."""

import copy
from typing import Any

import pytest

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kinesis.settings import KinesisInputSettings
from lineage_bridge.inputs.openmetadata import translated
from lineage_bridge.inputs.settings import JobPatterns

AWS: dict[str, Any] = {"awsRegion": "us-east-2", "awsAccessKeyId": "AKIA", "awsSecretAccessKey": "${env:SECRET}"}
# As OpenMetadata's documentation gives it, with secrets as references.
BROKER: dict[str, Any] = {
    "streamName": "openlineage-events",
    "consumerOffsets": "TRIM_HORIZON",
    "poolTimeout": 1.0,
    "sessionTimeout": 30,
    "awsConfig": AWS,
}


def settings_of(settings: dict[str, Any]) -> KinesisInputSettings:
    kind, made = translated("events", {"kind": "openmetadata", **copy.deepcopy(settings)})
    assert kind == "kinesis"
    return KinesisInputSettings(**made)


def test_the_documented_example_is_read() -> None:
    made = settings_of({"type": "OpenLineage", "brokerConfig": BROKER})
    assert (made.stream, made.start, made.poll_s, made.idle_s, made.region) == ("openlineage-events", "trim_horizon", 1, 30, "us-east-2")
    assert (made.access_key_id, made.secret_access_key) == ("AKIA", "${env:SECRET}")


@pytest.mark.parametrize(
    ("option", "value", "setting", "expected"),
    [
        ("streamName", "other", "stream", "other"),
        ("consumerOffsets", "LATEST", "start", "latest"),
        ("poolTimeout", 2.5, "poll_s", 2.5),
        ("sessionTimeout", 7, "idle_s", 7),
        ("awsConfig", {**AWS, "awsRegion": "eu-west-1"}, "region", "eu-west-1"),
        ("awsConfig", {**AWS, "awsAccessKeyId": "AKIB"}, "access_key_id", "AKIB"),
        ("awsConfig", {**AWS, "awsSecretAccessKey": "${env:B}"}, "secret_access_key", "${env:B}"),
        ("awsConfig", {**AWS, "awsSessionToken": "${env:T}"}, "session_token", "${env:T}"),
        ("awsConfig", {**AWS, "endPointURL": "http://127.0.0.1:4568"}, "endpoint_url", "http://127.0.0.1:4568"),
        ("awsConfig", {"awsRegion": "r", "profileName": "p"}, "profile", "p"),
        ("awsConfig", {**AWS, "assumeRoleArn": "arn:aws:iam::123456789012:role/r"}, "role_arn", "arn:aws:iam::123456789012:role/r"),
        ("awsConfig", {**AWS, "assumeRoleArn": "arn:aws:iam::123456789012:role/r"}, "role_session_name", "OpenMetadataSession"),
        (
            "awsConfig",
            {**AWS, "assumeRoleArn": "arn:aws:iam::123456789012:role/r", "assumeRoleSessionName": "mine"},
            "role_session_name",
            "mine",
        ),
        (
            "awsConfig",
            {**AWS, "assumeRoleArn": "arn:aws:iam::123456789012:role/r", "assumeRoleSourceIdentity": "me"},
            "role_source_identity",
            "me",
        ),
        ("awsConfig", {"enabled": True, "awsRegion": "r"}, "access_key_id", ""),
        ("awsConfig", {"awsRegion": "r", "assumeRoleSessionName": "OpenMetadataSession"}, "role_session_name", ""),
    ],
)
def test_each_option_has_its_setting(option: str, value: Any, setting: str, expected: Any) -> None:
    assert getattr(settings_of({**BROKER, option: value}), setting) == expected


def test_patterns_of_pipelines_are_those_of_jobs() -> None:
    made = settings_of({"type": "OpenLineage", "pipelineFilterPattern": {"excludes": ["test"]}, "brokerConfig": BROKER})
    assert made.jobs == JobPatterns(exclude=("test",))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"awsConfig": AWS}, "streamName is missing"),
        ({"streamName": "s"}, "awsConfig is missing"),
        ({**BROKER, "awsConfig": {"awsAccessKeyId": "A"}}, "awsRegion is missing"),
        ({**BROKER, "awsConfig": "text"}, "awsConfig is not an object"),
        ({**BROKER, "awsConfig": {**AWS, "awsregion": "r"}}, "unknown option awsConfig.awsregion"),
        ({**BROKER, "awsConfig": {**AWS, "enabled": True}}, "awsConfig.awsAccessKeyId also sets credentials"),
        ({**BROKER, "awsConfig": {**AWS, "enabled": "yes"}}, "use true or false"),
        ({**BROKER, "topicName": "t"}, "topicName is an option of Kafka"),
        ({**BROKER, "streamname": "s"}, "unknown option streamname"),
        ({**BROKER, "namespaceToServiceMapping": {"a": "b"}}, "LineageBridge has no services"),
    ],
)
def test_what_cannot_be_done_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError) as error:
        settings_of(settings)
    assert reason in str(error.value)


def test_a_secret_in_plain_text_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="must be a reference") as error:
        settings_of({**BROKER, "awsConfig": {**AWS, "awsSecretAccessKey": "hunter2"}})
    assert "hunter2" not in str(error.value)
