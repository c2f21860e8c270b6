"""Prepares targets whose catalogs can be read for tasks."""

from collections.abc import Callable, Mapping
from typing import Any

from lineage_bridge.catalogs.enrichment.observer import CatalogObserver
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.errors import RefusedError, RequestError
from lineage_bridge.model.sources import SourceRecord, SourceState
from lineage_bridge.sources.common.observer import Observer
from lineage_bridge.sources.runtime.orders import TARGET, PreparedSource


class CatalogTargets:
    """Implements `sources.runtime.orders.ReadableTargets`."""

    def __init__(self, targets: TargetService, kinds: TargetKinds, clock_us: Callable[[], int]) -> None:
        self._targets, self._kinds, self._clock_us = targets, kinds, clock_us

    def ready(self) -> list[str]:
        """The names of the targets whose catalogs can be read and that are not paused, sorted."""
        return [target.name for target in self._targets.configured() if not target.paused and self._kinds.load(target.kind).reads_catalog]

    def prepare(self, name: str, states: Mapping[str, SourceState]) -> PreparedSource:
        """A target as a source. Raises NotFoundError, RefusedError if its kind cannot be read, RequestError if it is paused."""
        record = self._targets.record(name)
        if not self._kinds.load(record.kind).reads_catalog:
            able = ", ".join(kind for kind in self._kinds.names if self._kinds.load(kind).reads_catalog)
            why = f"target {name} is of kind {record.kind}, whose catalog cannot be read"
            raise RefusedError(422, "catalog_not_readable", why, f"kinds that can: {able}")
        if record.paused:
            raise RequestError(f"target {name} is paused", f"resume it first: lineage-bridge target resume {name}")
        source = f"{TARGET}{name}"

        def make() -> Observer[Any]:
            return CatalogObserver(self._targets.target(name), self._clock_us)

        as_source = SourceRecord(source, f"{TARGET}{record.kind}", record.settings, record.origin, states.get(source, SourceState()))
        return PreparedSource(as_source, {}, make, is_target=True)
