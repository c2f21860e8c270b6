"""Enrichments on the command line: a real API, and a graph without tables of the catalog, so that no call is made to it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.conftest import Server
from tests.events import dataset, run_event

from lineage_bridge.cli.client import Client


@contextmanager
def folding(server: Server) -> Iterator[None]:
    """Fold what is appended, as the pipeline does."""
    ended = threading.Event()

    def fold() -> None:
        while not ended.wait(0.2):
            server.fold()

    thread = threading.Thread(target=fold)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_an_enrichment_from_its_order_to_its_end(call, server: Server) -> None:
    with Client(server.url) as client:
        client.post_events(run_event(job="to-enrich", outputs=[dataset("r")]), "application/json")
    server.fold()
    with folding(server):
        _enrich(call, ("--url", server.url))


def _enrich(call, url: tuple[str, str]) -> None:
    lake = ("target", "add", "lake", "glue", "region=us-east-1", "catalog_id=123456789012", *url)
    assert call(*lake).code == 0
    refused = call("enrich", "lake", *url)
    assert (refused.code != 0, "enrich=true" in refused.err) == (True, True)
    assert call(*lake, "enrich=true", "--replace").code == 0
    done = call("enrich", "lake", *url)
    assert (done.code, "completed: 0 events" in done.out) == (0, True), done
    task = json.loads(call("enrich", "lake", "--json", *url).out)
    assert (task["task_type"], task["target"], task["planes"][0]["state"]) == ("enrich", "lake", "observed")
    assert "target lake" in call("task", "list", *url).out
    assert call("target", "remove", "lake", *url).code == 0
    assert "there is no target" in call("enrich", "lake", *url).err
    removed = call("enrich", "lake", "--remove", *url)
    assert (removed.code, "completed: 0 events" in removed.out) == (0, True)
