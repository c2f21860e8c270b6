"""Client of AWS Glue's API. It needs botocore, which is an optional dependency."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.aws.client import AmazonClient
from lineage_bridge.sources.common.aws.session import error_code
from lineage_bridge.sources.glue.settings import GlueSourceSettings

_RIGHTS: Final = "grant glue:GetDatabases, glue:GetDatabase, glue:GetTables and glue:GetTable on the catalog, its databases and tables"
_MISSING: Final = "EntityNotFoundException"
Entry = Mapping[str, Any]


class GlueService:
    """The databases and tables of one catalog. Thread-safe; it connects at the first request."""

    def __init__(self, settings: GlueSourceSettings) -> None:
        self.settings, self._client = settings, AmazonClient(settings, "glue")

    def databases(self) -> Iterator[list[Entry]]:
        """The databases, page by page. Raises SourceError, possibly after some pages."""
        yield from self._pages("get_databases", "GetDatabases", "DatabaseList", {})

    def tables(self, database: str) -> Iterator[list[Entry]]:
        """The tables of a database, page by page. Raises SourceError, possibly after some pages."""
        yield from self._pages("get_tables", f"GetTables of {database}", "TableList", {"DatabaseName": database})

    def has_database(self, database: str) -> bool:
        """Whether a database exists. Raises SourceError, which also happens if the caller may not read it."""
        return self._exists("get_database", f"GetDatabase of {database}", {"Name": database})

    def has_table(self, database: str, table: str) -> bool:
        """Whether a table exists. Raises SourceError, which also happens if the caller may not read it."""
        return self._exists("get_table", f"GetTable of {database}.{table}", {"DatabaseName": database, "Name": table})

    def location(self) -> tuple[str, str]:
        """The region of the catalog, and the AWS partition of that region. Raises ConfigError if no region is configured."""
        client = self._client.opened()
        return client.meta.region_name or self.settings.region, client.meta.partition

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _pages(self, method: str, named: str, member: str, asked: dict[str, Any]) -> Iterator[list[Entry]]:
        for page in self._client.pages(method, named, _RIGHTS, member, {**self._catalog, **asked}):
            yield [entry for entry in page if isinstance(entry, dict)]

    def _exists(self, method: str, named: str, asked: dict[str, Any]) -> bool:
        try:
            self._client.call(method, named, _RIGHTS, {**self._catalog, **asked})
        except SourceError as error:
            if error_code(error.__cause__) == _MISSING:
                return False
            raise
        return True

    @property
    def _catalog(self) -> dict[str, str]:
        return {"CatalogId": self.settings.catalog_id} if self.settings.catalog_id else {}
