"""The builder of the demo's facets."""

from lineage_bridge.openlineage.event_builder import EventBuilder

PRODUCER = "https://lineagebridge.dev/demo"
facets = EventBuilder(PRODUCER)
