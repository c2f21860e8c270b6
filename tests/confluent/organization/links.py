"""Cluster links, exporters from registry to registry, and Tableflow from topics to tables in catalogs."""

from tests.confluent.organization.resources import ANALYTICS, FOREIGN, LOGISTICS, ORDERS, PAYMENTS, PROD, WAREHOUSE, WEB, registry_of
from tests.confluent.organization.topics import COLUMNS, ENVIRONMENT, Topics
from tests.confluent.organization.values import NOW, Json, Secrets, number, time, token, uid

LINKS = [
    (
        WAREHOUSE,
        "orders-to-warehouse",
        ORDERS,
        "ACTIVE",
        [
            ("orders", "prod.orders", "ACTIVE"),
            ("customers", "prod.customers", "ACTIVE"),
            ("inventory", "prod.inventory", "PAUSED"),
            ("tickets", "prod.tickets", "STOPPED"),
        ],
    ),
    (
        LOGISTICS,
        "partner-feed",
        FOREIGN,
        "ACTIVE",
        [("partner.rates", "partner.rates", "ACTIVE"), ("partner.limits", "partner.limits", "FAILED")],
    ),
    (ORDERS, "payments-feed", PAYMENTS, "ACTIVE", [("payments", "payments", "ACTIVE"), ("refunds", "refunds", "ACTIVE")]),
    (ORDERS, "idle-link", LOGISTICS, "PAUSED", []),
]
"""Destination, name, source cluster, state, and source topic, mirror topic, status of each mirror."""


def cluster_links(topics: Topics) -> list[Json]:
    """All links between clusters; their mirror topics are added."""
    links = []
    for cluster, name, source, state, mirrors in LINKS:
        mirror_topics = []
        for original, mirror, status in mirrors:
            kind = original if original in COLUMNS else ""
            topic = topics.add(cluster, mirror, COLUMNS.get(kind, ""))
            mirror_topics.append(
                {
                    "source_topic_name": original,
                    "mirror_topic_name": mirror,
                    "mirror_status": status,
                    "num_partitions": topic["partitions_count"],
                    "state_time_ms": 1767000000000,
                    "max_per_partition_lag": number(mirror, 100),
                }
            )
        links.append(
            {
                "cluster": cluster,
                "link_name": name,
                "link_id": uid(f"link {name}"),
                "source_cluster_id": source,
                "destination_cluster_id": None,
                "link_state": state,
                "mirrors": mirror_topics,
            }
        )
    return links


def exporters(topics: Topics, secrets: Secrets) -> list[Json]:
    """Links between registries. `destination` is a registry of the organization, or an address outside. `lineage`: pairs of subjects."""
    prod, there = registry_of(PROD), registry_of(ANALYTICS)
    named = ["orders-value", "customers-value", "clicks-value"]
    for subject in named:
        newest = max(
            (subject_ for subject_ in topics.subjects if subject_["registry"] == prod and subject_["subject"] == subject),
            key=lambda subject: subject["version"],
        )
        topics.subjects.append(
            {**newest, "registry": there, "subject": f":.prod:{subject}", "version": 1, "id": 200001 + len(topics.subjects)}
        )
    pairs = [[[prod, subject], [there, f":.prod:{subject}"]] for subject in named]
    partners = [
        subject["subject"] for subject in topics.subjects if subject["registry"] == prod and subject["subject"].startswith(":.partners:")
    ]
    outside = "https://psrc-dr001.eu-west-1.aws.confluent.example"
    return [
        {
            "registry": prod,
            "name": "to-analytics",
            "subjects": named,
            "contextType": "CUSTOM",
            "context": ".prod",
            "subjectRenameFormat": "${subject}",
            "destination": there,
            "user": token("exporter", 16).upper(),
            "secret": secrets.create("exporter analytics"),
            "state": "RUNNING",
            "offset": 812,
            "trace": "",
            "lineage": pairs,
        },
        {
            "registry": prod,
            "name": "partners-to-dr",
            "subjects": [":.partners:*"],
            "contextType": "NONE",
            "context": "",
            "subjectRenameFormat": "dr-${subject}",
            "destination": outside,
            "user": token("exporter dr", 16).upper(),
            "secret": secrets.create("exporter dr"),
            "state": "PAUSED",
            "offset": 90,
            "trace": "",
            "lineage": [[[prod, subject_], [outside, f":.partners:dr-{subject_.rpartition(':')[2]}"]] for subject_ in partners],
        },
    ]


