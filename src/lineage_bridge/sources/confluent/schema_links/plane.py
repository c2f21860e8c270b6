"""The plane of schema links: the exporters of a registry, which copy its subjects to another registry."""

from collections.abc import Mapping
from typing import Any, ClassVar

from lineage_bridge.errors import MissingError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.organization import SchemaRegistry
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.registry.client import registries, registry_http, unavailable_registry_reason
from lineage_bridge.sources.confluent.schema_links.client import ExporterListing, list_exporters
from lineage_bridge.sources.confluent.schema_links.events import ExporterEvents, ExporterState


class SchemaLinksPlane(Plane[ExporterListing]):
    """Observes the exporters of a registry. Its snapshot has `exporters`, the ExporterState of each by its name."""

    name: ClassVar[str] = "schema-links"
    stage: ClassVar[int] = 5

    def __init__(self, context: PlaneContext, registry: SchemaRegistry) -> None:
        super().__init__(context, f"{registry.environment}/{registry.id}")
        self.registry = registry

    def unavailable_reason(self) -> str:
        """Why exporters cannot be read: the registry's API key or address is missing. Empty if both are known."""
        return unavailable_registry_reason(self.context, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> ExporterListing:
        """Fetch the exporters. If the registry does not know the call, it has no exporters; if it had some before, the error is raised.
        Raises SourceError.
        """
        del now_us
        http = registry_http(self.context, self.registry, self.key)
        try:
            return list_exporters(http, self.registry, self._registry_at)
        except MissingError:
            if before and before["exporters"]:
                raise
            return ExporterListing()

    def _registry_at(self, address: str) -> SchemaRegistry | None:
        every = registries(self.context, self.context.organization)
        return next((registry for registry in every if registry.url and registry.url == address), None)

    def translate(self, fetched: ExporterListing, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for exporters that started, continue or ended."""
        del shared
        previous: Mapping[str, Any] = (before or {}).get("exporters", {})
        builder = ExporterEvents(self.registry, self.settings.heartbeat_s, now_us)
        events: list[Json] = []
        exporters: dict[str, ExporterState] = {}
        for exporter in fetched.exporters:
            exporters[exporter.name], more = builder.exporter_events(exporter, previous.get(exporter.name))
            events += more
        for name, state in sorted(previous.items()):
            if name in fetched.hidden:
                exporters[name] = state
            elif name not in exporters and not state["ended"]:
                events.append(builder.abort_event(name, state))
        return Observation({"exporters": exporters}, tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> ExporterListing:
        """Return an answer without exporters."""
        return ExporterListing()


def planes(context: PlaneContext) -> Planes:
    """Create one plane for each registry."""
    for registry in registries(context):
        yield SchemaLinksPlane(context, registry)
