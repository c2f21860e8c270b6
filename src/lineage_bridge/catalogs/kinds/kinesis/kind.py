"""The kind of targets that publish to a stream of Kinesis. It can be listed even if the AWS SDK is not installed."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.kinesis.settings import KinesisTargetSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def make(name: str, settings: KinesisTargetSettings, folder: Path) -> Target[KinesisTargetSettings]:
    """Create a target. Raises ConfigError without the optional dependency."""
    try:
        from lineage_bridge.catalogs.kinds.kinesis.kinesis_target import KinesisTarget  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "targets of kind kinesis require another package", "install it with: pip install 'lineage-bridge[aws]'"
        ) from error
    return KinesisTarget(name, settings, folder)


KIND = TargetKind(KinesisTargetSettings, make, "a stream of Amazon Kinesis with OpenLineage events")
