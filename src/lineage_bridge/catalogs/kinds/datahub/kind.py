"""The kind of targets that publish to DataHub, in one of two forms."""

from pathlib import Path

from lineage_bridge.catalogs.kinds.datahub.aspects_target import DataHubAspectsTarget
from lineage_bridge.catalogs.kinds.datahub.events_target import DataHubEventsTarget
from lineage_bridge.catalogs.kinds.datahub.settings import DataHubSettings
from lineage_bridge.catalogs.target import Target, TargetKind


def make(name: str, settings: DataHubSettings, folder: Path) -> Target[DataHubSettings]:
    """Create a target."""
    made = DataHubEventsTarget if settings.form == "events" else DataHubAspectsTarget
    return made(name, settings, folder)


KIND = TargetKind(DataHubSettings, make, "DataHub: jobs with their lineage, by its metadata service or its OpenLineage endpoint")
