"""Discovery: lists the resources of an organization with the Cloud API key."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.naming import first_server
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.stepwise import Selection
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.organization import ComputePool, Environment, KafkaCluster, KsqlCluster, Organization, SchemaRegistry


def discover(http: HttpClient, before: Organization | None, only: Selection) -> tuple[Organization, tuple[Unseen, ...]]:
    """Return the current organization, and what could not be listed, for which the previous resources are kept.

    Previous resources of environments that are not selected are kept too. Raises SourceError if environments cannot be listed.
    """
    previous = before or Organization()
    environments = tuple(sorted(map(_parse_environment, list_all(http, "/org/v2/environments")), key=lambda environment: environment.id))
    organization = next((environment.organization for environment in environments if environment.organization), previous.id)
    organization = organization or _organization_id(http)
    selected = [environment.id for environment in environments if not only.environments or environment.id in only.environments]
    missing = sorted(only.environments - set(selected))
    unseen = [Unseen(f"environment {name}", "it does not exist, or the key may not see it") for name in missing]
    requests = [(kind, environment) for kind in range(len(_LISTINGS)) for environment in selected]
    found: list[list[Any]] = [[] for _ in _LISTINGS]
    with ThreadPoolExecutor(http.settings.at_once, thread_name_prefix="discover") as pool:
        answers = list(pool.map(lambda request: _try_to_list(http, *request), requests))
    for (kind, environment), answer in zip(requests, answers, strict=True):
        if isinstance(answer, SourceError):
            unseen.append(Unseen(f"{_LISTINGS[kind].title} of {environment}", str(answer)))
            found[kind] += [resource for resource in _resources(previous)[kind] if resource.environment == environment]
        else:
            found[kind] += answer
    existing = {environment.id for environment in environments}
    for kind, resources in enumerate(_resources(previous)):
        found[kind] += [resource for resource in resources if resource.environment in existing and resource.environment not in selected]
    kafka, registries, ksqldb, pools = (tuple(sorted(resources, key=lambda resource: resource.id)) for resources in found)
    return Organization(organization, environments, kafka, registries, ksqldb, pools), tuple(unseen)


def _resources(organization: Organization) -> tuple[tuple[Any, ...], ...]:
    """The resources in the order of `_LISTINGS`."""
    return organization.kafka_clusters, organization.registries, organization.ksqldb_clusters, organization.compute_pools


def _try_to_list(http: HttpClient, kind: int, environment: str) -> list[Any] | SourceError:
    listing = _LISTINGS[kind]
    try:
        return [listing.parse(environment, entry) for entry in list_all(http, listing.path, environment=environment)]
    except SourceError as error:
        return error
    except (AttributeError, KeyError, TypeError) as error:
        return SourceError(f"{listing.title}: an entry has no valid member {error}")


def _organization_id(http: HttpClient) -> str:
    """Return the organization's id; empty if it cannot be listed. Flink's API requires it."""
    try:
        return next((str(entry["id"]) for entry in list_all(http, "/org/v2/organizations")), "")
    except (SourceError, KeyError):
        return ""


def _parse_environment(entry: Mapping[str, Any]) -> Environment:
    resource_name = str((entry.get("metadata") or {}).get("resource_name") or "")
    parts = (part for part in resource_name.split("/") if part.startswith("organization="))
    organization = next((part.removeprefix("organization=") for part in parts), "")
    package = str((entry.get("stream_governance_config") or {}).get("package") or "")
    return Environment(str(entry["id"]), str(entry.get("display_name") or entry["id"]), package, organization)


def _parse_kafka(environment: str, entry: Mapping[str, Any]) -> KafkaCluster:
    spec = entry["spec"]
    return KafkaCluster(
        str(entry["id"]),
        environment,
        str(spec.get("display_name") or entry["id"]),
        str((spec.get("config") or {}).get("kind") or ""),
        str(spec.get("cloud") or "").lower(),
        str(spec.get("region") or ""),
        str(spec.get("http_endpoint") or "").rstrip("/"),
        first_server(str(spec.get("kafka_bootstrap_endpoint") or "")),
        str(spec.get("availability") or ""),
    )


def _parse_registry(environment: str, entry: Mapping[str, Any]) -> SchemaRegistry:
    spec, status = entry.get("spec") or {}, entry.get("status") or {}
    url = str(spec.get("http_endpoint") or status.get("http_endpoint") or "").rstrip("/")
    return SchemaRegistry(str(entry["id"]), environment, url, str(spec.get("cloud") or "").lower(), str(_referenced_id(spec.get("region"))))


def _parse_ksqldb(environment: str, entry: Mapping[str, Any]) -> KsqlCluster:
    spec, status = entry["spec"], entry.get("status") or {}
    url = str(status.get("http_endpoint") or spec.get("http_endpoint") or "").rstrip("/")
    prefix = str(status.get("topic_prefix") or spec.get("topic_prefix") or "")
    name = str(spec.get("display_name") or entry["id"])
    return KsqlCluster(str(entry["id"]), environment, _referenced_id(spec.get("kafka_cluster")), name, url, prefix)


def _parse_pool(environment: str, entry: Mapping[str, Any]) -> ComputePool:
    spec = entry["spec"]
    name = str(spec.get("display_name") or entry["id"])
    return ComputePool(str(entry["id"]), environment, name, str(spec["cloud"]).lower(), str(spec["region"]))


def _referenced_id(reference: object) -> str:
    """The id in a reference to another object."""
    return str(reference.get("id") or "") if isinstance(reference, dict) else str(reference or "")


class _Listing(NamedTuple):
    title: str
    path: str
    parse: Callable[[str, Mapping[str, Any]], Any]


_LISTINGS = (
    _Listing("Kafka clusters", "/cmk/v2/clusters", _parse_kafka),
    _Listing("Schema Registries", "/srcm/v3/clusters", _parse_registry),
    _Listing("ksqlDB clusters", "/ksqldbcm/v2/clusters", _parse_ksqldb),
    _Listing("compute pools", "/fcpm/v2/compute-pools", _parse_pool),
)
