"""The facet that LineageBridge adds to published events. It lists the installations that have published the event."""

from collections.abc import Mapping
from typing import Final

import msgspec

PUBLICATION: Final = "lineagebridge_publication"
"""The facet's key. The facet belongs to the job of an event or, without a job, to the dataset."""


class PublicationFacet(msgspec.Struct, frozen=True):
    """The facet of published events. `installations` are the ids of the installations that published the event, in order."""

    installations: list[str] = []


_DECODER: Final = msgspec.json.Decoder(PublicationFacet)


def installations_in(facets: Mapping[str, bytes]) -> list[str]:
    """The ids of installations in the publication facet among these facets; none if it is absent or unreadable."""
    try:
        return _DECODER.decode(facets[PUBLICATION]).installations if PUBLICATION in facets else []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
