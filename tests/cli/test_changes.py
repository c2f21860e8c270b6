"""The change feed on the command line."""

import json
import re

from tests.cli.conftest import Server
from tests.events import dataset, run_event

from lineage_bridge.cli.changes import describe


def test_changes_are_printed_with_the_cursor_to_go_on_with(call, server: Server, tmp_path):
    path = tmp_path / "event.json"
    path.write_bytes(run_event(job="of changes", inputs=[dataset("before", "changes")], outputs=[dataset("after", "changes")]))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    said = call("changes", "--url", server.url, "--kind", "flow", "--kind", "port")
    assert "+ flow changes before -> changes after by jobs of changes (observed, co-occurrence)" in said.out
    assert "+ port jobs of changes writes changes after (observed)" in said.out
    (cursor,) = re.findall(r"go on with --after (\S+)", said.err)
    assert call("changes", "--url", server.url, "--after", cursor).out == ""
    lines = call("changes", "--url", server.url, "--json", "--limit", "1").out.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1]
    gone = call("changes", "--url", server.url, "--after", "gone.1")
    assert gone.code == 1
    assert "after=now" in gone.err


def test_every_kind_of_change_is_a_line():
    node = {"id": "00", "kind": "dataset", "namespace": "ns", "name": "a"}
    assert describe({"change": "removed", "kind": "node", "node": {"id": "00ff"}}) == "- node 00ff"
    assert describe({"change": "changed", "kind": "facet", "node": node, "facet": "schema"}) == "~ facet dataset ns a schema"
    assert describe({"change": "added", "kind": "identity", "node": node, "other": node, "link": "TABLE"}) == "+ identity ns a = ns a TABLE"
    assert describe({"change": "added", "kind": "hub", "hub": "07", "job": node, "origin": "observed"}) == "+ hub 07 by ns a (observed)"
