"""The facet of a DatasetEvent or JobEvent that repeats what a catalog has about a dataset or job."""

from typing import Final

FROM_CATALOG: Final = "lineagebridge_catalog"
"""The facet's key. Its member `catalog` is the kind of source that read the catalog. Producers know better than a catalog, so what such a
DatasetEvent states is outranked by each of them; and what a catalog states is not published back to a catalog of its kind."""
