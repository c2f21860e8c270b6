"""The kind of targets that publish topics to Google's catalog. It can be listed even if Google's library is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: DataplexSettings, folder: Path) -> Target[DataplexSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.google.dataplex_target import DataplexTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "targets of kind dataplex require another package", "install it with: pip install 'lineage-bridge[google]'"
        ) from error
    return DataplexTarget(name, settings, folder)


KIND = TargetKind(DataplexSettings, make, "Google Dataplex: an entry in the catalog for each topic, with columns, jobs, owners and tags")
