"""Connects to the audit log, which is a topic on a separate Kafka cluster."""

from typing import Any

from pydantic import ValidationError

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.confluent.settings import AuditLog, ConfluentSettings


def connection(audit_log: AuditLog, settings: ConfluentSettings) -> KafkaSettings:
    """Return the settings of a connection to the Kafka cluster with the audit log. Raises SourceError."""
    has_login = audit_log.security_protocol.startswith("SASL")
    login: dict[str, Any] = {"sasl_mechanism": "PLAIN", "username": audit_log.key, "password": audit_log.secret} if has_login else {}
    try:
        return KafkaSettings.model_validate(
            {
                "bootstrap_servers": audit_log.bootstrap_servers,
                "security_protocol": audit_log.security_protocol,
                "ssl_ca_file": audit_log.ssl_ca_file,
                "timeout_s": settings.timeout_s,
                **login,
            },
            context=settings.context,
        )
    except ValidationError as error:
        raise SourceError(
            f"the setting audit_log is not valid: {error.errors(include_url=False)[0]['msg']}", "docs/sources-confluent.md describes it"
        ) from error
