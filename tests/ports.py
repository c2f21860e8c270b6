"""Ports of loopback for the servers of tests, each given to one test process of this user only.

A port that the system has just given and taken back may go to any other program before the server binds it, or while the server is
restarted. These are below the range that systems give out, and the lock on each lasts until the process that asked ends.
"""

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

HOST = "127.0.0.1"
RANGE = range(20_000, 30_000)
_held: list[IO[bytes]] = []


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, all different. Fails when there are no more."""
    found: list[int] = []
    for port in _candidates():
        if len(found) == count:
            return found
        if _is_free(port) and _is_ours(port):
            found.append(port)
    raise AssertionError(f"no free port from {RANGE.start} to {RANGE.stop}")


def free_port() -> int:
    """A port that nothing listens on."""
    return free_ports(1)[0]


def _candidates() -> Iterator[int]:
    """All ports; each process begins somewhere else, so that few meet."""
    first = os.getpid() * 61 % len(RANGE)
    yield from RANGE[first:]
    yield from RANGE[:first]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _is_ours(port: int) -> bool:
    """Whether the lock on a port could be had; it is held until this process ends."""
    folder = Path(tempfile.gettempdir()) / f"lineage-bridge-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / str(port)).open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    _held.append(file)
    return True
