"""Reads Confluent Cloud's answers about Tableflow into plain values, and derives the tables' names in each catalog. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text

GLUE, UNITY, SNOWFLAKE, BIGLAKE = "awsglue", "unity", "snowflake", "biglakemetastore"
TITLES = {GLUE: "AWS Glue", UNITY: "Unity Catalog", SNOWFLAKE: "Snowflake Open Catalog", BIGLAKE: "BigLake metastore"}
FORMATS = {GLUE: "ICEBERG", UNITY: "DELTA", SNOWFLAKE: "ICEBERG", BIGLAKE: "ICEBERG"}
"""The table format that each kind of catalog lists."""
PENDING, RUNNING, SUSPENDED, FAILED = "START", "RUNNING", "ABORT", "FAIL"
"""The state of a topic's Tableflow, as the type of the event that reports it."""
_STATES = {"PENDING": PENDING, "FAILED": FAILED}
_DEAD_LETTERS = "error_log"
"""The topic of records that do not fit the table, unless another topic is set."""
_SNOWFLAKE_HOST = ".snowflakecomputing.com"
_STORAGE_MEMBERS = (
    "kind",
    "bucket_name",
    "bucket_region",
    "storage_account_name",
    "container_name",
    "storage_region",
    "table_path",
)


class CatalogSync(NamedTuple):
    """The status of synchronizing a topic's table with a catalog."""

    integration: str
    status: str
    error: str = ""


class TableflowTopic(NamedTuple):
    """A topic with Tableflow. `catalogs` is None if the service does not report them. `created`: when Tableflow was switched on.

    `dead_letters`: the topic that gets the records that do not fit the table, if there is one.
    """

    name: str
    formats: tuple[str, ...]
    state: str
    phase: str
    catalogs: tuple[CatalogSync, ...] | None
    created: str = ""
    error: str = ""
    failing: Mapping[str, str] = {}
    storage: Mapping[str, str] = {}
    write_mode: str = ""
    dead_letters: str = ""


class Integration(msgspec.Struct, frozen=True, omit_defaults=True):
    """An integration that lists tables in a catalog. `provider`: the id of the provider integration that gives it access to the cloud
    provider; `project`: the project, if the catalog is Google's.

    While an integration is suspended, it writes nothing.
    """

    kind: str
    name: str = ""
    endpoint: str = ""
    catalog: str = ""
    schema: str = ""
    provider: str = ""
    suspended: bool = False
    project: str = ""


class ClusterLocation(NamedTuple):
    """The id and region of a Kafka cluster, and the AWS account of each provider integration, if known."""

    cluster: str
    region: str
    accounts: Mapping[str, str]


def parse_topics(entries: Iterable[Mapping[str, Any]]) -> dict[str, TableflowTopic]:
    """Parse the topics, by their names in `topic_name` or, if there is none, in `display_name`. A topic that has neither has an empty
    name.
    """
    return {topic.name: topic for topic in map(_topic, entries)}


def parse_integrations(entries: Iterable[Mapping[str, Any]]) -> dict[str, Integration]:
    """Parse the catalog integrations by id."""
    return {str(entry["id"]): _integration(_dict(entry.get("spec"))) for entry in entries if entry.get("id")}


