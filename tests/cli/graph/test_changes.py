"""The change feed on the command line."""

import json
import re

import pytest
from tests.cli.conftest import Server
from tests.events import dataset, run_event

from lineage_bridge.cli.changes import describe_change

NODE = {"id": "00", "kind": "dataset", "namespace": "ns", "name": "a"}


def test_changes_are_printed_with_the_next_cursor(call, server: Server, tmp_path):
    path = tmp_path / "event.json"
    path.write_bytes(run_event(job="of changes", inputs=[dataset("before", "changes")], outputs=[dataset("after", "changes")]))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    result = call("changes", "--url", server.url, "--kind", "flow", "--kind", "port")
    assert "+ flow changes before -> changes after by jobs of changes (observed, co-occurrence)" in result.out
    assert "+ port jobs of changes writes changes after (observed)" in result.out
    (cursor,) = re.findall(r"continue with --after (\S+)", result.err)
    assert call("changes", "--url", server.url, "--after", cursor).out == ""
    lines = call("changes", "--url", server.url, "--json", "--limit", "1").out.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1]
    gone = call("changes", "--url", server.url, "--after", "gone.1")
    assert gone.code == 1
    assert "after=now" in gone.err


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"change": "removed", "kind": "node", "node": {"id": "00ff"}}, "- node 00ff"),
        ({"change": "changed", "kind": "facet", "node": NODE, "facet": "schema"}, "~ facet dataset ns a schema"),
        ({"change": "added", "kind": "identity", "node": NODE, "other": NODE, "link": "TABLE"}, "+ identity ns a = ns a TABLE"),
        ({"change": "added", "kind": "hub", "hub": "07", "job": NODE, "origin": "observed"}, "+ hub 07 by ns a (observed)"),
    ],
)
def test_every_kind_of_change_is_one_line(change, line):
    assert describe_change(change) == line
