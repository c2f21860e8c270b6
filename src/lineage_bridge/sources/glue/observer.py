"""The observer of AWS Glue's Data Catalog."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lineage_bridge.errors import ConfigError, ForbiddenError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.catalog.assets import AssetEvents
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.glue.settings import GlueSourceSettings
from lineage_bridge.sources.glue.translate import CatalogLocation, TableFacts, gone_event, read_table, table_events

if TYPE_CHECKING:
    from lineage_bridge.sources.glue.service import GlueService

MOST_COLUMNS = 50_000
"""How many columns of changed tables one poll reports, beyond the table that reaches this number."""
MOST_ASKED = 500
"""How many tables that are missing from a list one poll asks for by name, to find out whether they were deleted."""
_ACCOUNT_HINT = "set `catalog_id` to the account that owns the catalog"


class Room:
    """What is left of a poll's limits: how many columns it may still report, and how many tables it may still look up by name."""

    def __init__(self) -> None:
        self.columns, self.asked = MOST_COLUMNS, MOST_ASKED

    def takes(self, facts: TableFacts) -> bool:
        """Whether this poll may report a changed table. If so, the table's columns are counted."""
        if self.columns <= 0:
            return False
        self.columns -= 1 + facts.columns
        return True


class DatabaseTables(NamedTuple):
    """What a poll found in a database: its part of the snapshot, and its events. `unnamed`: the number of tables whose account is unknown.
    `left`: whether the poll could not report everything. `error`: the error that may have cut the list short. `unread`: the number of views
    whose text cannot be read.
    """

    snapshot: dict[str, Any]
    events: list[Json]
    unnamed: int = 0
    left: bool = False
    error: SourceError | None = None
    unread: int = 0

    def unseen(self, database: str) -> Iterator[Unseen]:
        """What could not be observed."""
        if self.error is not None:
            yield Unseen(f"database {database}: tables", str(self.error), self.error.hint)
        if self.unnamed:
            yield Unseen(f"database {database}: tables whose account is unknown", f"{self.unnamed} tables", _ACCOUNT_HINT)
        if self.unread:
            yield Unseen(f"database {database}: lineage of views whose text cannot be read", f"{self.unread} views")


