"""Translates the settings of OpenMetadata's OpenLineage connector to those of an input. Pure.

Options have the names and meanings of OpenMetadata 2.0 (the broker's options are in `brokerConfig`) and of versions before 1.13 (the
broker's options are at the top level). An option that LineageBridge cannot honour causes an error; it is never ignored.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from lineage_bridge.errors import ConfigError

KIND_NAME: Final = "openmetadata"
"""The kind of an input that is given as settings of OpenMetadata. It is translated to the kind `kafka` or `kinesis`."""
_HINT: Final = "docs/inputs.md lists the options that are translated"
_Translate = Callable[[Any], dict[str, Any]]


class _Only(NamedTuple):
    """An option that is only accepted with values that match what LineageBridge does, and the message for other values."""

    values: tuple[Any, ...]
    reason: str


def translated(name: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Translate settings with `kind` to the kind and settings of an input. Raises ConfigError for what cannot be translated."""
    kind = str(settings.pop("kind", ""))
    if kind != KIND_NAME:
        return kind, settings
    try:
        options = _connection(settings)
        return ("kinesis", _kinesis(options)) if {"streamName", "awsConfig"} & options.keys() else ("kafka", _kafka(options))
    except _RefusedOptionError as error:
        raise ConfigError(f"input {name} (openmetadata): {error}", _HINT) from error


class _RefusedOptionError(Exception):
    """An option cannot be honoured; the message gives the reason."""


