"""The demo's own hand in writing facets."""

from lineage_bridge.openlineage.event_builder import EventBuilder

PRODUCER = "https://lineagebridge.dev/demo"
facets = EventBuilder(PRODUCER)
