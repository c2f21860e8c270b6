"""The kind of targets that publish to Unity Catalog. It can be listed even if Databricks' library is not installed."""

from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "databricks",
    DatabricksSettings,
    "databricks.databricks_target:DatabricksTarget",
    "databricks",
    "Databricks Unity Catalog: external metadata and external lineage in a metastore, properties, comments and tags of its tables",
)
