"""The observer of AWS Glue's Data Catalog."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.glue.settings import GlueSourceSettings
from lineage_bridge.sources.glue.translate import CatalogLocation, gone_event, read_table, table_event

if TYPE_CHECKING:
    from lineage_bridge.sources.glue.service import GlueService


MOST_EVENTS = 5_000
"""How many changed tables one poll reports; the others are reported by the next polls."""
_ACCOUNT_HINT = "set `catalog_id` to the account that owns the catalog"


class DatabaseTables(NamedTuple):
    """A database after a poll: its part of the snapshot, its events, how many tables could not be named, how many changed tables were left
    for the next poll, and the error that may have cut the list short.
    """

    snapshot: dict[str, Any]
    events: list[Json]
    unnamed: int
    left: int
    error: SourceError | None

    def unseen(self, database: str) -> Iterator[Unseen]:
        """What could not be observed."""
        if self.error is not None:
            yield Unseen(f"database {database}: tables", str(self.error), self.error.hint)
        if self.unnamed:
            yield Unseen(f"database {database}: tables whose account is unknown", f"{self.unnamed} tables", _ACCOUNT_HINT)
        if self.left:
            yield Unseen(f"database {database}: changes", f"{self.left} changed tables are left for the next polls")


class GlueObserver(Observer[GlueSourceSettings]):
    """Observes the tables of one catalog: their columns, descriptions, owners and locations."""

    def __init__(self, name: str, settings: GlueSourceSettings) -> None:
        super().__init__(name, settings)
        self.service = _service(settings)

    def test(self) -> Iterator[Check]:
        """Check the list of databases, and the list of tables of the first database."""
        databases, error = self._databases()
        if error is not None:
            yield Check("list databases", False, str(error), error.hint)
            return
        yield Check("list databases", True, f"{len(databases)} selected")
        for name, catalog in list(databases.items())[:1]:
            found = self._look(name, catalog, {}, 0, MOST_EVENTS)
            step = f"list tables of {name}"
            if found.error is not None:
                yield Check(step, False, str(found.error), found.error.hint)
            else:
                yield Check(step, True, f"{len(found.snapshot) + found.left} selected")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once; see Observer."""
        del shared
        databases, error = self._databases()
        if error is not None and not databases:
            raise error
        known: Mapping[str, Mapping[str, Any]] = (before or {}).get("databases", {})
        unseen = [Unseen("list of databases", str(error), error.hint)] if error else []
        snapshot: dict[str, Any] = {name: entries for name, entries in known.items() if error is not None}
        events = (
            []
            if error is not None
            else [
                gone_event(entry, now_us)
                for name in sorted(known.keys() - databases.keys())
                if self.settings.selects_database(name)
                for _, entry in sorted(known[name].items())
            ]
        )
        names = list(databases)
        with ThreadPoolExecutor(self.settings.at_once, thread_name_prefix="source") as pool:
            for first in range(0, len(names), self.settings.at_once):
                room = max(0, MOST_EVENTS - len(events))
                some = names[first : first + self.settings.at_once]
                found = pool.map(lambda name, room=room: self._look(name, databases[name], known.get(name, {}), now_us, room), some)
                for name, tables in zip(some, found, strict=True):
                    snapshot[name] = tables.snapshot
                    events += tables.events
                    unseen += tables.unseen(name)
        return Observation({"databases": dict(sorted(snapshot.items()))}, tuple(events), unseen=tuple(unseen))

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Nothing: other sources name no tables of the catalog."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close the connections."""
        self.service.close()

    def _databases(self) -> tuple[dict[str, CatalogLocation], SourceError | None]:
        """The selected databases by name, each with the catalog of its tables, and the error that may have cut the list short."""
        found: dict[str, CatalogLocation] = {}
        try:
            for page in self.service.databases():
                for entry in page:
                    name = str(entry.get("Name") or "")
                    if name and self.settings.selects_database(name):
                        found[name] = self._catalog(entry)
        except SourceError as error:
            return dict(sorted(found.items())), error
        return dict(sorted(found.items())), None

    def _catalog(self, entry: Mapping[str, Any]) -> CatalogLocation:
        target = entry.get("TargetDatabase")  # a link to a database of another catalog
        linked = target if isinstance(target, dict) else {}
        account = str(linked.get("CatalogId") or entry.get("CatalogId") or self.settings.catalog_id)
        region, partition = self.service.location()
        return CatalogLocation(str(linked.get("Region") or region), partition, account)

    def _look(self, database: str, catalog: CatalogLocation, known: Mapping[str, Any], now_us: int, room: int) -> DatabaseTables:
        """List the tables of a database. At most `room` changed tables are reported."""
        snapshot: dict[str, Any] = {}
        events: list[Json] = []
        unnamed, left = 0, 0
        error: SourceError | None = None
        try:
            for page in self.service.tables(database):
                for entry in page:
                    name = str(entry.get("Name") or "")
                    if not self.settings.selects_table(database, name):
                        continue
                    facts = read_table(entry, database, catalog)
                    if facts is None:
                        unnamed += 1
                        continue
                    part, made = table_event(facts, known.get(name), now_us)
                    if made and len(events) >= room:
                        left += 1
                        snapshot |= {name: known[name]} if name in known else {}
                    else:
                        snapshot[name] = part
                        events += made
        except SourceError as failure:
            error = failure
        missing = {
            name: entry for name, entry in sorted(known.items()) if name not in snapshot and self.settings.selects_table(database, name)
        }
        if error is not None or unnamed:
            snapshot |= missing
        else:
            events += [gone_event(entry, now_us) for entry in missing.values()]
        return DatabaseTables(dict(sorted(snapshot.items())), events, unnamed, left, error)


def _service(settings: GlueSourceSettings) -> "GlueService":
    try:
        from lineage_bridge.sources.glue.service import GlueService  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError("sources of kind glue require the extra aws", "install it with: pip install 'lineage-bridge[aws]'") from error
    return GlueService(settings)


KIND = SourceKind(GlueSourceSettings, GlueObserver, "AWS Glue's Data Catalog: tables with columns, descriptions, owners and locations")