ACCOUNT = "210987654321"
INTEGRATIONS = [
    (ORDERS, "glue", "AwsGlue", {"provider_integration_id": "cspi-gl1ue2"}, "CONNECTED"),
    (ORDERS, "unity", "Unity", {"workspace_endpoint": "https://adb-8811223344.7.azuredatabricks.net", "catalog_name": "acme"}, "CONNECTED"),
    (
        WEB,
        "unity-web",
        "Unity",
        {"workspace_endpoint": "https://adb-8811223344.7.azuredatabricks.net", "catalog_name": "acme", "custom_schema": "web"},
        "CONNECTED",
    ),
    (WEB, "glue-web", "AwsGlue", {"provider_integration_id": "cspi-un9own", "custom_database": "web_lake"}, "CONNECTED"),
    (
        WAREHOUSE,
        "polaris",
        "Snowflake",
        {
            "endpoint": "https://acme-polaris.snowflakecomputing.com/polaris/api/catalog",
            "warehouse": "LAKE",
            "allowed_scope": "PRINCIPAL_ROLE:ALL",
            "custom_namespace": "facts",
        },
        "PENDING",
    ),
]
"""Cluster, name, kind, settings, phase. The provider integration of the second Glue catalog is not listed."""
TABLES = [
    (ORDERS, "orders", "Managed", "ICEBERG DELTA", "RUNNING", False, "SYNCED SYNCED"),
    (ORDERS, "customers", "ByobAws", "ICEBERG", "RUNNING", False, "SYNCED"),
    (ORDERS, "inventory", "ByobAws", "DELTA", "RUNNING", False, "SYNCED"),
    (ORDERS, "tickets", "Managed", "ICEBERG", "FAILED", True, "DISCONNECTED"),
    (WEB, "clicks", "ByobAws", "DELTA", "RUNNING", False, "SYNCED"),
    (WEB, "page_views", "Managed", "ICEBERG DELTA", "RUNNING", False, "SYNCED FAILED"),
    (WEB, "users", "Managed", "ICEBERG", "PENDING", False, "PENDING"),
    (WAREHOUSE, "orders_fact", "Managed", "ICEBERG", "RUNNING", False, "SYNCED"),
    (WAREHOUSE, "customers_dim", "AzureAdls", "DELTA", "RUNNING", False, ""),
]
"""Cluster, topic, storage, formats, phase, suspended, and the state of each catalog that takes one of the formats, Iceberg's first."""
FORMAT_OF = {"AwsGlue": "ICEBERG", "Snowflake": "ICEBERG", "Unity": "DELTA"}


def provider_integrations() -> list[Json]:
    return [
        {
            "id": "cspi-gl1ue2",
            "environment": PROD,
            "display_name": "glue-role",
            "provider": "AWS",
            "iam_role_arn": "arn:aws:iam::555555555555:role/psp-gl1ue2",
            "external_id": token("external id", 20),
            "customer_iam_role_arn": f"arn:aws:iam::{ACCOUNT}:role/confluent-glue",
            "usages": [],
        },
        {
            "id": "cspi-s3by0b",
            "environment": PROD,
            "display_name": "byob-role",
            "provider": "AWS",
            "iam_role_arn": "arn:aws:iam::555555555555:role/psp-s3by0b",
            "external_id": token("external id 2", 20),
            "customer_iam_role_arn": f"arn:aws:iam::{ACCOUNT}:role/confluent-s3",
            "usages": [],
        },
    ]


