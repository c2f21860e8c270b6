"""The listings of a metastore: its tables from the REST API; tags, and the lineage that it has recorded, by SQL statements."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.reading import text_in
from lineage_bridge.sources.common.catalog.walk import MOST_ASKED, MOST_PAGES, Page
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.common.unity.marks import Marks, marks_in
from lineage_bridge.sources.unity.settings import UnitySourceSettings
from lineage_bridge.sources.unity.statements import ANY_FLOW, FLOWS, TAGS, flows_in, groups_of, tags_in
from lineage_bridge.sources.unity.translate import SeenFlow, UnityNames, full_name_of, read_flows, read_table, read_tags
from lineage_bridge.sources.unity.workspace import CATALOGS, SCHEMAS, TABLES, Workspace

TABLE_LISTING, LINEAGE, TAG_LISTING = "tables", "lineage", "tags"
_HIDDEN_CATALOGS: Final = frozenset(("system", "__databricks_internal"))
_HIDDEN_TYPES: Final = frozenset(("SYSTEM_CATALOG", "INTERNAL_CATALOG"))
_HIDDEN_SCHEMA: Final = "information_schema"


class SchemaPage(NamedTuple):
    """A page of the tables of a schema. `token` identifies the page; it is empty for the first one."""

    catalog: str
    schema: str
    token: str = ""


class TableListings:
    """The tables of the selected catalogs, schema by schema. A catalog or schema that cannot be listed is in `unseen`; all others are
    listed nevertheless.
    """

    listings: Sequence[str] = (TABLE_LISTING,)
    pages_at_once = 500
    asked_at_once = 20

    def __init__(self, settings: UnitySourceSettings, workspace: Workspace) -> None:
        self._settings, self._workspace = settings, workspace
        self._names = UnityNames(settings.host)
        self._schemas: list[tuple[str, str]] | None = None
        self._failed: dict[str, Unseen] = {}
        self._marks: dict[str, list[Marks]] = {}
        self._begun = self._is_walked = False

    @property
    def unseen(self) -> list[Unseen]:
        """What could not be listed in the current walk or, if there is none, in the last one."""
        return [self._failed[name] for name in sorted(self._failed)]

    def selects(self, _: str, full_name: str) -> bool:
        """Whether a table is observed: the settings select it, and its catalog and schema could be listed."""
        catalog, schema, _ = (*full_name.split(".", 2), "", "")[:3]
        return self._settings.selects_table(full_name) and catalog not in self._failed and f"{catalog}.{schema}" not in self._failed

    def marks(self, full_name: str) -> list[Marks]:
        """The marks that LineageBridge has written to a table. They are known from the last walk if it was complete, else requested from
        the workspace. Raises SourceError.
        """
        return self._marks.get(full_name, []) if self._is_walked else marks_in(self._workspace.properties(full_name))

    def close(self) -> None:
        """Close the connections."""
        self._workspace.close()

    def page(self, _: str, cursor: str) -> Page:
        """A page of tables. Raises SourceError if the catalogs cannot be listed."""
        if not cursor or self._schemas is None:
            self._failed, self._marks, self._begun, self._is_walked = {}, {}, not cursor, False
            self._schemas = self.schemas()
        current = SchemaPage(*msgspec.json.decode(cursor)) if cursor else self._after(None)
        if current is None:
            return Page((), "")
        entries, token = self._tables(current)
        found: list[tuple[str, Asset | None]] = []
        for entry in entries:
            if full_name := full_name_of(entry):
                if marks := marks_in(entry.get("properties")):
                    self._marks[full_name] = marks
                is_selected = self._settings.selects_table(full_name)
                found.append((full_name, read_table(entry, full_name, self._names) if is_selected else None))
        following = current._replace(token=token) if token else self._after(current)
        self._is_walked = following is None and self._begun and not self._failed
        return Page(found, msgspec.json.encode(following).decode() if following else "", len(entries) - len(found))

    def missing(self, _: str, ids: Sequence[str]) -> set[str]:
        """Ask the workspace about tables. Returns those that do not exist; one that may not be read counts as existing. Raises
        SourceError.
        """
        absent = set[str]()
        for full_name in ids:
            try:
                if not self._workspace.has_table(full_name):
                    absent.add(full_name)
            except ForbiddenError:  # noqa: PERF203  # each table by itself
                continue
        return absent

    def schemas(self) -> list[tuple[str, str]]:
        """The schemas of the selected catalogs. Raises SourceError if catalogs cannot be listed."""
        found: list[tuple[str, str]] = []
        for entry in self._workspace.listed(CATALOGS, "catalogs"):
            catalog = text_in(entry, "name").lower()
            is_hidden = catalog in _HIDDEN_CATALOGS or text_in(entry, "catalog_type") in _HIDDEN_TYPES
            if not catalog or is_hidden or not self._settings.selects_catalog(catalog):
                continue
            try:
                listed = list(self._workspace.listed(SCHEMAS, "schemas", catalog_name=catalog))
            except SourceError as error:
                self._failed[catalog] = Unseen(f"catalog {catalog}: schemas", str(error), error.hint)
                continue
            names = (text_in(schema, "name").lower() for schema in listed)
            found += [(catalog, name) for name in names if name and name != _HIDDEN_SCHEMA]
        return sorted(set(found))

    def _after(self, current: SchemaPage | None) -> SchemaPage | None:
        """The first page of the schema after this one; None after the last one."""
        schemas = self._schemas or []
        at = bisect_right(schemas, (current.catalog, current.schema)) if current else 0
        return SchemaPage(*schemas[at]) if at < len(schemas) else None

    def _tables(self, current: SchemaPage) -> tuple[list[Mapping[str, Any]], str]:
        asked = {"catalog_name": current.catalog, "schema_name": current.schema}
        try:
            return self._workspace.page(TABLES, "tables", current.token, **asked)
        except SourceError as error:
            name = f"{current.catalog}.{current.schema}"
            self._failed[name] = Unseen(f"schema {name}: tables", str(error), error.hint)
            return [], ""


class StatementListings:
    """The lineage and the tags of the metastore, read by SQL statements."""

    listings: Sequence[str] = (TAG_LISTING, LINEAGE)
    pages_at_once = MOST_PAGES
    asked_at_once = MOST_ASKED
    """All at once: one statement answers for all jobs, and each call to the workspace can be stopped."""

    def __init__(self, settings: UnitySourceSettings, workspace: Workspace, marks: Callable[[str], Sequence[Marks]]) -> None:
        """`marks` returns the marks of what LineageBridge published to a table."""
        self._settings, self._workspace, self._marks = settings, workspace, marks
        self._names = UnityNames(settings.host)
        self.unseen: list[Unseen] = []
        """What one page could not hold, since this was last emptied."""

    def page(self, listing: str, cursor: str) -> Page:
        """A page of jobs with their lineage, or of tables with their tags. Raises SourceError."""
        if listing == TAG_LISTING:
            groups = groups_of(self._workspace.rows(TAGS, after=cursor))
            made = list(self._tagged(groups.rows))
        else:
            groups = groups_of(self._workspace.rows(FLOWS, after=cursor, days=str(self._settings.lineage_days)))
            made = [(id_, self._read(list(flows_in(rows)))) for id_, rows in groups.rows.items()]
        if groups.cut:
            self.unseen.append(Unseen(f"{listing} of {groups.cut}", "it has more rows than one statement can return"))
        return Page(made, groups.following)

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        """Return the jobs (or tables) among `ids` that no longer have lineage (or tags). Raises SourceError if that cannot be
        determined.
        """
        if listing == LINEAGE and not self._workspace.rows(ANY_FLOW):
            raise SourceError(
                "system.access.table_lineage is empty",
                "enable the system schema `access`; if the metastore has no lineage, remove the source",
            )
        return set(ids) if listing == LINEAGE else {full_name for full_name in ids if self._is_known(full_name)}

    def selects(self, *_: str) -> bool:
        """Whether a job, or the tags of a table, are observed: always."""
        return True

    def close(self) -> None:
        """Close the connections."""
        self._workspace.close()

    def _is_known(self, full_name: str) -> bool:
        """Whether the workspace answers if a table exists. If it does not answer, the table's tags are not listed, and so they may still
        exist.
        """
        try:
            self._workspace.has_table(full_name)
        except ForbiddenError:
            return False
        return True

    def _tagged(self, rows: Mapping[str, list[list[str]]]) -> Iterator[tuple[str, Asset | None]]:
        """Yield the tables with tags. A table whose only tags were published by LineageBridge is left out."""
        for full_name, found in rows.items():
            if not self._selects(full_name):
                yield full_name, None
            elif asset := read_tags(full_name, tags_in(found), self._names, self._marks(full_name)):
                yield full_name, asset

    def _read(self, flows: list[SeenFlow]) -> Asset | None:
        ends = {end for flow in flows for end in (flow.source, flow.target) if end and "/" not in end}
        return read_flows(flows, self._names) if not ends or any(map(self._selects, ends)) else None

    def _selects(self, full_name: str) -> bool:
        return self._settings.selects_table(full_name)
