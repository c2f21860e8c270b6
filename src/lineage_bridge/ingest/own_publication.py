"""Rejects events that this installation has published itself. They come from the graph, so they are not new evidence. Pure."""

from typing import Final

from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.facets.publication import PUBLICATION, installations_in
from lineage_bridge.openlineage.verdict import Rejected

OWN_PUBLICATION: Final = "own_publication"
"""The reason code of the rejection."""
PUBLICATION_BYTES: Final = PUBLICATION.encode()
"""Bytes that every published event contains."""


def own_publication(event: Event, installation: str) -> Rejected | None:
    """Reject an event that this installation published, because its content comes from the graph. None for any other event."""
    for kind, subject in (("job", event.job), ("dataset", event.dataset)):
        if subject is not None and installation in installations_in(subject.facets):
            message = "this installation published the event itself, so the event is not accepted as evidence"
            return Rejected(OWN_PUBLICATION, f"$.{kind}.facets.{PUBLICATION}", message)
    return None
