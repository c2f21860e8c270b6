"""The kind of targets that publish to AWS Glue. It can be listed even if the AWS SDK is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: GlueSettings, folder: Path) -> Target[GlueSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.glue.glue_target import GlueTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError("targets of kind glue require another package", "install it with: pip install 'lineage-bridge[aws]'") from error
    return GlueTarget(name, settings, folder)


KIND = TargetKind(GlueSettings, make, "AWS Glue: lineage in the parameters of tables in a Data Catalog")
