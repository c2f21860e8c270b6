"""The settings of a source for AWS Glue's Data Catalog."""

from fnmatch import fnmatchcase

from pydantic import Field

from lineage_bridge.sources.common.aws.settings import AwsConnection


class GlueSourceSettings(AwsConnection):
    """The catalog of an account in a region. If no credentials are set here, the AWS SDK looks for credentials itself."""

    interval_s: float = Field(default=900.0, ge=1, le=86_400, description="seconds between polls")
    catalog_id: str = Field(default="", pattern=r"^(\d{12})?$", description="account that owns the catalog; empty: that of the credentials")
    databases: tuple[str, ...] = Field(default=("*",), description="patterns of databases to observe (sales_*)")
    tables: tuple[str, ...] = Field(default=("*",), description="patterns of tables to observe, as database.table (sales.orders_*)")

    @property
    def address(self) -> str:
        """The account and region, as far as the settings name them."""
        values = (self.endpoint_url, self.region, self.catalog_id, self.profile, self.access_key_id, self.role_arn)
        return f"glue:{'/'.join(value for value in values if value)}"

    def selects_database(self, name: str) -> bool:
        """Whether a database is observed."""
        return any(fnmatchcase(name, pattern) for pattern in self.databases)

    def selects_table(self, database: str, name: str) -> bool:
        """Whether a table of a selected database is observed."""
        return any(fnmatchcase(f"{database}.{name}", pattern) for pattern in self.tables)
