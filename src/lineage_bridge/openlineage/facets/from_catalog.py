"""The facet of a DatasetEvent that repeats what a catalog has about a dataset."""

from typing import Final

FROM_CATALOG: Final = "lineagebridge_catalog"
"""The facet's key. Producers know better than a catalog, so what such an event states is outranked by each of them."""
