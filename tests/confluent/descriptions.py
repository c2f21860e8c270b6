"""The objects that Confluent Cloud's published API descriptions list, in a compact form, and the bodies that follow from them.

An object is a dictionary of members; a name with `!` is required. The value of a member is an example, `Enum` if the description lists
values (which may grow), `Map` if names are free, an object, or a list with one example of its items.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from typing_extensions import Self

ENV, LKC, LSRC = "env-a1", "lkc-b2", "lsrc-1"


class Enum(tuple[str, ...]):
    """The values that a member may have; the first is the example."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        return super().__new__(cls, text.split())


class Map(NamedTuple):
    """An object whose members have any name."""

    name: str
    value: Any


META: dict[str, Any] = {
    "self!": "https://api.confluent.cloud/x",
    "resource_name": "crn://confluent.cloud/organization=o-1",
    "created_at": "2026-01-02T03:04:05Z",
}
META |= {"updated_at": "2026-01-02T03:04:05Z", "deleted_at": None}
REFERENCE = {
    "id!": ENV,
    "environment": ENV,
    "related!": "https://api.confluent.cloud/x",
    "resource_name!": "crn://x",
    "api_version": "v2",
    "kind": "K",
}
CLOUD, PHASE = Enum("AWS GCP AZURE"), Enum("PROVISIONED PROVISIONING FAILED DEGRADED")

