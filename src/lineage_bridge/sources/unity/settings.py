"""The settings of a source for Databricks Unity Catalog."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from lineage_bridge.sources.common.settings import HttpSettings, Secret


class UnitySourceSettings(HttpSettings):
    """The settings of a metastore. It is reached through a workspace that uses it."""

    interval_s: float = Field(
        default=21_600.0, ge=1, le=86_400, description="seconds between polls; each one uses the warehouse, if one is set"
    )
    client_id: str = Field(default="", description="id of an OAuth client or service principal, with client_secret instead of token")
    client_secret: Secret | None = Field(default=None, description="secret of the OAuth client, as a reference")
    workspace_id: str = Field(default="", pattern=r"^\d*$", description="id of the workspace, if the address does not contain it")
    warehouse_id: str = Field(
        default="", pattern=r"^[A-Za-z0-9-]*$", description="id of the SQL warehouse that reads lineage and tags; empty: neither is read"
    )
    statement_timeout_s: float = Field(
        default=600.0, ge=1, le=3600, description="seconds that a SQL statement may take, with the start of the warehouse"
    )
    lineage_days: int = Field(default=90, ge=1, le=365, description="lineage is taken back if it was not seen for this many days")
    catalogs: tuple[str, ...] = Field(default=("*",), description="patterns of catalogs to observe (sales_*)")
    tables: tuple[str, ...] = Field(default=("*",), description="patterns of tables to observe, as catalog.schema.table (main.sales.*)")

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.username or self.password:
            raise ValueError("set token, or client_id and client_secret; Databricks takes no user and password")
        if bool(self.client_id) != bool(self.client_secret):
            raise ValueError("set client_id and client_secret together")
        if bool(self.client_id) == bool(self.token):
            raise ValueError("set either token, or client_id and client_secret")
        return self

    @property
    def host(self) -> str:
        """The host of the workspace, which the namespace of its tables contains."""
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def address(self) -> str:
        """The address of the workspace."""
        return self.url

    @property
    def costs(self) -> str:
        """What reading costs, in words: the SQL warehouse that it starts; empty if none is set."""
        return f"it starts SQL warehouse {self.warehouse_id}" if self.warehouse_id else ""

    def selects_catalog(self, name: str) -> bool:
        """Whether a catalog is observed."""
        return _matches(name, self.catalogs)

    def selects_table(self, full_name: str) -> bool:
        """Whether a table is observed, given its name in three parts (`catalog.schema.table`)."""
        return self.selects_catalog(full_name.partition(".")[0]) and _matches(full_name, self.tables)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name matches a pattern. Case is ignored, as in the metastore."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)
