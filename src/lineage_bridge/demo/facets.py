"""Builds the facets in the events of the demo."""

from lineage_bridge.openlineage.event_builder import EventBuilder

PRODUCER = "https://lineagebridge.dev/demo"
facets = EventBuilder(PRODUCER)
