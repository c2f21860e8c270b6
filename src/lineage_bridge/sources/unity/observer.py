"""The observer of Databricks Unity Catalog."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.catalog.address import catalog_address
from lineage_bridge.sources.common.catalog.assets import AssetEvents
from lineage_bridge.sources.common.catalog.walk import CatalogWalk
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.unity.listings import TAG_LISTING, StatementListings, TableListings
from lineage_bridge.sources.unity.settings import UnitySourceSettings
from lineage_bridge.sources.unity.statements import ANY_FLOW
from lineage_bridge.sources.unity.workspace import Workspace

KIND_NAME = "unity"
_TABLES, _STATEMENTS, _UNSEEN = "tables", "statements", "unseen"
_WAREHOUSE_HINT = "set `warehouse_id` to read lineage and tags"


class UnityObserver(Observer[UnitySourceSettings]):
    """Observes the tables of a metastore, and, if a warehouse is set, their tags and the lineage between them.

    All tables are listed first, then tags and lineage; the next poll continues where this one ended.
    """

    def __init__(self, name: str, settings: UnitySourceSettings) -> None:
        super().__init__(name, settings)
        self.workspace = Workspace(settings, check_stop=self.check_stop)
        self._tables = TableListings(settings, self.workspace)
        self._statements = StatementListings(settings, self.workspace, self._tables.marks)
        address = catalog_address(settings.address)
        self._table_walk = CatalogWalk(self._tables, AssetEvents(KIND_NAME, name, lambda _: address))
        self._statement_walk = CatalogWalk(self._statements, AssetEvents(KIND_NAME, f"{name}/statements", lambda _: address))

    def test(self) -> Iterator[Check]:
        """Check the lists of catalogs, schemas and tables, and the SQL statements."""
        try:
            schemas = self._tables.schemas()
            yield Check("list schemas", True, f"{len(schemas)} selected")
            page = self._tables.page("", "")
            yield Check("list tables", not self._tables.unseen, f"{sum(asset is not None for _, asset in page.assets)} on the first page")
        except SourceError as error:
            yield Check("list catalogs", False, str(error), error.hint)
        for unseen in self._tables.unseen:
            yield Check(unseen.what, False, unseen.why, unseen.hint)
        if not self.settings.warehouse_id:
            yield Check("read lineage and tags", True, "not read", _WAREHOUSE_HINT, skipped=True)
            return
        try:
            self.workspace.rows(ANY_FLOW)
            yield Check("read lineage", True, "system.access.table_lineage can be read")
            self._statements.page(TAG_LISTING, "")
            yield Check("read tags", True, "system.information_schema can be read")
        except SourceError as error:
            yield Check("read lineage and tags", False, str(error), error.hint)

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once; see Observer. If more has changed than one poll reports, the next poll continues where this one ended."""
        del shared
        if self.settings.client_id:  # the last poll's token may have expired
            self.workspace.close()
        known = before or {}
        parts: dict[str, Any] = {part: known.get(part) for part in (_TABLES, _STATEMENTS)}
        events: list[Json] = []
        unseen = [Unseen(*found) for found in known.get(_UNSEEN, ())]
        left = self._table_walk.unfinished
        if not (self.settings.warehouse_id and _is_under_way(parts[_STATEMENTS])):
            seen = self._table_walk.observe(parts[_TABLES], now_us)
            parts[_TABLES] = seen.snapshot
            events += seen.events
            unseen += [*seen.unseen, *self._tables.unseen]
        if self.settings.warehouse_id and self._table_walk.unfinished == left:
            self._statements.unseen.clear()
            try:
                seen = self._statement_walk.observe(parts[_STATEMENTS], now_us)
            except SourceError as error:
                unseen.append(Unseen("lineage and tags", str(error), error.hint))
                parts[_STATEMENTS] = _from_the_beginning(parts[_STATEMENTS])
            else:
                parts[_STATEMENTS] = seen.snapshot
                events += seen.events
                unseen += [*seen.unseen, *self._statements.unseen]
        unseen = list({found.what: found for found in unseen}.values())
        is_under_way = any(map(_is_under_way, parts.values()))  # then the next poll still lacks what this one could not see
        snapshot = {**parts, _UNSEEN: [list(found) for found in unseen] if is_under_way else []}
        return Observation({part: found for part, found in snapshot.items() if found}, tuple(events), unseen=tuple(unseen))

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """See Observer. A change is counted for each poll that could not report everything, so that the next poll follows soon."""
        del before
        return self._table_walk.unfinished + self._statement_walk.unfinished

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Empty, because other sources use nothing from this catalog."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close the connections."""
        self.workspace.close()


def _is_under_way(walk: Mapping[str, Any] | None) -> bool:
    return bool(walk and walk.get("cursor"))


def _from_the_beginning(walk: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The snapshot of a walk that starts over: if statements fail, the next poll must nevertheless read the tables."""
    return {**walk, "listing": "", "cursor": "", "pages": 0} if walk else None


KIND = SourceKind(
    UnitySourceSettings,
    UnityObserver,
    "Databricks Unity Catalog: tables with columns, comments, owners, tags and locations, and the lineage that it has seen",
)