ENVIRONMENT = {
    "id!": ENV,
    "metadata!": {**META, "resource_name": f"crn://confluent.cloud/organization=o-1/environment={ENV}"},
    "display_name!": "production",
    "stream_governance_config": {"package": Enum("ADVANCED ESSENTIALS")},
}
KAFKA_CLUSTER = {
    "id!": LKC,
    "metadata!": META,
    "spec!": {
        "display_name!": "orders",
        "availability!": Enum("SINGLE_ZONE MULTI_ZONE LOW HIGH"),
        "cloud!": CLOUD,
        "region!": "eu-west-1",
        "config!": {"kind!": Enum("Dedicated Basic Standard Enterprise Freight"), "cku": 2, "zones": ["z"], "max_ecku": 2},
        "kafka_bootstrap_endpoint": "SASL_SSL://pkc-1:9092",
        "http_endpoint": "https://pkc-1:443",
        "api_endpoint": "https://pkac-1",
        "endpoints": Map(
            "PUBLIC", {"kafka_bootstrap_endpoint!": "pkc-1:9092", "http_endpoint!": "https://pkc-1", "connection_type!": "PUBLIC"}
        ),
        "environment!": REFERENCE,
        "network": REFERENCE,
        "byok": REFERENCE,
        "deletion_protection": False,
    },
    "status!": {"phase!": PHASE, "cku": 2},
}
SCHEMA_REGISTRY = {
    "id!": LSRC,
    "metadata!": META,
    "spec!": {
        "display_name": "Stream Governance Package",
        "package!": Enum("ADVANCED ESSENTIALS"),
        "http_endpoint": "https://psrc-1",
        "catalog_http_endpoint": "https://psrc-1/catalog",
        "private_http_endpoint": "https://lsrc-1.private",
        "private_networking_config": {"regional_endpoints": Map("eu-west-1", "https://lsrc-1.eu-west-1.private")},
        "cloud!": CLOUD,
        "region!": "eu-west-1",
        "environment!": REFERENCE,
    },
    "status!": {"phase!": PHASE},
}
KSQLDB_CLUSTER = {
    "id!": "lksqlc-1",
    "metadata!": META,
    "spec!": {
        "display_name!": "ksql",
        "csu!": 4,
        "use_detailed_processing_log": True,
        "kafka_cluster!": {**REFERENCE, "id!": LKC},
        "credential_identity!": REFERENCE,
        "environment!": REFERENCE,
    },
    "status!": {"http_endpoint": "https://pksqlc-1:443", "phase!": PHASE, "is_paused!": False, "topic_prefix": "pksqlc-1", "storage!": 125},
}
COMPUTE_POOL = {
    "id!": "lfcp-1",
    "metadata!": META,
    "spec!": {
        "display_name!": "pool",
        "cloud!": CLOUD,
        "region!": "eu-west-1",
        "max_cfu": 5,
        "enable_ai": False,
        "default_pool": False,
        "environment!": REFERENCE,
        "network": REFERENCE,
    },
    "status!": {"phase!": PHASE, "current_cfu!": 0},
}
SERVICE_ACCOUNT = {"id!": "sa-1", "metadata!": META, "display_name!": "order service", "description": "writes orders"}
USER = {"id!": "u-1", "metadata!": META, "email!": "a@example.org", "full_name": "Anna", "auth_type": Enum("AUTH_TYPE_LOCAL AUTH_TYPE_SSO")}
API_KEY = {
    "id!": "KEY1",
    "metadata!": META,
    "spec!": {
        "secret": "",
        "display_name": "key",
        "description": "",
        "owner!": {**REFERENCE, "id!": "sa-1"},
        "resource!": REFERENCE,
        "resources": [REFERENCE],
    },
}
RELATED = {"related!": "https://pkc-1/x"}
KAFKA_META = {"self!": "https://pkc-1/x", "resource_name": "crn:///kafka=lkc-b2"}
TOPIC = {
    "kind!": "KafkaTopic",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "topic_name!": "orders",
    "is_internal!": False,
    "replication_factor!": 3,
    "partitions_count!": 6,
    "partitions!": RELATED,
    "configs!": RELATED,
    "partition_reassignments!": RELATED,
    "authorized_operations": [Enum("READ WRITE DESCRIBE")],
}
TOPIC_CONFIG = {
    "kind!": "KafkaTopicConfig",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "topic_name!": "orders",
    "name!": "cleanup.policy",
    "value": "compact",
    "is_default!": False,
    "is_read_only!": False,
    "is_sensitive!": False,
    "source!": Enum("DYNAMIC_TOPIC_CONFIG DEFAULT_CONFIG DYNAMIC_CLUSTER_LINK_CONFIG STATIC_BROKER_CONFIG UNKNOWN"),
    "synonyms!": [{"name!": "cleanup.policy", "value": "delete", "source!": "DEFAULT_CONFIG"}],
}
ACL = {
    "kind!": "KafkaAcl",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "resource_type!": Enum("TOPIC UNKNOWN ANY GROUP CLUSTER TRANSACTIONAL_ID DELEGATION_TOKEN"),
    "resource_name!": "orders",
    "pattern_type!": Enum("LITERAL PREFIXED UNKNOWN ANY MATCH"),
    "principal!": "User:sa-1",
    "host!": "*",
    "operation!": Enum("READ WRITE ALL ANY CREATE DELETE ALTER DESCRIBE UNKNOWN"),
    "permission!": Enum("ALLOW DENY ANY UNKNOWN"),
}
GROUP = {
    "kind!": "KafkaConsumerGroup",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "consumer_group_id!": "billing",
    "is_simple!": False,
    "is_mixed_consumer_group": False,
    "partition_assignor!": "range",
    "state!": Enum("STABLE UNKNOWN PREPARING_REBALANCE COMPLETING_REBALANCE DEAD EMPTY ASSIGNING RECONCILING"),
    "type": Enum("CLASSIC CONSUMER UNKNOWN"),
    "coordinator!": RELATED,
    "consumers!": RELATED,
    "lag_summary!": RELATED,
}
LAG = {
    "kind!": "KafkaConsumerLag",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "consumer_group_id!": "billing",
    "topic_name!": "orders",
    "partition_id!": 0,
    "current_offset!": 7,
    "log_end_offset!": 9,
    "lag!": 2,
    "consumer_id!": "billing-1-x",
    "instance_id": "i",
    "client_id!": "billing-1",
}
SHARE_GROUP = {
    "kind!": "KafkaShareGroup",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "share_group_id!": "picking",
    "state!": Enum("STABLE EMPTY DEAD UNKNOWN"),
    "coordinator!": RELATED,
    "consumer_count!": 1,
    "partition_count!": 1,
    "assigned_topic_partitions": [
        {"kind!": "K", "metadata!": KAFKA_META, "topic_name!": "orders", "partition_id!": 0, "partition!": RELATED},
    ],
    "consumers!": RELATED,
}
STREAMS_GROUP = {
    "kind!": "KafkaStreamsGroup",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "group_id!": "totals",
    "state!": Enum("STABLE EMPTY NOT_READY ASSIGNING RECONCILING DEAD"),
    "member_count!": 1,
    "subtopology_count!": 1,
    "group_epoch!": 1,
    "topology_epoch!": 1,
    "target_assignment_epoch!": 1,
    "members!": RELATED,
    "subtopologies!": RELATED,
}
SUBTOPOLOGY = {
    "kind!": "K",
    "metadata!": KAFKA_META,
    "cluster_id!": LKC,
    "group_id!": "totals",
    "subtopology_id!": "0",
    "source_topics!": ["orders"],
}
LINK = {
    "kind!": "KafkaLinkData",
    "metadata!": KAFKA_META,
    "source_cluster_id": "lkc-source",
    "destination_cluster_id": None,
    "remote_cluster_id": "lkc-source",
    "link_name!": "east",
    "link_id": "id-east",
    "cluster_link_id!": "id-east",
    "topic_names!": ["east.orders"],
    "link_error": Enum("NO_ERROR AUTHENTICATION_ERROR TIMEOUT_ERROR SECURITY_DISABLED_ERROR INTERNAL_ERROR"),
    "link_error_message": "m",
    "link_state": Enum("ACTIVE PAUSED FAILED UNAVAILABLE"),
    "tasks": [{"task_name!": "t", "state!": "ACTIVE", "errors!": [{"error_code!": "E", "error_message!": "m"}]}],
    "category_counts": [{"state_category!": "ACTIVE", "count!": 1}],
}
MIRROR = {
    "kind!": "KafkaMirrorData",
    "metadata!": KAFKA_META,
    "link_name!": "east",
    "mirror_topic_name!": "east.orders",
    "source_topic_name!": "orders",
    "num_partitions!": 1,
    "mirror_lags!": [{"partition!": 0, "lag!": 3, "last_source_fetch_offset!": 9}],
    "mirror_status!": Enum(
        "ACTIVE FAILED LINK_FAILED LINK_PAUSED PAUSED PENDING_MIRROR PENDING_STOPPED SOURCE_UNAVAILABLE STOPPED PENDING_SYNCHRONIZE"
    ),
    "mirror_topic_error": Enum("NO_ERROR REMOTE_LINK_NOT_FOUND_ERROR TOPIC_AUTHORIZATION_ERROR"),
    "mirror_state_transition_errors": [{"error_code!": "E", "error_message!": "m"}],
    "state_time_ms!": 1767000000000,
}
DATA_TYPE: dict[str, Any] = {
    "type!": "ROW",
    "nullable!": True,
    "length": 8,
    "precision": 3,
    "scale": 2,
    "key_type": {"type!": "INT", "nullable!": True},
    "value_type": {"type!": "INT", "nullable!": True},
    "element_type": {"type!": "INT", "nullable!": True},
    "fields": [{"name!": "f", "field_type!": {"type!": "INT", "nullable!": True}, "description": "d"}],
    "resolution": "DAY",
    "fractional_precision": 3,
    "class_name": "c",
}
SQL_META = {**META, "uid": "uid-1", "resource_version": "a1", "labels": Map("user.confluent.io/hidden", "true")}
SCALING = {"scaling_state": Enum("OK PENDING_SCALE_DOWN PENDING_SCALE_UP POOL_EXHAUSTED"), "last_updated": "2026-01-02T03:04:05Z"}
WARNING = {"severity!": "LOW", "created_at!": "2026-01-02T03:04:05Z", "reason!": "R", "message!": "m"}
STATEMENT = {
    "api_version!": "sql/v1",
    "kind!": "Statement",
    "metadata!": SQL_META,
    "name!": "insert-1",
    "organization_id!": "o-1",
    "environment_id!": ENV,
    "spec!": {
        "statement!": f"INSERT INTO `{ENV}`.`{LKC}`.`copies` SELECT * FROM `{ENV}`.`{LKC}`.`orders`",
        "properties": Map("sql.current-catalog", ENV),
        "compute_pool_id": "lfcp-1",
        "principal": "sa-1",
        "stopped": False,
        "execution_mode": Enum("STREAMING BATCH"),
    },
    "status!": {
        "phase!": Enum("RUNNING PENDING COMPLETED DELETING FAILING FAILED STOPPING STOPPED DEGRADED"),
        "scaling_status": SCALING,
        "detail": "fine",
        "warnings": [WARNING],
        "traits": {
            "sql_kind": "INSERT_INTO",
            "is_bounded": False,
            "is_append_only": True,
            "upsert_columns": [0],
            "schema": {"columns": [{"name!": "id", "type!": DATA_TYPE}]},
            "connection_refs": ["c"],
        },
        "network_kind": Enum("PUBLIC PRIVATE"),
        "latest_offsets": Map("orders", "partition:0,offset:5"),
        "latest_offsets_timestamp": "2026-01-02T03:04:05Z",
        "end_time": "2026-01-02T03:04:05Z",
        "duration": "PT1S",
        "affected_resource": {"kind": "Table", "name": "t"},
        "identity": "crn://x",
    },
}
EXCEPTION = {"kind!": "StatementException", "name": "E", "message": "m", "timestamp": "2026-01-02T03:04:05Z"}
MATERIALIZED_TABLE = {
    "api_version!": "sql/v1",
    "kind!": "MaterializedTable",
    "metadata!": SQL_META,
    "name!": "daily",
    "organization_id!": "o-1",
    "environment_id!": ENV,
    "spec!": {
        "kafka_cluster_id": LKC,
        "compute_pool_id": "lfcp-1",
        "principal": "sa-1",
        "stopped": False,
        "table_options": Map("k", "v"),
        "session_options": Map("sql.current-database", LKC),
        "columns": [{"name!": "id", "type!": "BIGINT", "comment": "of the order", "kind!": Enum("Physical Computed Metadata")}],
        "watermark": {"column": "at", "expression": "at"},
        "constraints": [{"name": "pk", "type": "PRIMARY_KEY", "columns": ["id"], "enforced": False}],
        "distribution": {"keys": ["id"], "bucket_count": 6},
        "query": "SELECT id FROM orders",
        "start_mode": {"kind": Enum("FROM_BEGINNING FROM_NOW FROM_TIMESTAMP")},
        "scaling": {"max_cfu": 2},
    },
    "status!": {
        "phase": Enum("RUNNING PENDING COMPLETED DELETING FAILING FAILED STOPPING STOPPED DEGRADED"),
        "detail": "fine",
        "warnings": [WARNING],
        "creation_statement": "CREATE MATERIALIZED TABLE daily AS SELECT id FROM orders",
        "scaling_status": SCALING,
        "version": 1,
        "latest_version": 1,
    },
}
TABLEFLOW_TOPIC = {
    "metadata!": META,
    "spec!": {
        "display_name!": "orders",
        "suspended": False,
        "config": {
            "enable_compaction": True,
            "retention_ms": "1",
            "record_failure_strategy": Enum("SUSPEND SKIP"),
            "error_handling": {"mode!": "SKIP"},
        },
        "storage!": {
            "kind!": Enum("ByobAws Managed AzureDataLakeStorageGen2"),
            "bucket_name": "lake",
            "bucket_region": "eu-west-1",
            "provider_integration_id": "cspi-1",
            "table_path": "s3://lake/t",
        },
        "table_formats": [Enum("ICEBERG DELTA")],
        "environment!": REFERENCE,
        "kafka_cluster!": REFERENCE,
    },
    "status": {
        "phase": Enum("RUNNING PENDING FAILED SUSPENDED"),
        "error_message": "none",
        "write_mode": Enum("APPEND UPSERT"),
        "catalog_sync_statuses": [
            {
                "catalog_integration_id": "tci-1",
                "catalog_type": "AwsGlue",
                "sync_status": Enum("SYNCED PENDING FAILED"),
                "error_message": "none",
            }
        ],
        "failing_table_formats": [{"format": "DELTA", "error_message": "no"}],
    },
}
CATALOG_INTEGRATION = {
    "id!": "tci-1",
    "metadata!": META,
    "spec!": {
        "display_name!": "glue",
        "suspended": False,
        "config!": {
            "kind!": Enum("AwsGlue Snowflake Unity BigLakeMetastore"),
            "provider_integration_id": "cspi-1",
            "endpoint": "https://acme.snowflakecomputing.com",
            "warehouse": "LAKE",
            "workspace_endpoint": "https://dbc-1.example.org",
            "catalog_name": "main",
            "client_id": "c",
            "client_secret": "****",
            "allowed_scope": "PRINCIPAL_ROLE:ALL",
            "custom_schema": "own",
            "custom_database": "own",
        },
        "environment!": REFERENCE,
        "kafka_cluster!": REFERENCE,
    },
    "status": {"phase": Enum("CONNECTED PENDING FAILED"), "error_message": "", "last_sync_at": "2026-01-02T03:04:05Z"},
}
PROVIDER_INTEGRATION = {
    "id!": "cspi-1",
    "display_name!": "aws",
    "provider!": Enum("AWS AZURE GCP"),
    "config!": {
        "iam_role_arn": "arn",
        "external_id": "x",
        "customer_iam_role_arn": "arn:aws:iam::123456789012:role/r",
        "kind!": "AwsIntegrationConfig",
    },
    "usages": ["crn://x"],
    "environment!": REFERENCE,
}
CONNECTOR = {
    "id!": {"id": "lcc-1", "id_type": "ID"},
    "info!": {
        "name!": "sink",
        "type": Enum("sink source"),
        "config!": Map("connector.class", "S3_SINK"),
        "tasks": [{"connector!": "sink", "task!": 0}],
    },
    "status!": {
        "name!": "sink",
        "type!": Enum("sink source"),
        "connector!": {"state!": Enum("RUNNING NONE PROVISIONING DEGRADED FAILED PAUSED DELETED"), "worker_id!": "w", "trace": ""},
        "tasks": [{"id!": 0, "state!": Enum("RUNNING FAILED USER_ACTIONABLE_ERROR PAUSED"), "worker_id!": "w", "msg": ""}],
        "errors_from_trace": ["e"],
        "validation_errors": ["v"],
        "override_message": "",
    },
}
CUSTOM_PLUGIN = {
    "id!": "ccp-1",
    "metadata!": META,
    "display_name!": "acme",
    "description": "d",
    "documentation_link": "https://x",
    "connector_class!": "com.acme.AcmeSink",
    "connector_type!": Enum("SINK SOURCE"),
    "cloud": CLOUD,
    "sensitive_config_properties": ["acme.pin"],
    "content_format": Enum("ZIP JAR"),
}
OFFSET = {"partition!": {"kafka_topic": "orders", "kafka_partition": 0}, "offset!": {"kafka_offset": 7}}
METRIC_ROW = {"timestamp": "2026-01-02T03:04:00Z", "value!": 5.0}
SCHEMA = {
    "subject!": "orders-value",
    "version!": 1,
    "id!": 7,
    "guid": "g",
    "schemaType": Enum("AVRO JSON PROTOBUF"),
    "references": [{"name": "r", "subject": "other-value", "version": 1}],
    "schema!": '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}',
    "metadata": {"tags": Map("id", ["PII"]), "properties": Map("owner", "team"), "sensitive": ["s"]},
    "ruleSet": {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}], "migrationRules": []},
    "schemaTags": [{"schemaEntity": {"entityPath": "Order.id", "entityType": "sr_field"}, "tags": ["PII"]}],
    "ts": 1767000000000,
    "deleted": False,
}
ENTITY = {
    "typeName": Enum("kafka_topic"),
    "attributes": {"name": "orders", "qualifiedName": f"{LSRC}:{LKC}:orders", "owner": "team", "description": "d", "createTime": 1},
    "guid": "g",
    "status": Enum("ACTIVE DELETED"),
    "displayText": "orders",
    "classificationNames": ["PII"],
    "classifications": [{"typeName": "PII"}],
}
BUSINESS_METADATA = {"typeName": "Domain", "attributes": Map("steward", "Anna"), "entityType": "kafka_topic", "entityName": "orders"}
EXPORTER = {
    "name": "to-east",
    "subjects": ["orders-value"],
    "subjectRenameFormat": "dr-${subject}",
    "contextType": Enum("AUTO CUSTOM NONE DEFAULT"),
    "context": "east",
    "config": Map("schema.registry.url", "https://elsewhere"),
}
EXPORTER_STATUS = {"name": "to-east", "state": Enum("RUNNING STARTING PAUSED ERROR UNKNOWN_STATE"), "offset": 1, "ts": 1, "trace": "t"}


