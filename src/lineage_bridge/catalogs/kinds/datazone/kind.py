"""The kind of targets that publish to DataZone. It can be listed even if the AWS SDK is not installed."""

from lineage_bridge.catalogs.kinds.datazone.settings import DataZoneSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "datazone",
    DataZoneSettings,
    "datazone.datazone_target:DataZoneTarget",
    "aws",
    "Amazon DataZone and SageMaker Catalog: OpenLineage events to a domain",
)
