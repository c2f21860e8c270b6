"""The kind of targets that publish topics to Google's catalog. It can be listed even if Google's library is not installed."""

from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "dataplex",
    DataplexSettings,
    "google.dataplex_target:DataplexTarget",
    "google",
    "Google Dataplex: an entry in the catalog for each topic, with columns, jobs, owners and tags",
)
