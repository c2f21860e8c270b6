"""Readers of the store. A reader works within one read transaction, so all its answers reflect the same position."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty, Full, LifoQueue
from typing import Protocol

from lineage_bridge.errors import AmbiguousError, GoneError, NotFoundError, RequestError, StoreUnreachableError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import file_identity, suspected_on_damage
from lineage_bridge.store.history.questions import HistoryQuestions
from lineage_bridge.store.lineage.questions import LineageQuestions
from lineage_bridge.store.query.events import Events
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.query.progress import StoreProgress
from lineage_bridge.store.query.search import Search
from lineage_bridge.store.query.within import NamespaceCondition
from lineage_bridge.store.runs.processing import ProcessingTypes
from lineage_bridge.store.runs.questions import RunQuestions
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.schema.sqlite import connect_reader, data_version
from lineage_bridge.store.whole.inventory import Inventory
from lineage_bridge.store.whole.reader import WholeGraph

_ANSWERS = (AmbiguousError, GoneError, NotFoundError, RequestError)
"""Errors that are answers to a question: the connection that was asked is as good as before."""
REMEMBERED = 5_000
"""If a reader has loaded more nodes or names than this, it is not used for another question."""


class StoreReader:
    """Implements ports.GraphReader over one connection, inside one read transaction.

    All its parts share one cache of nodes and runs, which is valid as long as the store does not change.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes | None = None, processing: ProcessingTypes | None = None) -> None:
        """`processing` returns whether a job is streaming; by default, this is read from the store's tables. A store computed as of an
        earlier time may not contain that fact yet, so its reader gets another `processing`.
        """
        self.nodes = nodes or Nodes(connection)
        runs = Runs(connection, self.nodes, processing)
        self.progress = StoreProgress(connection)
        self.search = Search(connection, self.nodes)
        self.lineage = LineageQuestions(connection, self.nodes, runs)
        self.runs = RunQuestions(connection, self.nodes, runs)
        self.history = HistoryQuestions(connection, self.nodes, runs)
        self.events = Events(connection, self.nodes, runs)
        # Not a method of this reader: a reader that is part of a cycle would stay in memory, with all it remembers, until Python looks for
        # cycles.
        self.inventory = Inventory(connection, self.nodes, runs, partial(StoreReader, connection))
        self.whole = WholeGraph(connection, StoreReader)
        self._connection = connection

    def interrupt(self) -> None:
        """Abort the running query, and refuse later ones. May be called from another thread."""
        self._connection.interrupt()

    def within(self, namespaces: Collection[str]) -> "StoreReader":
        """A reader in the same transaction whose lists and searches contain only nodes in these namespaces."""
        return StoreReader(self._connection, Nodes(self._connection, within=NamespaceCondition(namespaces)))


class StoreLocation(Protocol):
    """Where a store is: a file of SQLite, or a schema of PostgreSQL."""

    def connect(self) -> StoreConnection:
        """Open a connection that only reads. Raises StoreError."""

    def identity(self) -> object:
        """A value that changes when another store replaces this one, so that connections to the replaced store are not reused."""

    def version(self, connection: StoreConnection) -> int | None:
        """A number that is the same in two transactions of a connection only if the store did not change in between; None if unknown."""

    def watched(self) -> AbstractContextManager[None]:
        """A context manager around a question: if the question finds damage, the store is marked as damaged."""


@dataclass(frozen=True)
class _File:
    """Implements StoreLocation for a file of SQLite."""

    path: Path

    def connect(self) -> StoreConnection:
        return connect_reader(self.path)

    def identity(self) -> object:
        return file_identity(self.path)

    def version(self, connection: StoreConnection) -> int | None:
        return data_version(connection)

    def watched(self) -> AbstractContextManager[None]:
        return suspected_on_damage(self.path)


@dataclass
class _Idle:
    """An idle connection, with the reader of its last transaction and the version of the store that this reader has read."""

    connection: StoreConnection
    identity: object
    """The identity of the store when it was connected."""
    reader: StoreReader | None = None
    version: int | None = None

    def reader_of(self, version: int | None) -> StoreReader:
        """A reader for a transaction that sees this version of the store: the previous reader if the version is the same, else a new
        one.
        """
        if self.reader is None or version is None or version != self.version:
            self.reader = StoreReader(self.connection)
        self.version = version
        return self.reader

    def forget(self, remembered: int) -> None:
        """Drop the reader if it will not be used again, because it has loaded too much or the store's version is unknown."""
        if self.reader and (self.version is None or self.reader.nodes.size > remembered):
            self.reader = None


class ReaderPool:
    """Opens readers of a store, and reuses their connections, and the readers as long as the store does not change. Safe for many threads
    at once.
    """

    def __init__(self, location: Path | StoreLocation, size: int = 16, remembered: int = REMEMBERED) -> None:
        """`location` is a file of SQLite, or another StoreLocation. At most `size` connections are kept; a reader that has loaded more
        than `remembered` nodes or names is not used again.
        """
        self.location: StoreLocation = _File(location) if isinstance(location, Path) else location
        self._idle: LifoQueue[_Idle] = LifoQueue(size)
        self._remembered = remembered
        self._identity: object = None

    @contextmanager
    def reader(self) -> Iterator[StoreReader]:
        """Open a reader within one read transaction. Raises StoreMissingError, StoreVersionError, StoreDamagedError,
        StoreUnreachableError.
        """
        with self.location.watched():
            begun = self._begun()
            try:
                yield begun.reader_of(self.location.version(begun.connection))
            except _ANSWERS:
                begun.reader = None
                self._end(begun)
                raise
            except BaseException:
                begun.connection.close()
                raise
            begun.forget(self._remembered)
            self._end(begun)

    def _end(self, idle: _Idle) -> None:
        """End the transaction of a connection, which is then idle, or closed if enough others are idle."""
        try:
            idle.connection.execute("ROLLBACK")
        except BaseException:
            idle.connection.close()
            raise
        try:
            self._idle.put_nowait(idle)
        except Full:
            idle.connection.close()

    def _begun(self) -> _Idle:
        """A connection that has begun a read transaction: an idle connection if it is still connected to the store in use, otherwise a new
        one.
        """
        identity = self.location.identity()
        if identity != self._identity:
            self.close()
            self._identity = identity
        while True:
            try:
                idle, is_fresh = self._idle.get_nowait(), False
            except Empty:
                idle, is_fresh = _Idle(self.location.connect(), identity), True
            if idle.identity != identity:  # its last question had begun before this store replaced that one
                idle.connection.close()
                continue
            try:
                idle.connection.execute("BEGIN")
            except BaseException as error:
                idle.connection.close()
                if is_fresh or not isinstance(error, StoreUnreachableError):
                    raise
            else:
                return idle

    def close(self) -> None:
        """Close the idle connections."""
        with suppress(Empty):
            while True:
                self._idle.get_nowait().connection.close()
