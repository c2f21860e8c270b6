"""Finds the Schema Registries of an organization, and creates their HTTP clients. The planes of catalogs and schema links use it too."""

from msgspec.structs import replace

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.registry.client import HEADERS
from lineage_bridge.sources.confluent.organization import Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import EVERY


def registries(context: PlaneContext, organization: Organization | None = None) -> list[SchemaRegistry]:
    """Return the registries of an organization (by default, of its observed part) with the addresses in the settings.

    A registry that Confluent Cloud does not list has the id `registry`. The address set for all registries is used for listed
    registries without an address, and for an unlisted one if there is only one environment.
    """
    organization = organization or context.observed
    urls = context.settings.registry_urls
    listed, common = {registry.environment for registry in organization.registries}, urls.get(EVERY, "")
    found = [_with_address(registry, urls.get(registry.environment, ""), common) for registry in organization.registries]
    default = common if len(organization.environments) == 1 else ""
    unlisted = {environment.id: urls.get(environment.id) or default for environment in organization.environments}
    return [*found, *(SchemaRegistry("registry", id_, url) for id_, url in unlisted.items() if url and id_ not in listed)]


def _with_address(registry: SchemaRegistry, own: str, common: str) -> SchemaRegistry:
    """Return a registry with the address that the settings give for this registry, or else for all registries. The address of its stream
    catalog is chosen in the same way.
    """
    return replace(registry, url=own, catalog_url="") if own else replace(registry, url=registry.url or common)


def registry_http(context: PlaneContext, registry: SchemaRegistry, user: str, url: str = "") -> HttpClient:
    """Return the client with which `user` (the key of a plane) calls a registry, or its catalog at `url`. Raises SourceError if no
    request can be sent.
    """
    credential = context.settings.credential("registry", registry.id, registry.environment)
    if credential is None or not registry.url:
        raise SourceError(unavailable_registry_reason(context, registry))
    return context.clients.http(user, url or registry.url, credential, f"registry {registry.id}", HEADERS)


def unavailable_registry_reason(context: PlaneContext, registry: SchemaRegistry) -> str:
    """Return the reason why a registry cannot be used; empty if it can."""
    if context.settings.credential("registry", registry.id, registry.environment) is None:
        return f"no API key is set for {registry.id}"
    return "" if registry.url else f"Confluent Cloud does not list an address for {registry.id}; set `registry_urls`"


def poll_number(now_us: int, interval_s: float) -> int:
    """Return a number that grows by one with each poll. Polls use the number to take turns in what they fetch."""
    return int(now_us / 1_000_000 / interval_s)
