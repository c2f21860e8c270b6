"""The facet that stands for facets whose secrets would have cost too much to find: they were not kept."""

from typing import Final

import msgspec
from msgspec import Struct, field
from msgspec.json import Decoder

WITHHELD: Final = "lineagebridge_withheld"
"""The facet's name, in runs, jobs and datasets, and beside the facets of an access to a dataset."""
MOST_NAMES: Final = 50
"""How many names it has at most."""
_PRODUCER: Final = "https://lineagebridge.dev/ingest"
_SCHEMA: Final = "https://lineagebridge.dev/spec/facets/1-0-0/WithheldFacet.json#/$defs/WithheldFacet"


class WithheldFacet(Struct):
    """`facets`: the names of those beside it that were withheld, at most MOST_NAMES; `count`: how many there are; `reason`: a code."""

    facets: list[str]
    count: int = 0
    reason: str = "too_costly"
    producer: str = field(default=_PRODUCER, name="_producer")
    schema_url: str = field(default=_SCHEMA, name="_schemaURL")


_FACET: Final = Decoder(WithheldFacet)


def withheld_names(facet: bytes) -> list[str]:
    """The names in such a facet; none if it has another shape."""
    try:
        return _FACET.decode(facet).facets[:MOST_NAMES]
    except msgspec.DecodeError:
        return []
