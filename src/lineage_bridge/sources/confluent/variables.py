"""Names of the environment variables that configure a source of Confluent Cloud."""

from lineage_bridge.config import PREFIX

VARIABLES = tuple(
    f"{PREFIX}{name}"
    for name in (
        "CONFLUENT_CLOUD_API_KEY",
        "CONFLUENT_CLOUD_API_SECRET",
        "KAFKA_API_KEY",
        "KAFKA_API_SECRET",
        "CLUSTER_CREDENTIALS",
        "SCHEMA_REGISTRY_ENDPOINT",
        "SCHEMA_REGISTRY_API_KEY",
        "SCHEMA_REGISTRY_API_SECRET",
        "KSQLDB_ENDPOINT",
        "KSQLDB_API_KEY",
        "KSQLDB_API_SECRET",
        "FLINK_API_KEY",
        "FLINK_API_SECRET",
        "TABLEFLOW_API_KEY",
        "TABLEFLOW_API_SECRET",
        "AUDIT_LOG_BOOTSTRAP_SERVERS",
        "AUDIT_LOG_API_KEY",
        "AUDIT_LOG_API_SECRET",
    )
)
