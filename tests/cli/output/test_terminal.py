"""Output on terminals of 80 and 100 columns."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from tests.cli.conftest import COMMAND, Server
from tests.events import RUNS, dataset, run_event, schema
from tests.serving import bare_environment

from lineage_bridge.cli.client import Client

NAMESPACE, SOURCE, TARGET = (
    "postgres://warehouse-production.internal:5432",
    "analytics.public.customer_orders_raw",
    "analytics.marts.revenue",
)
COMMANDS = [
    ("status",),
    ("lineage", NAMESPACE, TARGET),
    ("lineage", NAMESPACE, SOURCE, "--direction", "downstream", "--columns"),
    ("impact", NAMESPACE, SOURCE),
    ("paths", NAMESPACE, SOURCE, NAMESPACE, TARGET),
    ("runs", "jobs", "wide-terminal-output"),
    ("search", "analytics"),
    ("changes", "--limit", "50"),
    ("schemas", NAMESPACE, SOURCE),
    ("source", "kinds"),
    ("source", "kinds", "confluent"),
]


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    source = dataset(SOURCE, NAMESPACE, schema=schema("id", "amount"))
    event = run_event("COMPLETE", run=RUNS[3], job="wide-terminal-output", inputs=[source], outputs=[dataset(TARGET, NAMESPACE)])
    with Client(server.url) as client:
        client.post_events(event, "application/json")
    server.fold()
    return server.url


def run_in_terminal(columns: int, *arguments: str) -> str:
    """What a command prints on a terminal, without colours."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in bare_environment().items() if name != "COLUMNS"} | {"TERM": "xterm"}
    process = subprocess.Popen([*COMMAND, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    output = b""
    while chunk := _read(controller):
        output += chunk
    os.close(controller)
    process.wait(60)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output.decode()).replace("\r\n", "\n")


def _read(controller: int) -> bytes:
    try:
        return os.read(controller, 65536)
    except OSError:  # the terminal is closed, and all of its output is read
        return b""


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_lines_fit_and_nothing_is_truncated(url: str, arguments: tuple[str, ...], columns: int) -> None:
    output = run_in_terminal(columns, *arguments, "--url", url)
    assert output.strip()
    assert "error:" not in output
    assert "…" not in output
    assert [line for line in output.splitlines() if len(line) > columns] == []
