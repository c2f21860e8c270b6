"""The settings of a Glue Data Catalog as a target."""

from pydantic import Field

from lineage_bridge.catalogs.settings import Renames, TargetSettings
from lineage_bridge.sources.common.aws.settings import AwsConnection


class GlueSettings(AwsConnection, TargetSettings):
    """Settings of a target: the Data Catalog of one account in one region."""

    region: str = Field(min_length=1, pattern=r"^[a-z0-9-]+$", description="AWS region of the catalog")
    catalog_id: str = Field(pattern=r"^\d{12}$", description="id of the account that owns the catalog")
    databases: Renames = Field(
        default={}, description="databases of the catalog by the namespace of datasets that are tables in them, such as that of a metastore"
    )
    comments: bool = Field(default=True, description="also describe tables and columns where the catalog has no description")

    @property
    def destination(self) -> str:
        """The text that identifies the target: the catalog."""
        return f"{self.endpoint_url or ''} {self.region} {self.catalog_id}".strip()
