"""The interface by which the pipeline writes the graph store."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from lineage_bridge.graph.log_record import OffsetRange
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.model.keeping.retention import ExpiredCounts


@dataclass(frozen=True)
class Batch:
    """The facts of one micro-batch, merged per partition.

    `ranges` maps (source, partition) to the offset range that the facts come from; `rows` maps a relation to its rows.
    """

    ranges: Mapping[tuple[str, int], OffsetRange]
    rows: Mapping[str, list[Row]]


@dataclass(frozen=True)
class Budget:
    """How many rows one transaction may read and write to derive values, in addition to the rows of its batch. At least one key is always
    derived.
    """

    rows: int


class RowCount(NamedTuple):
    """How many rows a relation has in the store in use, and in the replayed one."""

    relation: str
    before: int
    after: int


class GraphStore(Protocol):
    """The graph store, opened for writing by the pipeline alone."""

    def position(self, source: str) -> dict[int, int]:
        """The offset at which the next batch starts, for each partition of `source`."""

    def apply(self, batch: Batch, budget: Budget) -> None:
        """Merge one batch in one transaction. Raises PositionError, CollisionError."""

    def settle(self, budget: Budget) -> int:
        """Derive what earlier batches left in the queues. Returns how many keys are still left."""

    def check(self) -> None:
        """Check the store. Raises StoreDamagedError if it is known to be damaged or was replaced, StoreError if it does not answer or lacks
        its tables.

        May be called from another thread at any time.
        """


RetentionStep: TypeAlias = Callable[[], ExpiredCounts]
"""One short transaction. Returns what it removed."""
Retention: TypeAlias = Callable[[GraphStore], Iterator[RetentionStep]]
"""The steps of one pass over the graph. Each is called before the next is asked for, while nobody else writes the graph; the search for
what is old is done in between.
"""
