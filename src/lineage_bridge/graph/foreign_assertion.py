"""The relation `foreign_assertion`: what principals that are limited to namespaces asserted about nodes outside of them, without effect."""

from lineage_bridge.graph.merge_rules import Type, greatest, key, least, relation

FOREIGN_ASSERTION = relation(
    "foreign_assertion",
    key("asserted_by", Type.BYTES),
    key("job", Type.INT),
    key("node", Type.INT),
    key("side", Type.INT),
    key("why", Type.TEXT),
    key("principal", Type.TEXT),
    key("namespaces", Type.TEXT),
    key("facet_set", Type.BYTES),
    key("day", Type.INT),
    *least("first", ("first", Type.INT), ("first_event", Type.BYTES)),
    *greatest("last", (), ("last", Type.INT), ("last_event", Type.BYTES)),
)
"""What a principal that is limited to `namespaces` (globs, sorted, as a JSON array) asserted about nodes outside of them, and when first
and last on a UTC day. It has no effect; see `graph/facts/foreign.py`. If a principal without these limits makes the same assertion, that
one has effect: it is also a row of `assertion`.
"""
