"""A real server whose graph is deleted while it runs, and is garbage when it starts: the same graph comes back, and intake goes on.

At the end all of its processes are asked to stop at once.
"""

import time
from contextlib import suppress
from pathlib import Path

import psutil
from tests.crash.damage import event
from tests.serving import Served, serving

COUNT = 30


def edges(served: Served) -> list[str]:
    return sorted(str(line) for line in served.export("flow"))


def test_a_lost_graph_is_computed_again_while_events_come_in(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        for number in range(COUNT):
            served.client.post("/api/v1/lineage", event(number))
        before = edges(served)
        assert before
        for name in ("graph.db", "graph.db-wal", "graph.db-shm"):
            served.paths.graph.with_name(name).unlink(missing_ok=True)
        deadline = time.monotonic() + 400
        while not served.client.answers("/api/v1/ready") or not served.paths.graph.exists():
            served.client.post("/api/v1/lineage", event(0))
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert edges(served) == before
    served.paths.graph.write_bytes(b"garbage" * 10_000)
    with serving(tmp_path) as served:
        assert edges(served) == before
        assert served.paths.graph.with_name("graph.db.damaged").read_bytes() == b"garbage" * 10_000
        assert "is damaged; it was renamed" in (tmp_path / "output").read_text()
        stop_all_at_once(tmp_path)
    assert "Traceback" not in (tmp_path / "output").read_text()


def stop_all_at_once(folder: Path) -> None:
    """Ask the server and all its processes, Spark's too, to stop in the same moment, as a service manager may."""
    (server,) = (child for child in psutil.Process().children() if {"serve", str(folder)} <= {*child.cmdline()})
    for process in (*server.children(recursive=True), server):
        with suppress(psutil.NoSuchProcess):
            process.terminate()
