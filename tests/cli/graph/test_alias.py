"""Aliases on the command line."""

import json

import pytest
from tests.cli.conftest import Server
from tests.events import dataset, run_event


@pytest.fixture
def loaded(call, server: Server, tmp_path):
    path = tmp_path / "event.json"
    path.write_bytes(run_event(job="of aliases", inputs=[dataset("t", "alias://one")], outputs=[dataset("t", "alias://two")]))
    assert call("send", path, "--url", server.url).code == 0
    server.fold()
    return server


def test_an_alias_is_added_vetoed_lifted_and_listed(call, loaded: Server):
    for command, state in (("add", "active"), ("veto", "vetoed"), ("lift", "active")):
        done = call("alias", command, "alias://one", "alias://two", "--evidence", "seen to be one", "--url", loaded.url)
        assert (done.code, done.err) == (0, ""), done.err
        loaded.fold()
        listed = call("alias", "list", "--kind", "operator", "--namespace", "alias://one", "--url", loaded.url)
        assert f"{state}" in listed.out
        assert "alias://one * " in listed.out
        assert "operator seen to be one" in listed.out
    listed = call("alias", "list", "--namespace", "alias://one", "--json", "--url", loaded.url)
    assert json.loads(listed.out)["aliases"][0]["standing"]


def test_a_file_is_loaded(call, loaded: Server, tmp_path):
    path = tmp_path / "aliases.ndjson"
    lines = [
        {"a": {"namespace": "alias://one", "name": "t"}, "b": {"namespace": "alias://file", "name": "t"}, "evidence": "a file"},
        {"operation": "veto", "kind": "rule", "evidence": "path-epoch"},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    done = call("alias", "load", path, "--url", loaded.url)
    assert done.out.splitlines() == ["1 alias added", "1 alias vetoed"]
    loaded.fold()
    assert "alias://file t" in call("alias", "list", "--namespace", "alias://file", "--url", loaded.url).out
    assert "rule path-epoch" in call("alias", "list", "--kind", "veto", "--url", loaded.url).out


def test_invalid_aliases_are_refused(call, loaded: Server, tmp_path):
    assert call("alias", "add", "alone", "--url", loaded.url).code == 2
    assert call("alias", "add", "same", "same", "--url", loaded.url).code != 0
    path = tmp_path / "bad.ndjson"
    path.write_text('{"operation": "join"}\n')
    bad = call("alias", "load", path, "--url", loaded.url)
    assert (bad.code, "line 1" in bad.err) == (2, True)


def test_names_that_nothing_has_are_warned_of(call, loaded: Server):
    done = call("alias", "prefer", "alias://one", "tt", "--url", loaded.url)
    assert (done.code, done.out) == (0, "1 name chosen\n")
    assert "no dataset is called 'alias://one tt' yet" in done.err
    done = call("alias", "add", "alias://one", "alias://later", "--url", loaded.url)
    assert done.out == "1 alias added\n"
    assert "no dataset is in the namespace 'alias://later' yet" in done.err
    assert call("alias", "prefer", "alias://two", "t", "--url", loaded.url).err == ""
