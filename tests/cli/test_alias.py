"""Aliases on the command line."""

import json

import pytest
from tests.cli.conftest import Server
from tests.events import dataset, run_event


@pytest.fixture
def told(call, server: Server, tmp_path):
    path = tmp_path / "event.json"
    path.write_bytes(run_event(job="of aliases", inputs=[dataset("t", "alias://one")], outputs=[dataset("t", "alias://two")]))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    return server


def test_an_alias_is_added_vetoed_lifted_and_listed(call, told: Server):
    for command, state in (("add", "stands"), ("veto", "vetoed"), ("lift", "stands")):
        done = call("alias", command, "alias://one", "alias://two", "--evidence", "seen to be one", "--url", told.url)
        assert (done.code, done.err) == (0, ""), done.err
        told.fold()
        listed = call("alias", "list", "--kind", "operator", "--namespace", "alias://one", "--url", told.url)
        assert f"{state}" in listed.out
        assert "alias://one * " in listed.out
        assert "operator seen to be one" in listed.out
    assert json.loads(call("alias", "list", "--namespace", "alias://one", "--json", "--url", told.url).out)["aliases"][0]["standing"]


def test_a_file_is_loaded(call, told: Server, tmp_path):
    path = tmp_path / "aliases.ndjson"
    lines = [
        {"a": {"namespace": "alias://one", "name": "t"}, "b": {"namespace": "alias://file", "name": "t"}, "evidence": "a file"},
        {"operation": "veto", "kind": "rule", "evidence": "path-epoch"},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    done = call("alias", "load", path, "--url", told.url)
    assert done.out.splitlines() == ["1 alias stated", "1 alias vetoed"]
    told.fold()
    assert "alias://file t" in call("alias", "list", "--namespace", "alias://file", "--url", told.url).out
    assert "rule path-epoch" in call("alias", "list", "--kind", "veto", "--url", told.url).out


def test_what_means_nothing_is_told(call, told: Server, tmp_path):
    assert call("alias", "add", "alone", "--url", told.url).code == 2
    assert call("alias", "add", "same", "same", "--url", told.url).code != 0
    path = tmp_path / "bad.ndjson"
    path.write_text('{"operation": "join"}\n')
    bad = call("alias", "load", path, "--url", told.url)
    assert (bad.code, "line 1" in bad.err) == (2, True)
