"""The observer of a data catalog, the same for every kind of catalog."""

from collections.abc import Callable, Iterator

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.catalog.address import catalog_address
from lineage_bridge.sources.common.catalog.assets import AssetEvents
from lineage_bridge.sources.common.catalog.walk import CatalogListings, CatalogWalk
from lineage_bridge.sources.common.observer import Check, Observation, Observer, SettingsT, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata


class CatalogObserver(Observer[SettingsT]):
    """Observes a catalog through its listings. Datasets of unknown systems are in namespaces that begin with `unknown`."""

    def __init__(self, name: str, settings: SettingsT, kind: str, listings: CatalogListings, unknown: str) -> None:
        super().__init__(name, settings)
        self._listings, self._unknown = listings, unknown
        self._walk = CatalogWalk(listings, AssetEvents(kind, name, lambda _: catalog_address(settings.address)), self.check_stop)

    def test(self) -> Iterator[Check]:
        """Check the first page of each listing, and report the systems for which no namespace is known."""
        for listing in self._listings.listings:
            try:
                page = self._listings.page(listing, "")
            except SourceError as error:
                yield Check(f"list {listing}", False, str(error), error.hint)
                continue
            found = [asset for _, asset in page.assets if asset and not asset.is_empty]
            spaces = {asset.name[0] for asset in found if not asset.is_job and asset.name[0].startswith(self._unknown)}
            unknown = ", ".join(sorted(space.removeprefix(self._unknown) for space in spaces))
            text = f"{len(found)} of the first {len(page.assets)} have metadata to report"
            yield Check(f"list {listing}", True, f"{text}; no namespace is known for {unknown}" if unknown else text)

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once; see Observer. If more has changed than one poll reports, the next poll continues where this one ended."""
        del shared
        return self._walk.observe(before, now_us)

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """See Observer. A change is counted for each poll that could not report everything, so that the next poll follows soon."""
        del before
        return self._walk.unfinished

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Empty, because a catalog has no metadata that other sources use."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close all connections."""
        self._listings.close()
