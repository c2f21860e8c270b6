"""The demo's own hand in writing facets."""

from lineage_bridge.openlineage.outgoing import Outgoing

PRODUCER = "https://lineagebridge.dev/demo"
facets = Outgoing(PRODUCER)
