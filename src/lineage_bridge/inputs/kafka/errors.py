"""Converts librdkafka's errors to errors of inputs, and its values to bytes."""

from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError, UnauthenticatedError, UnreachableError

_LOGIN: Final = frozenset((KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._AUTHENTICATION))  # noqa: SLF001  # that is its public name
_FORBIDDEN: Final = frozenset(
    (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED)
)
UNKNOWN: Final = frozenset((KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION))  # noqa: SLF001  # as above
LOST: Final = frozenset((KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET, KafkaError._LOG_TRUNCATION))  # noqa: SLF001  # as above


def kafka_error(error: object) -> KafkaError | None:
    """The KafkaError inside an exception of librdkafka."""
    found = error.args[0] if isinstance(error, KafkaException) and error.args else error
    return found if isinstance(found, KafkaError) else None


def as_bytes(value: Any) -> bytes | None:  # noqa: ANN401  # the client's types allow text too
    """Convert a value, key or header of a record to bytes."""
    return value.encode() if isinstance(value, str) else value


def error_text(error: object) -> str:
    """The message of an error of librdkafka."""
    found = kafka_error(error)
    return found.str() if found else str(error)


def is_unavailable_topic(error: object) -> bool:
    """Whether an error means that a topic does not exist or may not be read. Other errors may be temporary."""
    found = kafka_error(error)
    return found is not None and found.code() in UNKNOWN | _FORBIDDEN


def input_error(error: object, what: str, *causes: object) -> SourceError:
    """Convert an error of librdkafka. librdkafka reports the cause of a timeout as an earlier error, which is in `causes`."""
    found = [cause for cause in map(kafka_error, (*causes, error)) if cause]
    codes = {cause.code() for cause in found}
    shown = next((cause for cause in found if cause.code() in _LOGIN | _FORBIDDEN), found[0] if found else error)
    text = f"{what}: {error_text(shown)}"
    if codes & _LOGIN:
        return UnauthenticatedError(text, "check `security_protocol`, `sasl_mechanism` and the credentials")
    if codes & _FORBIDDEN:
        return ForbiddenError(text, "allow READ on the topics and on the group")
    if codes & UNKNOWN:
        return MissingError(text, "create the topic, or correct the setting `topics`")
    return UnreachableError(text, "check `bootstrap_servers`, `security_protocol`, and that the brokers run")
