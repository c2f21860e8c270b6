"""What Confluent Cloud tells of Tableflow, as plain values, and what tables are called in the catalogs that get them. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text

GLUE, UNITY, SNOWFLAKE = "awsglue", "unity", "snowflake"
TITLES = {GLUE: "AWS Glue", UNITY: "Unity Catalog", SNOWFLAKE: "Snowflake Open Catalog"}
FORMATS = {GLUE: "ICEBERG", UNITY: "DELTA", SNOWFLAKE: "ICEBERG"}
"""The format of the tables that each kind of catalog gets."""
RUNNING, SUSPENDED, FAILED = "RUNNING", "ABORT", "FAIL"
"""How a topic's Tableflow fares, by the event that tells it."""
_SNOWFLAKE_HOST = ".snowflakecomputing.com"
_PLACES = ("kind", "bucket_name", "bucket_region", "storage_account_name", "container_name", "storage_region", "table_path")


class Sync(NamedTuple):
    """How a catalog fares with a topic's table."""

    integration: str
    status: str
    error: str = ""


class Topic(NamedTuple):
    """A topic with Tableflow. `catalogs`: None if the service does not tell how they fare. `created`: when it was switched on."""

    name: str
    formats: tuple[str, ...]
    state: str
    phase: str
    catalogs: tuple[Sync, ...] | None
    created: str = ""
    error: str = ""
    failing: Mapping[str, str] = {}
    storage: Mapping[str, str] = {}
    write_mode: str = ""


class Integration(msgspec.Struct, frozen=True, omit_defaults=True):
    """A catalog that tables are told to. `provider`: the integration with the cloud provider that it works by."""

    kind: str
    name: str = ""
    endpoint: str = ""
    catalog: str = ""
    schema: str = ""
    provider: str = ""


class Where(NamedTuple):
    """The Kafka cluster: its id and region; and the AWS account of each integration with a provider, as far as it is known."""

    cluster: str
    region: str
    accounts: Mapping[str, str]


def read_topics(entries: Iterable[Mapping[str, Any]]) -> dict[str, Topic]:
    """The topics by name. The name may be told as `topic_name` beside another one for people."""
    read = (_topic(entry) for entry in entries)
    return {one.name: one for one in read if one.name}


def read_integrations(entries: Iterable[Mapping[str, Any]]) -> dict[str, Integration]:
    """The catalogs by id."""
    return {str(entry["id"]): _integration(_dict(entry.get("spec"))) for entry in entries if entry.get("id")}


def read_accounts(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The AWS account that each integration with a provider works in: that of the customer's role."""
    found: dict[str, str] = {}
    for entry in entries:
        parts = str(_dict(entry.get("config")).get("customer_iam_role_arn") or "").split(":")
        if entry.get("id") and len(parts) > 5 and parts[4]:
            found[str(entry["id"])] = parts[4]
    return found


def catalogs_of(topic: Topic, integrations: Mapping[str, Integration]) -> list[tuple[str, Integration]]:
    """The catalogs that a topic's table is told to: those of which the service says so, if the table has the format that they take."""
    told = sorted(integrations) if topic.catalogs is None else [one.integration for one in topic.catalogs]
    known = [(ident, integrations[ident]) for ident in dict.fromkeys(told) if ident in integrations]
    return [(ident, one) for ident, one in known if FORMATS.get(one.kind) in topic.formats]


def table_of(topic: str, catalog: Integration, where: Where) -> DatasetName | None:
    """What a topic's table is called in a catalog; None if the integration does not tell which catalog it is.

    Glue and Unity Catalog keep names in lower case; in Unity Catalog dots are no part of a name.
    """
    schema = catalog.schema or where.cluster
    if catalog.kind == GLUE:
        account, database, table = where.accounts.get(catalog.provider, ""), schema.lower(), topic.lower()
        if account:
            return f"arn:aws:glue:{where.region}:{account}", f"table/{database}/{table}"
        return f"aws://{where.region}/{database}", table
    host = urlsplit(catalog.endpoint).netloc or catalog.endpoint
    if not host or not catalog.catalog:
        return None
    if catalog.kind == UNITY:
        return f"unitycatalog://{host.lower()}", f"{catalog.catalog}.{schema}.{topic.replace('.', '_')}".lower()
    scheme = SNOWFLAKE if host.endswith(_SNOWFLAKE_HOST) else "polaris"
    return f"{scheme}://{host.removesuffix(_SNOWFLAKE_HOST)}", f"{catalog.catalog}.{schema}.{topic}"


def _topic(entry: Mapping[str, Any]) -> Topic:
    spec, status = _dict(entry.get("spec")), _dict(entry.get("status"))
    phase = str(status.get("phase") or "")
    stopped = bool(spec.get("suspended")) or phase == "SUSPENDED"
    told = [one for one in _list(status.get("catalog_sync_statuses")) if isinstance(one, dict) and one.get("catalog_integration_id")]
    catalogs = None if status.get("catalog_sync_statuses") is None else tuple(map(_sync, told))
    failing = (one for one in _list(status.get("failing_table_formats")) if isinstance(one, dict))
    storage = {key: str(value) for key, value in _dict(spec.get("storage")).items() if key in _PLACES and value}
    return Topic(
        str(spec.get("topic_name") or spec.get("display_name") or ""),
        tuple(sorted(map(str, _list(spec.get("table_formats"))))),
        SUSPENDED if stopped else FAILED if phase == "FAILED" else RUNNING,
        phase,
        catalogs,
        str(_dict(entry.get("metadata")).get("created_at") or ""),
        _error(status),
        {str(one.get("format") or ""): _error(one) for one in failing},
        storage,
        str(status.get("write_mode") or ""),
    )


def _sync(one: Mapping[str, Any]) -> Sync:
    return Sync(str(one["catalog_integration_id"]), str(one.get("sync_status") or ""), _error(one))


def _error(told: Mapping[str, Any]) -> str:
    """What went wrong; the service says `none` where nothing did."""
    text = str(told.get("error_message") or "")
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
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
