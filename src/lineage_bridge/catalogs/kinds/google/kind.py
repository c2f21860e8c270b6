"""The kind of targets that publish to Google Data Lineage. It can be listed even if Google's library is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: GoogleSettings, folder: Path) -> Target[GoogleSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.google.google_target import GoogleTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "targets of kind google require another package", "install it with: pip install 'lineage-bridge[google]'"
        ) from error
    return GoogleTarget(name, settings, folder)


KIND = TargetKind(GoogleSettings, make, "Google Data Lineage: processes with links of datasets and columns, or OpenLineage events")