class GlueObserver(Observer[GlueSourceSettings]):
    """Observes the tables of one catalog: their columns, descriptions, owners and locations."""

    def __init__(self, name: str, settings: GlueSourceSettings) -> None:
        super().__init__(name, settings)
        self.service = _service(settings)
        self._stated = AssetEvents("glue", name, lambda asset: asset[0])
        self._unfinished = 0

    def test(self) -> Iterator[Check]:
        """Check the list of databases, and the first page of the list of tables of the first database."""
        databases, error = self._databases()
        if error is not None:
            yield Check("list databases", False, str(error), error.hint)
            return
        yield Check("list databases", True, f"{len(databases)} selected")
        for name in list(databases)[:1]:
            step = f"list tables of {name}"
            try:
                tables = next(self.service.tables(name), [])
            except SourceError as failure:
                yield Check(step, False, str(failure), failure.hint)
            else:
                yield Check(step, True, f"{sum(self.settings.selects_table(name, str(table.get('Name'))) for table in tables)} selected")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once; see Observer. If more has changed than one poll reports, the next poll reports the rest."""
        del shared
        databases, error = self._databases()
        if error is not None and not databases:
            raise error
        known: Mapping[str, Mapping[str, Any]] = (before or {}).get("databases", {})
        first = str((before or {}).get("next", ""))
        unseen = [Unseen("list of databases", str(error), error.hint)] if error else []
        snapshot: dict[str, Any] = {name: dict(entries) for name, entries in known.items()}
        events: list[Json] = []
        room, left = Room(), ""
        for name in sorted(databases, key=lambda name: (name < first, name)):
            self.check_stop()
            if room.columns <= 0:
                left = left or name
                continue
            tables = self._look(name, databases[name], known.get(name, {}), now_us, room)
            snapshot[name] = tables.snapshot
            events += tables.events
            unseen += tables.unseen(name)
            left = left or (name if tables.left else "")
        for name in sorted(known.keys() - databases.keys()) if error is None else ():
            if not self.settings.selects_database(name):
                del snapshot[name]
            elif self._is_gone(name, unseen):
                events += [gone_event(entry, now_us, self._stated) for _, entry in sorted(snapshot.pop(name).items())]
        self._unfinished += bool(left)
        return Observation({"databases": dict(sorted(snapshot.items())), "next": left}, tuple(events), unseen=tuple(unseen))

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """See Observer. A change is counted for each poll that could not report everything, so that the next poll follows soon."""
        del before
        return self._unfinished

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Empty, because other sources use nothing from this catalog."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close the connections."""
        self.service.close()

    def _databases(self) -> tuple[dict[str, CatalogLocation], SourceError | None]:
        """The selected databases by name, each with the catalog of its tables, and the error that may have cut the list short.

        A link to a database of another catalog is left out: its tables belong to that catalog.
        """
        found: dict[str, CatalogLocation] = {}
        try:
            for page in self.service.databases():
                for entry in page:
                    name = str(entry.get("Name") or "")
                    if name and self.settings.selects_database(name) and not entry.get("TargetDatabase"):
                        region, partition = self.service.location()
                        found[name] = CatalogLocation(region, partition, str(entry.get("CatalogId") or self.settings.catalog_id))
        except SourceError as error:
            return dict(sorted(found.items())), error
        return dict(sorted(found.items())), None

    def _is_gone(self, database: str, unseen: list[Unseen]) -> bool:
        """Whether a database that is not listed does not exist. (AWS does not list databases that the caller may not see.)"""
        try:
            return not self.service.has_database(database)
        except SourceError as error:
            unseen.append(Unseen(f"database {database}: tables", str(error), error.hint))
            return False

    def _look(self, database: str, catalog: CatalogLocation, known: Mapping[str, Any], now_us: int, room: Room) -> DatabaseTables:
        """List the tables of a database, and report the changed ones within the poll's limits."""
        snapshot: dict[str, Any] = {}
        events: list[Json] = []
        listed = set[str]()
        unnamed, unread, left = 0, 0, False
        try:
            for page in self.service.tables(database):
                for entry in page:
                    name = str(entry.get("Name") or "")
                    listed.add(name)
                    if not self.settings.selects_table(database, name):
                        continue
                    facts = read_table(entry, database, catalog)
                    part, made = table_events(facts, known.get(name), now_us, self._stated) if facts else (known.get(name), [])
                    unnamed += facts is None
                    unread += facts is not None and facts.is_unread
                    if made and facts and not room.takes(facts):
                        part, made, left = known.get(name), [], True
                    snapshot |= {name: part} if part else {}
                    events += made
        except SourceError as error:
            return DatabaseTables(_sorted({**known, **snapshot}), events, unnamed, left, error, unread)
        missing = {
            name: entry for name, entry in sorted(known.items()) if name not in listed and self.settings.selects_table(database, name)
        }
        asked = list(missing)[: max(0, room.asked)]
        room.asked -= len(asked)
        gone, denied = self._gone(database, asked)
        events += [gone_event(missing[name], now_us, self._stated) for name in gone]
        snapshot |= {name: entry for name, entry in missing.items() if name not in gone}
        # Where none of those that were asked for is gone, the next poll comes in its time: it would ask for the same ones again.
        return DatabaseTables(_sorted(snapshot), events, unnamed, left or (bool(gone) and len(asked) < len(missing)), denied, unread)

    def _gone(self, database: str, tables: Sequence[str]) -> tuple[list[str], SourceError | None]:
        """Return which of these tables do not exist, and the first error. A table that may not be read counts as existing; after any other
        error, so do all tables that were not looked up yet.
        """
        gone: list[str] = []
        first: SourceError | None = None
        for name in tables:
            self.check_stop()
            try:
                if not self.service.has_table(database, name):
                    gone.append(name)
            except SourceError as error:  # each table by itself
                first = first or error
                if not isinstance(error, ForbiddenError):
                    break
        return gone, first


def _sorted(entries: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(entries.items()))


def _service(settings: GlueSourceSettings) -> "GlueService":
    try:
        from lineage_bridge.sources.glue.service import GlueService  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError("sources of kind glue require the extra aws", "install it with: pip install 'lineage-bridge[aws]'") from error
    return GlueService(settings)


KIND = SourceKind(GlueSourceSettings, GlueObserver, "AWS Glue's Data Catalog: tables with columns, descriptions, owners and locations")
