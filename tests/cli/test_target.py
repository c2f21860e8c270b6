"""Targets on the command line: a real API, which starts the process that publishes."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.cli.conftest import COMMAND, Server
from tests.events import dataset, run_event

from lineage_bridge.cli.client import Client


def test_a_target_from_its_beginning_to_its_end(call, server: Server) -> None:
    with Client(server.url) as client:
        for job in ("to-publish", "published-too"):
            client.post_events(run_event(job=job, inputs=[dataset("p")], outputs=[dataset("q")]), "application/json")
    server.fold()
    url = ("--url", server.url)
    assert "no targets" in call("target", "list", *url).err
    added = call("target", "add", "out", "files", "file=cli/out.ndjson", "events=jobs", "exclude_namespaces=[]", *url)
    assert (added.code, added.err) == (0, "")
    assert call("target", "test", "out", *url).code == 0
    assert "nothing was published to out yet" in call("target", "ledger", "out", *url).err
    planned = call("publish", "out", "--plan", *url)
    assert planned.code == 0
    assert "to-publish" in planned.out
    assert "is new in the graph" in planned.out
    path = server.paths.published / "cli" / "out.ndjson"
    assert not path.exists()
    done = call("publish", "out", "--json", *url)
    report = json.loads(done.out)
    assert (done.code, report["state"], {*report["outcomes"]}) == (0, "done", {"done"})
    assert "to-publish" in {json.loads(line).get("job", {}).get("name") for line in path.read_bytes().splitlines()}
    again = call("publish", "out", *url)
    assert "nothing to do" in again.out
    shown = call("target", "show", "out", *url).out
    assert "file = cli/out.ndjson" in shown
    assert f"{report['desired']} published" in shown
    with Client(server.url) as client:
        page = client.get("/api/v1/targets/out/ledger", limit=1)
    assert page["objects"][0]["state"] == "published"
    whole = json.loads(call("target", "ledger", "out", "--json", *url).out)
    assert len(whole["objects"]) == report["desired"] > 1
    assert "next" not in whole
    assert whole["objects"][0] == page["objects"][0]
    first = call("target", "ledger", "out", "--limit", "1", *url)
    assert page["objects"][0]["name"] in first.out
    assert "a higher --limit" in first.err
    assert json.loads(call("target", "ledger", "out", "--limit", "1", "--json", *url).out) == page
    everything = call("target", "ledger", "out", *url)
    assert "to-publish" in everything.out
    assert everything.err == ""
    assert call("target", "pause", "out", *url).out == "out is paused\n"
    refused = call("publish", "out", *url)
    assert refused.code != 0
    assert "is paused" in refused.err
    assert call("target", "resume", "out", *url).out == "out is resumed\n"
    assert "is removed" in call("target", "remove", "out", *url).out
    assert path.exists()


def test_kinds_and_wrong_settings_are_told(call, server: Server) -> None:
    url = ("--url", server.url)
    for kind in ("datahub", "files", "kafka", "marquez", "openlineage", "openmetadata"):
        assert kind in call("target", "kinds", *url).out
        assert "max_bytes" in call("target", "kinds", kind, *url).out
        assert "interval_s" not in call("target", "kinds", kind, *url).out
    wrong = call("target", "add", "bad", "openlineage", "url=ftp://x", *url)
    assert wrong.code == 2
    assert "setting url" in wrong.err
    assert "no setting interval_s" in call("target", "add", "bad", "files", "interval_s=5", *url).err
    secret = call("target", "add", "bad", "openlineage", "url=http://x", "token=plain", *url)
    assert "must be a reference" in secret.err
    assert "plain" not in secret.err
    metadata = call("target", "add", "bad", "openlineage", "url=http://169.254.169.254", *url)
    assert "metadata" in metadata.err
    assert "there is no target x" in call("publish", "x", *url).err


class SlowCatalog:
    """Takes events; from the third on it lets each wait until `hurries` is set, but not for long."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.is_slow, self.hurries = threading.Event(), threading.Event()

    def take(self, body: bytes) -> None:
        self.taken.append(body)
        if len(self.taken) > 2:
            self.is_slow.set()
            self.hurries.wait(0.5)


@contextmanager
def slow_catalog() -> Iterator[tuple[SlowCatalog, str]]:
    """A slow catalog, and where it listens."""
    catalog = SlowCatalog()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            catalog.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        yield catalog, f"http://127.0.0.1:{web.server_address[1]}"
        web.shutdown()
        thread.join()


def test_a_publication_is_cancelled_and_what_was_published_is_known(call, server: Server) -> None:
    with Client(server.url) as client, slow_catalog() as (catalog, address):
        for number in range(30):
            client.post_events(run_event(job=f"cancelled{number}", outputs=[dataset("p")]), "application/json")
        server.fold()
        url = ("--url", server.url)
        assert call("target", "add", "slow", "openlineage", f"url={address}", "at_once=1", "tries=1", *url).code == 0
        process = subprocess.Popen([*COMMAND, "publish", "slow", *url], stderr=subprocess.PIPE, text=True)
        assert catalog.is_slow.wait(60)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=60)
        assert (process.returncode, "cancelled" in printed) == (130, True)
        report = client.get("/api/v1/targets/slow/publication")
        assert (report["state"], report["code"]) == ("cancelled", "stopped")
        states = [item["state"] for item in client.get("/api/v1/targets/slow/ledger", limit=1000)["objects"]]
        assert 3 <= states.count("published") == report["outcomes"]["done"] == len(catalog.taken) < 30
        assert "no publication to target slow is running" in call("target", "cancel", "slow", *url).err
        catalog.hurries.set()
        again = json.loads(call("publish", "slow", "--json", *url).out)
        assert (again["state"], again["unchanged"]) == ("done", states.count("published"))
        assert call("target", "remove", "slow", *url).code == 0
