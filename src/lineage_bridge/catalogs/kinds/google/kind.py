"""The kind of targets that publish to Google Data Lineage. It can be listed even if Google's library is not installed."""

from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "google",
    GoogleSettings,
    "google.google_target:GoogleTarget",
    "google",
    "Google Data Lineage: processes with links of datasets and columns, or OpenLineage events",
)