def parse_accounts(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Parse provider integrations into the AWS account of each: the account of the customer's role."""
    found: dict[str, str] = {}
    for entry in entries:
        parts = str(_dict(entry.get("config")).get("customer_iam_role_arn") or "").split(":")
        if entry.get("id") and len(parts) > 5 and parts[4]:
            found[str(entry["id"])] = parts[4]
    return found


def catalogs_of(topic: TableflowTopic, integrations: Mapping[str, Integration]) -> list[tuple[str, Integration]]:
    """The catalogs that list a topic's table. They are those that the service reports, if the table has the catalog's format.

    Catalogs of suspended integrations are left out.
    """
    return [(id_, integration) for id_, integration in _of_its_format(topic, integrations) if not integration.suspended]


def suspended_of(topic: TableflowTopic, integrations: Mapping[str, Integration]) -> list[str]:
    """The suspended integrations, by id, whose catalogs would list a topic's table if they were not suspended."""
    return sorted(id_ for id_, integration in _of_its_format(topic, integrations) if integration.suspended)


def _of_its_format(topic: TableflowTopic, integrations: Mapping[str, Integration]) -> list[tuple[str, Integration]]:
    ids = sorted(integrations) if topic.catalogs is None else [sync.integration for sync in topic.catalogs]
    listed = [(id_, integrations[id_]) for id_ in dict.fromkeys(ids) if id_ in integrations]
    return [(id_, integration) for id_, integration in listed if FORMATS.get(integration.kind) in topic.formats]


def table_of(topic: str, catalog: Integration, location: ClusterLocation) -> DatasetName | None:
    """Return the dataset of a topic's table in a catalog; None if the integration does not identify the catalog.

    Glue and Unity Catalog keep names in lower case; Unity Catalog does not allow dots in a name.
    """
    schema = catalog.schema or location.cluster
    if catalog.kind == GLUE:
        account, database, table = location.accounts.get(catalog.provider, ""), schema.lower(), topic.lower()
        if account:
            return f"arn:aws:glue:{location.region}:{account}", f"table/{database}/{table}"
        return f"aws://{location.region}/{database}", table
    if catalog.kind == BIGLAKE:
        parts = (catalog.project, catalog.catalog, schema, topic)
        return ("bigquery", ".".join(parts)) if all(parts) else None
    host = urlsplit(catalog.endpoint).netloc or catalog.endpoint
    if not host or not catalog.catalog:
        return None
    if catalog.kind == UNITY:
        return f"unitycatalog://{host.lower()}", f"{catalog.catalog}.{schema}.{topic.replace('.', '_')}".lower()
    scheme = SNOWFLAKE if host.endswith(_SNOWFLAKE_HOST) else "polaris"
    return f"{scheme}://{host.removesuffix(_SNOWFLAKE_HOST)}", f"{catalog.catalog}.{schema}.{topic}"


def _topic(entry: Mapping[str, Any]) -> TableflowTopic:
    spec, status = _dict(entry.get("spec")), _dict(entry.get("status"))
    phase = str(status.get("phase") or "")
    suspended = bool(spec.get("suspended")) or phase == "SUSPENDED"
    syncs = [sync for sync in _list(status.get("catalog_sync_statuses")) if isinstance(sync, dict) and sync.get("catalog_integration_id")]
    catalogs = None if status.get("catalog_sync_statuses") is None else tuple(map(_sync, syncs))
    failing = (failure for failure in _list(status.get("failing_table_formats")) if isinstance(failure, dict))
    storage = {key: str(value) for key, value in _dict(spec.get("storage")).items() if key in _STORAGE_MEMBERS and value}
    return TableflowTopic(
        str(spec.get("topic_name") or spec.get("display_name") or ""),
        tuple(sorted(map(str, _list(spec.get("table_formats"))))),
        SUSPENDED if suspended else _STATES.get(phase, RUNNING),
        phase,
        catalogs,
        str(_dict(entry.get("metadata")).get("created_at") or ""),
        _error(status),
        {str(failure.get("format") or ""): _error(failure) for failure in failing},
        storage,
        str(status.get("write_mode") or ""),
        _dead_letters(_dict(_dict(spec.get("config")).get("error_handling"))),
    )


def _dead_letters(handling: Mapping[str, Any]) -> str:
    if str(handling.get("mode") or "").upper() != "LOG":
        return ""
    return str(handling.get("target") or _DEAD_LETTERS)


def _sync(entry: Mapping[str, Any]) -> CatalogSync:
    return CatalogSync(str(entry["catalog_integration_id"]), str(entry.get("sync_status") or ""), _error(entry))


def _error(status: Mapping[str, Any]) -> str:
    """Return the error message of an answer, empty if there is none; the service then writes `none`."""
    text = str(status.get("error_message") or "")
    return "" if text.lower() == "none" else mask_text(text)


def _integration(spec: Mapping[str, Any]) -> Integration:
    config = _dict(spec.get("config"))

    def first(*keys: str) -> str:
        return next((str(config[key]) for key in keys if config.get(key)), "")

    return Integration(
        first("kind").lower().replace("_", ""),
        str(spec.get("display_name") or ""),
        first("workspace_endpoint", "endpoint"),
        first("catalog_name", "warehouse"),
        first("custom_database", "database_name", "custom_schema", "custom_namespace", "namespace"),
        first("provider_integration_id"),
        suspended=spec.get("suspended") is True,
        project=first("gcp_project_id"),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
