"""Prepares the catalogs of targets for tasks."""

from collections.abc import Callable, Mapping
from typing import Any

from lineage_bridge.catalogs.enrichment.observer import CatalogAccess, CatalogObserver
from lineage_bridge.catalogs.enrichment.tables import OpenGraph
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.catalogs.target import ReadableCatalog
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.model.tasks import TARGET
from lineage_bridge.ports.continuous import ContinuousTarget
from lineage_bridge.sources.common.observer import Observer
from lineage_bridge.sources.runtime.extraction_options import PreparedSource


class EnrichingTargets:
    """Implements `sources.runtime.extraction_options.CatalogSources`: the targets that have `enrich`."""

    def __init__(self, targets: TargetService, graph: OpenGraph, clock_us: Callable[[], int]) -> None:
        self._targets, self._graph, self._clock_us = targets, graph, clock_us

    def prepare(self, name: str, states: Mapping[str, SourceState], *, removes: bool) -> PreparedSource:
        """The catalog of a target as a source. Raises NotFoundError, RequestError, ConfigError."""
        source = f"{TARGET}{name}"
        if not removes:
            self._opened(name)[1].close()
        elif source not in states:
            raise NotFoundError(f"no enrichment from target {name} has stated anything", "list the targets: lineage-bridge target list")

        def make() -> Observer[Any]:
            return CatalogObserver(name, self._forgetting() if removes else self._reading(name))

        return PreparedSource(SourceRecord(source, "target", {}, "request", states.get(source, SourceState())), {}, make)

    def _forgetting(self) -> CatalogAccess:
        return CatalogAccess(None, self._graph, self._clock_us, lambda: None)

    def _reading(self, name: str) -> CatalogAccess:
        """Access to the catalog of a target as it is now. Raises as `prepare`."""
        configured, catalog = self._opened(name)

        def check() -> None:
            if self._configured(name) != configured:
                raise RequestError(f"target {name} was changed during the enrichment", "start it again")

        return CatalogAccess(catalog, self._graph, self._clock_us, check)

    def _opened(self, name: str) -> tuple[ContinuousTarget, ReadableCatalog[Any]]:
        configured = self._configured(name)
        target = self._targets.target(name)
        if isinstance(target, ReadableCatalog) and target.settings.enrich:
            return configured, target
        target.close()
        if isinstance(target, ReadableCatalog):
            raise RequestError(f"target {name} is not to be read", "give it the setting enrich=true if its catalog is to be read")
        raise RequestError(f"target {name} is of kind {configured.kind}, whose catalog cannot be read", "targets of kind glue can be read")

    def _configured(self, name: str) -> ContinuousTarget:
        """A target that is not paused, as it is configured now. Raises NotFoundError, RequestError."""
        found = next((target for target in self._targets.configured() if target.name == name), None)
        if found is None:
            raise NotFoundError(f"there is no target {name}", "list the targets: lineage-bridge target list")
        if found.paused:
            raise RequestError(f"target {name} is paused", f"resume it first: lineage-bridge target resume {name}")
        return found
