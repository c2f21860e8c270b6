"""The kind of targets that publish to OpenMetadata, in one of two forms."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.openmetadata.entities_target import OpenMetadataEntitiesTarget
from lineage_bridge.catalogs.kinds.openmetadata.events_target import OpenMetadataEventsTarget
from lineage_bridge.catalogs.kinds.openmetadata.settings import OpenMetadataSettings
from lineage_bridge.catalogs.target import Target, TargetKind


def make(name: str, settings: OpenMetadataSettings, folder: Path) -> Target[OpenMetadataSettings]:
    """Create a target."""
    made = OpenMetadataEntitiesTarget if settings.form == "entities" else OpenMetadataEventsTarget
    return made(name, settings, folder)


KIND = TargetKind(
    OpenMetadataSettings, make, "OpenMetadata, by the OpenLineage endpoint of its server, or as pipelines and lineage between its tables"
)
