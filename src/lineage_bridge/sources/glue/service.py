"""Client of AWS Glue's API. It needs botocore, which is an optional dependency."""

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, Final

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.aws.session import open_client, service_errors
from lineage_bridge.sources.glue.settings import GlueSourceSettings

_RIGHTS: Final = "grant glue:GetDatabases and glue:GetTables on the catalog, its databases and tables"
Entry = Mapping[str, Any]


class GlueService:
    """The databases and tables of one catalog. Thread-safe; it connects at the first request."""

    def __init__(self, settings: GlueSourceSettings) -> None:
        self.settings = settings
        self._client: Any = None
        self._opening = Lock()

    def databases(self) -> Iterator[list[Entry]]:
        """The databases, page by page. Raises SourceError, possibly after some pages."""
        yield from self._pages("get_databases", "GetDatabases", "DatabaseList", {})

    def tables(self, database: str) -> Iterator[list[Entry]]:
        """The tables of a database, page by page. Raises SourceError, possibly after some pages."""
        yield from self._pages("get_tables", f"GetTables of {database}", "TableList", {"DatabaseName": database})

    def location(self) -> tuple[str, str]:
        """The region of the catalog, and the partition of AWS that it is in. Raises ConfigError without a region."""
        client = self._open()
        return client.meta.region_name or self.settings.region, client.meta.partition

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _pages(self, method: str, named: str, member: str, asked: dict[str, Any]) -> Iterator[list[Entry]]:
        if self.settings.catalog_id:
            asked = {**asked, "CatalogId": self.settings.catalog_id}
        with service_errors(named, _RIGHTS):
            for page in self._open().get_paginator(method).paginate(**asked):
                found = page.get(member)
                if not isinstance(found, list):
                    raise SourceError(f"{named} did not return a list", "check that endpoint_url is that of AWS Glue")
                yield [entry for entry in found if isinstance(entry, dict)]

    def _open(self) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        with self._opening:
            if self._client is None:
                self._client = open_client(self.settings, "glue", connections=self.settings.at_once)
            return self._client
