"""Questions to a store that a test writes."""

from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter


def reader_of(writer: GraphWriter) -> StoreReader:
    """A reader that sees all that was written, on the writer's own connection."""
    return StoreReader(writer.connection)
