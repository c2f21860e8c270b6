"""The command `enrich`, against a server whose catalogs are scripts."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.api.support import Server, running
from tests.cli.conftest import Outcome
from tests.events import KEY
from tests.sources import scripted
from tests.sources.scripted import Unseen

from lineage_bridge.errors import UnreachableError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.sources.runtime.kinds import MODULES, SourceKinds
from lineage_bridge.store.write.apply import GraphWriter

KINDS = SourceKinds({**MODULES, "glue": scripted.__name__})


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, str]]:
    """A server whose events are delivered and folded, and its address."""
    for of in ("SCRIPTS", "SEEN", "NOTICED"):
        monkeypatch.setattr(scripted, of, {})
    GraphWriter(tmp_path / "empty.db", Names(KEY)).close()
    with running(tmp_path / "server", tmp_path / "empty.db", KINDS) as server:
        app: Any = server.client.app
        web = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None))
        ending = threading.Event()

        def fold() -> None:
            while not ending.wait(0.1):
                for message in server.source_repository.pending_messages(100):
                    server.client.post(message.path, content=message.body)
                    server.source_repository.remove_message(message.number)
                    server.fold()

        threads = [threading.Thread(target=web.run), threading.Thread(target=fold)]
        for thread in threads:
            thread.start()
        while not web.started:
            assert threads[0].is_alive()
        yield server, f"http://127.0.0.1:{web.servers[0].sockets[0].getsockname()[1]}"
        web.should_exit = True
        ending.set()
        for thread in threads:
            thread.join()


def test_catalogs_are_read_and_followed_to_their_end(call: Callable[..., Outcome], served: tuple[Server, str]) -> None:
    server, url = served
    empty = call("enrich", "--url", url)
    assert (empty.code, "no source reads a catalog" in empty.err, "lineage-bridge source add" in empty.err) == (2, True, True)
    for name in ("lake", "warehouse"):
        scripted.SCRIPTS[name] = [((f"{name} job",), (), ())]
        server.sources.add(name, "glue", {"system": name}, replace=False)
    both = call("enrich", "--url", url)
    assert both.code == 0, both
    assert "catalog of source lake:\n" in both.out
    assert "catalog of source warehouse:\n" in both.out
    assert both.out.count("completed: 1 event; the graph has ") == 2
    scripted.SCRIPTS["lake"] = [((), (), (Unseen("database sales", "not allowed"),))]
    partly = call("enrich", "lake", "--json", "--url", url)
    (task,) = json.loads(partly.out)
    assert (partly.code, task["status"], task["source"], len(task["unknown"])) == (3, "completed", "lake", 1)
    assert server.client.get("/api/v1/audit").json()["changes"][0]["target"] == "lake"
    scripted.SCRIPTS["lake"] = [UnreachableError("no answer", "ring")]
    failed = call("enrich", "lake", "--url", url)
    assert (failed.code, "failed: no answer (ring)" in failed.out) == (1, True)
    unknown = call("enrich", "nowhere", "--url", url)
    assert (unknown.code, "there is no source or target nowhere (lineage-bridge source list and" in unknown.err) == (1, True)
