"""Questions to a store that a test writes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tests.events import T0

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.store.connection import Driver, RowCursor, StoreConnection, Values
from lineage_bridge.store.query.search import Search
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.runs.processing import ProcessingTypes
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.store.write.asof import folded_again


def reader_of(writer: GraphWriter) -> StoreReader:
    """A reader that sees all that was written, on the writer's own connection."""
    return StoreReader(writer.connection)


class _Listening:
    """A driver that remembers the statements that it runs."""

    def __init__(self, raw: Driver) -> None:
        self.raw, self.statements = raw, list[str]()
        self.interrupt, self.close = raw.interrupt, raw.close

    @property
    def in_transaction(self) -> bool:
        return self.raw.in_transaction

    def execute(self, sql: str, values: Values = ()) -> RowCursor:
        self.statements.append(sql)
        return self.raw.execute(sql, values)

    def executemany(self, sql: str, values: Iterable[Values]) -> RowCursor:
        self.statements.append(sql)
        return self.raw.executemany(sql, values)


def listening_reader_of(writer: GraphWriter) -> tuple[StoreReader, list[str]]:
    """A reader as above, and the statements that it will have run."""
    driver = _Listening(writer.connection.raw)
    return StoreReader(StoreConnection(driver, writer.connection.dialect)), driver.statements


def found(reader: StoreReader, name: str, kind: NodeKind = NodeKind.DATASET) -> Node:
    """A dataset of the namespace `ns`, or a job of `jobs`."""
    node = reader.nodes.find(kind, "ns" if kind == NodeKind.DATASET else "jobs", name)
    assert node is not None
    return node


@contextmanager
def read_as_of(writer: GraphWriter, names: Names, at_us: int | None) -> Iterator[StoreReader]:
    """A reader of what had been asserted by `at_us` (now, if None), in a store of its own.

    How jobs work counts whenever it was learnt, so that comes from the store as it is now.
    """
    with folded_again(writer.connection, names, at_us, frozenset()) as again:
        yield StoreReader(again, processing=ProcessingTypes(writer.connection))


def search_of(writer: GraphWriter, *, candidates: int) -> Search:
    """Search that looks at no more than some candidates."""
    return Search(writer.connection, reader_of(writer).nodes, candidates)


def exported(writer: GraphWriter) -> list[bytes]:
    return list(reader_of(writer).whole.lines(frozenset(), now_us=T0))


def node(reader: StoreReader, name: str, kind: NodeKind = NodeKind.DATASET) -> Node:
    found = reader.nodes.find(kind, "ns" if kind == NodeKind.DATASET else "jobs", name)
    assert found is not None
    return found