def catalog_integrations(secrets: Secrets) -> list[Json]:
    """All catalog integrations; `region` is that of the cluster."""
    integrations = []
    for cluster, name, kind, config, phase in INTEGRATIONS:
        client = {"client_id": token(f"client {name}", 12)}
        hidden = {} if kind == "AwsGlue" else {**client, "client_secret": secrets.create(f"integration {name}")}
        integrations.append(
            {
                "id": f"tci-{token(f'integration {name}')}",
                "environment": ENVIRONMENT[cluster],
                "cluster": cluster,
                "display_name": name,
                "kind": kind,
                "config": {**config, **hidden},
                "suspended": False,
                "phase": phase,
                "last_sync_at": NOW,
                "created_at": time(name),
            }
        )
    return integrations


def tableflow_topics(integrations: list[Json]) -> list[Json]:
    """All topics with Tableflow. `lineage.tables`: where a catalog has (or is to have) the table, as the catalog names it."""
    topics = []
    for cluster, topic, storage, formats, phase, suspended, states in TABLES:
        catalogs = sorted(
            (
                integration
                for integration in integrations
                if integration["cluster"] == cluster and FORMAT_OF[integration["kind"]] in formats
            ),
            key=lambda integration: FORMAT_OF[integration["kind"]] == "DELTA",
        )
        statuses, tables = [], []
        for catalog, state in zip(catalogs, states.split(), strict=True):
            kind = {"AwsGlue": "AWS_GLUE", "Unity": "UNITY", "Snowflake": "SNOWFLAKE"}[catalog["kind"]]
            error = "Permission denied on schema web" if state == "FAILED" else ""
            statuses.append(
                {
                    "catalog_integration_id": catalog["id"],
                    "catalog_type": kind,
                    "sync_status": state,
                    **({"error_message": error} if error else {}),
                }
            )
            config = catalog["config"]
            names = {
                "AwsGlue": {
                    "region": "us-east-1",
                    "account": ACCOUNT if config.get("provider_integration_id") == "cspi-gl1ue2" else None,
                    "database": config.get("custom_database", cluster),
                },
                "Unity": {
                    "workspace": config.get("workspace_endpoint"),
                    "catalog": config.get("catalog_name"),
                    "schema": config.get("custom_schema", cluster),
                },
                "Snowflake": {
                    "endpoint": config.get("endpoint"),
                    "catalog": config.get("warehouse"),
                    "schema": config.get("custom_namespace", cluster),
                },
            }[catalog["kind"]]
            tables.append({"kind": catalog["kind"], "integration": catalog["id"], "table": topic, "state": state, **names})
        bucket = f"acme-tableflow-{cluster}"
        place_of = {
            "Managed": {},
            "ByobAws": {"bucket_name": bucket, "bucket_region": "us-east-1", "provider_integration_id": "cspi-s3by0b"},
            "AzureAdls": {
                "storage_account_name": "acmelake",
                "container_name": "tableflow",
                "storage_region": "westeurope",
                "provider_integration_id": "cspi-az0001",
            },
        }[storage]
        path = {
            "Managed": f"s3://cc-managed-{cluster}/{token(topic, 8)}",
            "ByobAws": f"s3://{bucket}/tables/{topic}",
            "AzureAdls": f"abfss://tableflow@acmelake.dfs.core.windows.net/{topic}",
        }[storage]
        topics.append(
            {
                "environment": ENVIRONMENT[cluster],
                "cluster": cluster,
                "display_name": topic,
                "table_formats": formats.split(),
                "storage": {"kind": storage, **place_of, "table_path": path},
                "config": {"retention_ms": "604800000", "record_failure_strategy": "SUSPEND", "error_handling": {"mode": "SUSPEND"}},
                "suspended": suspended,
                "phase": phase,
                "error_message": "A record does not fit the schema of the table" if phase == "FAILED" else "",
                "write_mode": "UPSERT" if topic == "inventory" else "APPEND",
                "catalog_sync_statuses": statuses,
                "failing_table_formats": [{"format": "DELTA", "error_message": "Permission denied on schema web"}]
                if "FAILED" in states
                else [],
                "created_at": time(f"tableflow {cluster} {topic}"),
                "lineage": {"tables": tables},
            }
        )
    return topics