def _connection(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the connection. `settings` may be a whole workflow, the source of a workflow, or just the options of the connection.
    If there are options of the ingestion, they are checked.
    """
    source = settings.get("source", settings)
    ingestion = source.get("sourceConfig", {}).get("config", {})
    pattern = ingestion.get("pipelineFilterPattern")
    _check({key: value for key, value in ingestion.items() if key != "pipelineFilterPattern"}, _INGESTION)
    connection = source.get("serviceConnection", {}).get("config", source)
    found = {key: value for key, value in connection.items() if key not in ("sourceConfig", "serviceName")}
    broker = found.pop("brokerConfig", None)
    if broker is not None and not isinstance(broker, dict):
        raise _RefusedOptionError("brokerConfig is not an object")
    # OpenMetadata uses the pattern of the ingestion; that of the connection is only its default.
    return {**found, **({} if pattern is None else {"pipelineFilterPattern": pattern}), **(broker or {})}


def _kafka(options: dict[str, Any]) -> dict[str, Any]:
    made = _made(options, _TRANSLATED, {"brokersUrl", "topicName"})
    if made.get("security_protocol", "PLAINTEXT").startswith("SASL"):
        made.setdefault("sasl_mechanism", "PLAIN")
    return made


def _kinesis(options: dict[str, Any]) -> dict[str, Any]:
    if kafka := sorted((_TRANSLATED.keys() - _BOTH) & options.keys()):
        raise _RefusedOptionError(
            f"{kafka[0]} is an option of Kafka, but streamName and awsConfig are options of Kinesis; give the options of only one of them"
        )
    return _made(options, {**_KINESIS, **{key: _TRANSLATED[key] for key in _BOTH - _KINESIS.keys()}}, {"streamName", "awsConfig"})


def _made(options: dict[str, Any], translated_: Mapping[str, _Translate], required: set[str]) -> dict[str, Any]:
    """Make the settings from the options. Raises if an option is missing, unknown or cannot be honoured."""
    _check({key: value for key, value in options.items() if key not in translated_}, _CONNECTION)
    if missing := sorted(key for key in required if options.get(key) is None):
        raise _RefusedOptionError(f"{missing[0]} is missing")
    made: dict[str, Any] = {}
    for key, translate in translated_.items():
        if options.get(key) is not None:
            made |= translate(options[key])
    return made


def _check(options: Mapping[str, Any], allowed: Mapping[str, _Only]) -> None:
    """Check options. Raises for an unknown option, and for a value that LineageBridge cannot honour."""
    for key, value in options.items():
        if key not in allowed:
            raise _RefusedOptionError(f"unknown option {key}: remove it")
        if value is not None and value not in allowed[key].values:
            raise _RefusedOptionError(f"{key} = {value!r}: {allowed[key].reason}")


def _as(setting: str) -> _Translate:
    return lambda value: {setting: value}


def _sasl(value: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    names = {"saslMechanism": "sasl_mechanism", "saslUsername": "username", "saslPassword": "password"}
    return _renamed("saslConfig", value, names)


def _jobs(value: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Translate the patterns for names of pipelines. As in OpenMetadata, excludes are ignored if there are includes."""
    found = _renamed("pipelineFilterPattern", value, {"includes": "include", "excludes": "exclude"})
    if found.get("include"):
        found.pop("exclude", None)
    kept = {key: patterns for key, patterns in found.items() if patterns}
    return {"jobs": kept} if kept else {}


def _ssl(value: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    return _renamed("sslConfig", value, {"caCertificate": "ssl_ca_pem", "sslCertificate": "ssl_cert_pem", "sslKey": "ssl_key_pem"})


def _aws(value: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Translate the settings of the connection to AWS. In OpenMetadata, the option `enabled` allows keys to be missing; in LineageBridge,
    keys may always be missing.
    """
    if not isinstance(value, dict):
        raise _RefusedOptionError("awsConfig is not an object")
    if value.get("awsRegion") is None:
        raise _RefusedOptionError("awsConfig.awsRegion is missing")
    is_found = value.get("enabled")
    if is_found not in (None, True, False):
        raise _RefusedOptionError(f"awsConfig.enabled = {is_found!r}: use true or false")
    if is_found and (keys := sorted({"awsAccessKeyId", "awsSecretAccessKey", "awsSessionToken"} & value.keys())):
        raise _RefusedOptionError(
            f"awsConfig.enabled lets the AWS SDK find credentials, but awsConfig.{keys[0]} also sets credentials: give one of the two"
        )
    made = _renamed("awsConfig", {key: found for key, found in value.items() if key != "enabled"}, _AWS)
    if not made.get("role_arn"):  # OpenMetadata writes the name of the session also where no role is assumed
        made = {key: found for key, found in made.items() if key not in ("role_session_name", "role_source_identity")}
    elif "role_session_name" not in made:
        made["role_session_name"] = "OpenMetadataSession"
    return made


def _renamed(option: str, value: Any, names: Mapping[str, str]) -> dict[str, Any]:  # noqa: ANN401  # JSON
    if not isinstance(value, dict):
        raise _RefusedOptionError(f"{option} is not an object")
    if unknown := sorted(value.keys() - names.keys()):
        raise _RefusedOptionError(f"unknown option {option}.{unknown[0]}: remove it")
    return {names[key]: found for key, found in value.items() if found is not None}


_TRANSLATED: Final[Mapping[str, _Translate]] = {
    "brokersUrl": _as("bootstrap_servers"),
    "topicName": lambda value: {"topics": [value]},
    "consumerGroupName": _as("group"),
    "consumerOffsets": _as("start"),
    "poolTimeout": _as("poll_s"),
    "sessionTimeout": _as("idle_s"),
    "securityProtocol": _as("security_protocol"),
    "sslConfig": _ssl,
    "saslConfig": _sasl,
    "pipelineFilterPattern": _jobs,
}
"""Options of Kafka's broker and of the connection, and the settings that they become."""
_AWS: Final[Mapping[str, str]] = {
    "awsAccessKeyId": "access_key_id",
    "awsSecretAccessKey": "secret_access_key",
    "awsRegion": "region",
    "awsSessionToken": "session_token",
    "endPointURL": "endpoint_url",
    "profileName": "profile",
    "assumeRoleArn": "role_arn",
    "assumeRoleSessionName": "role_session_name",
    "assumeRoleSourceIdentity": "role_source_identity",
}
_KINESIS: Final[Mapping[str, _Translate]] = {"streamName": _as("stream"), "awsConfig": _aws, "consumerOffsets": _as("start")}
"""Options of Kinesis, beside those that are in _BOTH."""
_BOTH: Final = frozenset({"consumerOffsets", "poolTimeout", "sessionTimeout", "pipelineFilterPattern"})
_CONNECTION: Final[Mapping[str, _Only]] = {
    "type": _Only(("OpenLineage",), "only the connector OpenLineage is translated"),
    "supportsMetadataExtraction": _Only((True,), "an input always ingests the events that it reads; pause the input instead"),
    "namespaceToServiceMapping": _Only(({},), "LineageBridge has no services; join names with aliases: lineage-bridge alias --help"),
}
_INGESTION: Final[Mapping[str, _Only]] = {
    "type": _Only(("PipelineMetadata", "PipelineLineage"), "only metadata of pipelines is translated"),
    "includeLineage": _Only((True,), "an event is ingested as a whole, including its lineage"),
    "includeOwners": _Only((True,), "an event is ingested as a whole, including its owners"),
    "includeTags": _Only((True,), "an event is ingested as a whole, including its tags"),
    "includeUnDeployedPipelines": _Only((True,), "events are ingested for every pipeline"),
    # OpenMetadata removes nothing either, since a topic does not show which jobs are gone.
    "markDeletedPipelines": _Only((True, False), "use true or false"),
    "overrideLineage": _Only((False,), "events are merged, whatever their order"),
    "overrideMetadata": _Only((False,), "events are merged, whatever their order"),
    "ownershipUpdateMode": _Only(("replace",), "the newest ownership facet of a job counts"),
    "statusLookbackDays": _Only((1,), "all records of the topic are read, from consumerOffsets on"),
    "lineageInformation": _Only(({},), "LineageBridge has no services; datasets are identified by their namespaces"),
}
