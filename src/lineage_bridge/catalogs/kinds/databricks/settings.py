"""The settings of a metastore of Unity Catalog as a target."""

from pydantic import Field

from lineage_bridge.catalogs.settings import LoginSettings, Texts


class DatabricksSettings(LoginSettings):
    """Settings of a target: a metastore, by the address of a workspace that uses it."""

    OWNER = "Databricks"

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

    warehouse_id: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9-]*$",
        description="id of the SQL warehouse that writes properties, comments and tags of tables; empty: none are written",
    )
    statement_timeout_s: float = Field(
        default=600.0, ge=1, le=3600, description="seconds that a SQL statement may take, with the start of the warehouse"
    )
    comments: bool = Field(default=True, description="with a warehouse: describe tables and columns where the metastore has no comment")
    set_tags: bool = Field(default=True, description="with a warehouse: give tables and columns the tags that they have in the graph")

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address, and the prefix of all names."""
        return f"{self.url} {self.prefix}"