def whole(shape: Any) -> Any:
    """The body with every member."""
    if isinstance(shape, Enum):
        return shape[0]
    if isinstance(shape, Map):
        return {shape.name: whole(shape.value)}
    if isinstance(shape, dict):
        return {name.rstrip("!"): whole(member) for name, member in shape.items()}
    return [whole(item) for item in shape] if isinstance(shape, list) else shape


def changed(shape: Any) -> Iterator[tuple[str, Any]]:
    """Every body that differs in one member: absent, null, empty, or with another value of an enum. With a text that says what differs."""
    body = whole(shape)
    for path, holder_shape, name in _members(shape, ()):
        member = holder_shape.get(name, holder_shape.get(f"{name}!"))
        for how, value in _values(member):
            copied = copy.deepcopy(body)
            holder = copied
            for step in path:
                holder = holder[step]
            if how == "absent":
                del holder[name]
            else:
                holder[name] = value
            yield f"{'.'.join(map(str, (*path, name)))} {how}", copied


def differences(shape: Any, body: Any, path: str = "") -> Iterator[str]:
    """How a body differs from its description: in the kinds, names and values of members, and in required members that it lacks."""
    if isinstance(shape, Map):
        shape = dict.fromkeys(body, shape.value) if isinstance(body, dict) else {}
    if isinstance(shape, Enum):
        if body not in shape:
            yield f"{path} is {body!r}"
    elif isinstance(shape, dict) and isinstance(body, dict):
        members = {name.rstrip("!"): member for name, member in shape.items()}
        yield from (f"{path}.{name[:-1]} is absent" for name in shape if name.endswith("!") and name[:-1] not in body)
        for name, value in body.items():
            if name not in members:
                yield f"{path}.{name} is not described"
            elif value is not None:
                yield from differences(members[name], value, f"{path}.{name}")
    elif isinstance(shape, list) and isinstance(body, list):
        yield from (fault for item in body if shape for fault in differences(shape[0], item, f"{path}[]"))
    elif shape is not None and type(shape) is not type(body) and not {type(shape), type(body)} <= {int, float}:
        yield f"{path} is of {type(body).__name__}"


def _members(shape: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any], str]]:
    if isinstance(shape, Map):
        yield path, {shape.name: shape.value}, shape.name
        yield from _members(shape.value, (*path, shape.name))
    elif isinstance(shape, dict):
        for written, member in shape.items():
            name = written.rstrip("!")
            yield path, shape, name
            yield from _members(member, (*path, name))
    elif isinstance(shape, list):
        for position, item in enumerate(shape):
            yield from _members(item, (*path, position))


def _values(member: Any) -> Iterator[tuple[str, Any]]:
    yield from (("absent", None), ("null", None))
    if isinstance(member, Enum):
        yield from ((f"is {value}", value) for value in (*member[1:], "SOMETHING_NEW", ""))
    elif isinstance(member, dict | Map):
        yield "empty", {}
    elif isinstance(member, list):
        yield "empty", []
        yield "has null", [None]
        if member and isinstance(member[0], Enum):
            yield from ((f"has {value}", [value]) for value in (*member[0][1:], "SOMETHING_NEW"))
    elif isinstance(member, str):
        yield "empty", ""
    elif isinstance(member, bool):
        yield "is the other", not member
    elif isinstance(member, int | float):
        yield from (("is zero", 0), ("is negative", -1), ("is huge", 2**63))
