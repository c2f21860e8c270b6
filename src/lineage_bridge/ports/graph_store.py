"""The graph store, as the pipeline writes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lineage_bridge.graph.log_record import OffsetRange
from lineage_bridge.graph.merge_rules import Row


@dataclass(frozen=True)
class Batch:
    """The facts of one micro-batch, merged per partition.

    `ranges` maps (source, partition) to the offset range that the facts come from; `rows` maps a relation to its rows.
    """

    ranges: Mapping[tuple[str, int], OffsetRange]
    rows: Mapping[str, list[Row]]


@dataclass(frozen=True)
class Budget:
    """How many rows one transaction may read and write to derive values, beyond those its batch brought.

    At least one key is always derived.
    """

    rows: int


class RowCount(NamedTuple):
    """How many rows a relation has in the store in use and in the replayed one."""

    relation: str
    before: int
    after: int


class GraphStore(Protocol):
    """The graph store, opened by the pipeline alone."""

    def position(self, source: str) -> dict[int, int]:
        """Partition to offset: where the next batch of `source` starts."""

    def apply(self, batch: Batch, budget: Budget) -> None:
        """Merge one batch in one transaction. Raises PositionError, CollisionError."""

    def settle(self, budget: Budget) -> int:
        """Derive what earlier batches left in the queues; returns how many keys remain."""

    def check(self) -> None:
        """Raise StoreDamagedError if the store is known to be damaged or was replaced, StoreError if it does not answer as it should.

        May be called from another thread at any time.
        """
