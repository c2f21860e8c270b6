"""The interface by which the pipeline lets the graph's owner remove what is old, between its own transactions."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from lineage_bridge.model.retention import ExpiredCounts
from lineage_bridge.ports.graph_store import GraphStore

RetentionStep: TypeAlias = Callable[[], ExpiredCounts]
"""One short transaction. Returns what it removed."""
Retention: TypeAlias = Callable[[GraphStore], Iterator[RetentionStep]]
"""The steps of one pass over the graph. Each is called before the next is asked for, while nobody else writes the graph; the search for
what is old is done in between.
"""


def keep_all(_: GraphStore) -> Iterator[RetentionStep]:
    """Remove nothing."""
    return iter(())
