"""The settings of a metastore of Unity Catalog as a target."""

from typing import Any

from pydantic import Field, model_validator

from lineage_bridge.catalogs.settings import HttpTargetSettings, Texts
from lineage_bridge.sources.common.settings import Secret


class DatabricksSettings(HttpTargetSettings):
    """One metastore, by the address of a workspace that uses it."""

    client_id: str = Field(default="", description="id of a service principal, with client_secret instead of token")
    client_secret: Secret | None = Field(default=None, description="OAuth secret of the service principal, as a reference")
    workspace_id: str = Field(default="", pattern=r"^\d*$", description="id of the workspace, if the address does not contain it")
    prefix: str = Field(
        default="lineagebridge",
        pattern=r"^[a-z][a-z0-9_]{0,49}$",
        description="beginning of the names of external metadata; another one for each installation that publishes to a metastore",
    )
    table_namespaces: Texts = Field(
        default=(),
        description="namespaces besides the workspace's own whose names of three parts are tables of the metastore, "
        "such as those of its other workspaces",
    )

    @model_validator(mode="after")
    def _one_way_in_to_databricks(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.username or self.password:
            raise ValueError("set token, or client_id and client_secret; Databricks takes no user and password")
        if bool(self.client_id) != bool(self.client_secret):
            raise ValueError("set client_id and client_secret together")
        if bool(self.client_id) == bool(self.token):
            raise ValueError("set either token, or client_id and client_secret")
        return self

    @property
    def place(self) -> str:
        """The address, and the prefix of all names."""
        return f"{self.url} {self.prefix}"
