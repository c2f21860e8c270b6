"""All rows of a store, for comparing two of them."""

from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.schema.tables import METADATA

FEED = {"change", "change_epoch"}
"""What tells how a store came to be, and may differ between equal ones."""


def tables_of(connection: StoreConnection) -> dict[str, set[tuple[object, ...]]]:
    """Every table but the change feed, with its rows."""
    return {name: set(connection.execute(f'SELECT * FROM "{name}"')) for name in sorted(METADATA.tables.keys() - FEED)}
