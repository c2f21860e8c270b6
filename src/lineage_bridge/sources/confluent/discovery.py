"""Lists the resources of an organization, with the Cloud API key (discovery)."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.naming import first_server
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.stepwise import Selection
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.organization import ComputePool, Environment, KafkaCluster, KsqlCluster, Organization, SchemaRegistry

_PUBLIC = "PUBLIC"
"""The access point that clients on the internet use."""


def discover(http: HttpClient, before: Organization | None, only: Selection) -> tuple[Organization, tuple[Unseen, ...]]:
    """Return the resources of the organization, and what could not be listed or read; in its place, the resources from the previous poll
    are kept.

    Previous resources of environments that are not selected are kept too. Raises SourceError if environments cannot be listed.
    """
    previous = before or Organization()
    unseen: list[Unseen] = []
    listed = _parse_each(_ENVIRONMENTS, "", list_all(http, _ENVIRONMENTS.path), previous.environments, unseen)
    environments = tuple(sorted(listed, key=lambda environment: environment.id))
    organization = next((environment.organization for environment in environments if environment.organization), previous.id)
    organization = organization or _organization_id(http)
    selected = [environment.id for environment in environments if not only.environments or environment.id in only.environments]
    missing = sorted(only.environments - set(selected))
    unseen += [Unseen(f"environment {name}", "it does not exist, or the API key may not read it") for name in missing]
    requests = [(kind, environment) for kind in range(len(_LISTINGS)) for environment in selected]
    found: list[list[Any]] = [[] for _ in _LISTINGS]
    with ThreadPoolExecutor(http.settings.at_once, thread_name_prefix="discover") as pool:
        answers = list(pool.map(lambda request: _try_to_list(http, *request), requests))
    for (kind, environment), answer in zip(requests, answers, strict=True):
        known = [resource for resource in _resources(previous)[kind] if resource.environment == environment]
        if isinstance(answer, SourceError):
            unseen.append(Unseen(f"{_LISTINGS[kind].title} of {environment}", str(answer), answer.hint))
            found[kind] += known
        else:
            found[kind] += _parse_each(_LISTINGS[kind], environment, answer, known, unseen)
    existing = {environment.id for environment in environments}
    for kind, resources in enumerate(_resources(previous)):
        found[kind] += [resource for resource in resources if resource.environment in existing and resource.environment not in selected]
    kafka, registries, ksqldb, pools = (tuple(sorted(resources, key=lambda resource: resource.id)) for resources in found)
    return Organization(organization, environments, kafka, registries, ksqldb, pools), tuple(unseen)


def _resources(organization: Organization) -> tuple[tuple[Any, ...], ...]:
    """All resources of an organization, in the order of `_LISTINGS`."""
    return organization.kafka_clusters, organization.registries, organization.ksqldb_clusters, organization.compute_pools


def _try_to_list(http: HttpClient, kind: int, environment: str) -> list[Mapping[str, Any]] | SourceError:
    try:
        return list_all(http, _LISTINGS[kind].path, environment=environment)
    except SourceError as error:
        return error


def _parse_each(
    listing: "_Listing", environment: str, entries: Iterable[Mapping[str, Any]], previous: Iterable[Any], unseen: list[Unseen]
) -> list[Any]:
    """Parse the resources in a listing.

    For an entry that cannot be read, the previous resource with its id is kept. If the entry has no id, all previous resources that are
    missing in the listing are kept.
    """
    found: list[Any] = []
    unreadable: set[str] = set()
    for entry in entries:
        resource = _try_to_parse(listing, environment, entry)
        if isinstance(resource, Exception):
            id_ = str(entry.get("id") or "")
            what = f"{listing.title} of {environment}" if environment else listing.title
            unseen.append(Unseen(f"{what}: {id_ or 'an entry without an id'}", f"the listing has no valid member {resource} for it"))
            unreadable.add(id_)
        else:
            found.append(resource)
    listed = {resource.id for resource in found}
    kept = (resource for resource in previous if resource.id not in listed and (resource.id in unreadable or "" in unreadable))
    return [*found, *kept]


def _try_to_parse(listing: "_Listing", environment: str, entry: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any kind of resource
    try:
        return listing.parse(environment, entry)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return error


def _organization_id(http: HttpClient) -> str:
    """Fetch the organization's id, which Flink's API requires; empty if it cannot be listed."""
    try:
        return next((str(entry["id"]) for entry in list_all(http, "/org/v2/organizations") if entry.get("id")), "")
    except SourceError:
        return ""


def _parse_environment(_: str, entry: Mapping[str, Any]) -> Environment:
    id_ = _id(entry)
    resource_name = str(_object(entry.get("metadata")).get("resource_name") or "")
    parts = (part for part in resource_name.split("/") if part.startswith("organization="))
    organization = next((part.removeprefix("organization=") for part in parts), "")
    package = str(_object(entry.get("stream_governance_config")).get("package") or "")
    return Environment(id_, str(entry.get("display_name") or id_), package, organization)


def _parse_kafka(environment: str, entry: Mapping[str, Any]) -> KafkaCluster:
    id_, spec = _id(entry), entry["spec"]
    listed = {str(name): point for name, point in _object(spec.get("endpoints")).items() if isinstance(point, Mapping)}
    points = [listed[name] for name in sorted(listed, key=lambda name: (name != _PUBLIC, name))]
    servers = [first_server(str(point.get("kafka_bootstrap_endpoint") or "")) for point in (spec, *points)]
    urls = [_url(point.get("http_endpoint")) for point in (spec, *points)]
    bootstrap = next(filter(None, servers), "")
    return KafkaCluster(
        id_,
        environment,
        str(spec.get("display_name") or id_),
        str(_object(spec.get("config")).get("kind") or ""),
        str(spec.get("cloud") or "").lower(),
        str(spec.get("region") or ""),
        next(filter(None, urls), ""),
        bootstrap,
        str(spec.get("availability") or ""),
        tuple(sorted({server for server in servers if server and server != bootstrap})),
    )


def _parse_registry(environment: str, entry: Mapping[str, Any]) -> SchemaRegistry:
    spec, status = _object(entry.get("spec")), _object(entry.get("status"))
    url = _url(spec.get("http_endpoint")) or _url(status.get("http_endpoint")) or _private_url(spec)
    catalog_url = _url(spec.get("catalog_http_endpoint"))
    return SchemaRegistry(
        _id(entry),
        environment,
        url,
        str(spec.get("cloud") or "").lower(),
        _referenced_id(spec.get("region")),
        "" if catalog_url == url else catalog_url,
        str(spec.get("package") or ""),
    )


def _private_url(spec: Mapping[str, Any]) -> str:
    """The address of a registry that can only be reached in private networks. If there are several addresses, the one in the registry's own
    region is returned.
    """
    listed = _object(_object(spec.get("private_networking_config")).get("regional_endpoints"))
    by_region = [listed.get(_referenced_id(spec.get("region"))), *(listed[region] for region in sorted(listed))]
    return next(filter(None, map(_url, (*by_region, spec.get("private_http_endpoint")))), "")


def _parse_ksqldb(environment: str, entry: Mapping[str, Any]) -> KsqlCluster:
    id_, spec, status = _id(entry), entry["spec"], _object(entry.get("status"))
    url = _url(status.get("http_endpoint")) or _url(spec.get("http_endpoint"))
    prefix = str(status.get("topic_prefix") or spec.get("topic_prefix") or "")
    return KsqlCluster(id_, environment, _referenced_id(spec.get("kafka_cluster")), str(spec.get("display_name") or id_), url, prefix)


def _parse_pool(environment: str, entry: Mapping[str, Any]) -> ComputePool:
    id_, spec = _id(entry), entry["spec"]
    cloud, region = spec["cloud"] or "", spec["region"] or ""
    if not cloud or not region:
        raise KeyError("cloud" if not cloud else "region")
    return ComputePool(id_, environment, str(spec.get("display_name") or id_), str(cloud).lower(), str(region))


def _id(entry: Mapping[str, Any]) -> str:
    if not isinstance(entry["id"], str) or not entry["id"]:
        raise KeyError("id")
    return entry["id"]


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _url(value: object) -> str:
    """Put https:// before an address that has no scheme, or has the scheme of one of Kafka's listeners."""
    url = value.strip().rstrip("/") if isinstance(value, str) else ""
    scheme, _, host = url.rpartition("://")
    return url if not url or scheme.lower() in ("http", "https") else f"https://{host}"


def _referenced_id(reference: object) -> str:
    """The id in a reference to another object."""
    return str(reference.get("id") or "") if isinstance(reference, Mapping) else str(reference or "")


class _Listing(NamedTuple):
    title: str
    path: str
    parse: Callable[[str, Mapping[str, Any]], Any]


_ENVIRONMENTS = _Listing("environments", "/org/v2/environments", _parse_environment)
_LISTINGS = (
    _Listing("Kafka clusters", "/cmk/v2/clusters", _parse_kafka),
    _Listing("Schema Registries", "/srcm/v3/clusters", _parse_registry),
    _Listing("ksqlDB clusters", "/ksqldbcm/v2/clusters", _parse_ksqldb),
    _Listing("compute pools", "/fcpm/v2/compute-pools", _parse_pool),
)
