"""Ends a connection whose server has stopped answering. A statement that waits for the server then fails instead of waiting forever."""

import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

from lineage_bridge.errors import StoreUnreachableError
from lineage_bridge.store.probe import Probe

_PERIOD_S: Final = 10.0
_ANSWER_S: Final = 10.0
_TRIES: Final = 2
_log = logging.getLogger(__name__)


class Watchdog(threading.Thread):
    """While a statement runs, checks over another connection whether the server still answers. If so, the statement may take any time."""

    def __init__(self, connection: "psycopg.Connection[Any]", ask: Callable[[], None]) -> None:
        """Watch `connection`. `ask` opens another connection and uses it; an error from PostgreSQL also counts as an answer."""
        super().__init__(name="watchdog", daemon=True)
        self._connection, self._probe = connection, Probe(ask, _ANSWER_S)
        self._ended = threading.Event()

    def run(self) -> None:
        """Watch until the connection is closed."""
        failures = 0
        while not self._ended.wait(_PERIOD_S) and not self._connection.closed:
            if self._connection.info.transaction_status is not TransactionStatus.ACTIVE or self._answers():
                failures = 0
                continue
            failures += 1
            if failures >= _TRIES and self._connection.info.transaction_status is TransactionStatus.ACTIVE:
                _log.error("PostgreSQL has not answered for %g s; its connection is ended", _TRIES * _PERIOD_S)
                _end(self._connection)

    def stop(self) -> None:
        """Stop watching."""
        self._ended.set()

    def _answers(self) -> bool:
        try:
            self._probe.answer()
        except (StoreUnreachableError, psycopg.errors.ConnectionTimeout):
            return False
        except psycopg.Error:
            return True
        return True


def _end(connection: "psycopg.Connection[Any]") -> None:
    """Shut down both directions of a connection's socket. The thread that waits on the socket then gets an error, and still has to close
    the socket.
    """
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.pgconn.socket)) as shared:
        shared.shutdown(socket.SHUT_RDWR)
