"""The kind of targets that publish to DataZone. It can be listed even if the AWS SDK is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.datazone.settings import DataZoneSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: DataZoneSettings, folder: Path) -> Target[DataZoneSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.datazone.datazone_target import DataZoneTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "targets of kind datazone require another package", "install it with: pip install 'lineage-bridge[aws]'"
        ) from error
    return DataZoneTarget(name, settings, folder)


KIND = TargetKind(DataZoneSettings, make, "Amazon DataZone and SageMaker Catalog: OpenLineage events to a domain")
