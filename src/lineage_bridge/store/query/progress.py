"""Reads up to which offsets the store has applied the log."""

from lineage_bridge.store.connection import StoreConnection

_POSITION = 'SELECT source, partition, "offset" FROM position'
_QUEUED = "SELECT 1 FROM derive_queue UNION ALL SELECT 1 FROM search_queue UNION ALL SELECT 1 FROM stitch_queue LIMIT 1"


class StoreProgress:
    """Implements ports.ProgressReader over one connection. Both answers are read once, because they cannot change within a transaction."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self._position: dict[tuple[str, int], int] | None = None
        self._settling: bool | None = None

    def position(self) -> dict[tuple[str, int], int]:
        """The offset up to which the store has applied the log, for each (source, partition)."""
        if self._position is None:
            self._position = {(source, partition): offset for source, partition, offset in self.connection.execute(_POSITION)}
        return dict(self._position)

    def settling(self) -> bool:
        """Whether any keys are still to be derived."""
        if self._settling is None:
            self._settling = self.connection.execute(_QUEUED).fetchone() is not None
        return self._settling
