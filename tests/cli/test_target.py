"""Targets on the command line: a real API, which starts the process that publishes."""

import json

from tests.cli.conftest import Server
from tests.events import dataset, run_event

from lineage_bridge.cli.client import Client


def test_a_target_from_its_beginning_to_its_end(call, server: Server) -> None:
    with Client(server.url) as client:
        client.post_events(run_event(job="to-publish", inputs=[dataset("p")], outputs=[dataset("q")]), "application/json")
    server.fold()
    url = ("--url", server.url)
    assert "no targets" in call("target", "list", *url).err
    added = call("target", "add", "out", "files", "file=cli/out.ndjson", "events=jobs", "exclude_namespaces=[]", *url)
    assert (added.code, added.err) == (0, "")
    assert call("target", "test", "out", *url).code == 0
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
