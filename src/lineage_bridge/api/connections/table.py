"""The table of open connections. It decides which one is closed when there are too many."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lineage_bridge.api.connections.limits import ConnectionLimits
from lineage_bridge.api.limits.callers import network_of

_Connection = TypeVar("_Connection")


@dataclass
class _Address(Generic[_Connection]):
    """The connections from one address. Those that wait for a request are listed apart, the longest-waiting first."""

    is_shared: bool
    open: int = 0
    waiting: dict[_Connection, None] = field(default_factory=dict)


class ConnectionTable(Generic[_Connection]):
    """The open connections of a server.

    A connection waits while its client has not sent a whole head. When too many connections are open, from one address or in all, the one
    that has waited longest is closed. So clients that connect and send nothing do not block others.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._addresses: dict[str, _Address[_Connection]] = {}
        self._waiting: dict[_Connection, str] = {}
        self._open: dict[_Connection, str] = {}

    def add(self, connection: _Connection, peer: str) -> tuple[str, _Connection | None]:
        """Add a new connection, which waits for a request. Returns the limit that is now exceeded, if any, and the connection to
        close for it.
        """
        address = network_of(peer)
        found = self._addresses.setdefault(address, _Address(self._limits.is_shared(peer)))
        limit, candidates = "", iter(self._waiting)
        if not found.is_shared and found.open >= self._limits.per_address:
            limit, candidates = "too_many_connections_of_address", iter(found.waiting)
        elif len(self._open) >= self._limits.connections:
            limit = "too_many_connections"
        found.open += 1
        self._open[connection] = address
        victim = next(candidates, None) if limit else None
        if victim is not None:
            self.remove(victim)
        if not limit or victim is not None:
            self.set_waiting(connection, is_waiting=True)
        return limit, victim

    def set_waiting(self, connection: _Connection, *, is_waiting: bool) -> None:
        """Record whether a connection waits for a request."""
        address = self._open.get(connection)
        if address is None:
            return
        self._waiting.pop(connection, None)
        self._addresses[address].waiting.pop(connection, None)
        if is_waiting:
            self._waiting[connection] = address
            self._addresses[address].waiting[connection] = None

    def remove(self, connection: _Connection) -> None:
        """Remove a connection, if it is in the table."""
        self.set_waiting(connection, is_waiting=False)
        address = self._open.pop(connection, None)
        if address is None:
            return
        self._addresses[address].open -= 1
        if not self._addresses[address].open:
            del self._addresses[address]

    @property
    def addresses(self) -> int:
        """The number of addresses with open connections."""
        return len(self._addresses)

    def __len__(self) -> int:
        return len(self._open)
