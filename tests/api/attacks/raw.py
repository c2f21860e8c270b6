"""Connections on which a client says what it wants."""

import re
import socket
from contextlib import suppress

from tests.api.attacks.conftest import Attacked


def connected(attacked: Attacked, sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
    """A connection from an address of this machine, on which something was sent."""
    connection = socket.create_connection(("127.0.0.1", attacked.port), timeout=60, source_address=(source, 0))
    if sent:
        connection.sendall(sent)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """All that the server still says on a connection."""
    received = bytearray()
    with suppress(ConnectionError), connection:
        while piece := connection.recv(65_536):
            received += piece
    return bytes(received)


def answered(attacked: Attacked, sent: bytes) -> tuple[list[int], str]:
    """The statuses of all answers on a connection, and the code of the last error."""
    connection = connected(attacked)
    with suppress(ConnectionError):
        connection.sendall(sent)
    text = until_closed(connection)
    codes = re.findall(rb'"code":"(\w+)"', text)
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", text)], codes[-1].decode() if codes else ""
