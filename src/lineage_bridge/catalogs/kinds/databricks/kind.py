"""The kind of targets that publish to Unity Catalog. It can be listed even if Databricks' library is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: DatabricksSettings, folder: Path) -> Target[DatabricksSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.databricks.databricks_target import DatabricksTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "targets of kind databricks require another package", "install it with: pip install 'lineage-bridge[databricks]'"
        ) from error
    return DatabricksTarget(name, settings, folder)


KIND = TargetKind(
    DatabricksSettings,
    make,
    "Databricks Unity Catalog: external metadata and external lineage in a metastore, properties, comments and tags of its tables",
)
