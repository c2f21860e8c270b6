"""Encrypted secrets on the command line: they are read from standard input, and never printed."""

import io
import json
import sys
from pathlib import Path

import pytest

from lineage_bridge.cli.options import settings_from
from lineage_bridge.wiring.shared import source_context


@pytest.fixture
def ask(call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def asking(*arguments: str, typed: str = ""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return call("secret", *arguments, "--data-dir", tmp_path / "data")

    return asking


def test_a_secret_is_sealed_listed_used_and_removed(ask, tmp_path: Path):
    assert ask("key").code == 0
    done = ask("set", "confluent/cloud", typed="hunter2\n")
    assert (done.code, "${sealed:confluent/cloud}" in done.out) == (0, True)
    assert ask("list").out == "confluent/cloud\n"
    assert ask("rotate").code == 0
    settings = settings_from({"data_dir": tmp_path / "data"}, None)
    assert source_context(settings).secrets.sealed("confluent/cloud") == "hunter2"
    assert ask("remove", "confluent/cloud").code == 0
    assert ask("list").out == ""


def test_the_file_and_the_key_can_be_elsewhere(ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("LINEAGE_BRIDGE_SECRETS_FILE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("LINEAGE_BRIDGE_SECRETS_KEY", ask("key", "--print").out)
    assert ask("set", "a", typed="b").code == 0
    assert (tmp_path / "elsewhere").is_file()
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize(
    ("arguments", "typed", "expected"),
    [
        (("set", "a"), "b", "lineage-bridge secret key"),
        (("set", "{a}"), "b", "name"),
        (("set", "a"), "\n", "empty"),
        (("set", "a", "hunter2"), "", "hunter2"),
        (("remove", "a"), "", "no secret a"),
    ],
)
def test_invalid_requests_are_one_line_errors(ask, arguments: tuple[str, ...], typed: str, expected: str):
    done = ask(*arguments, typed=typed)
    assert done.code in (1, 2)
    assert expected in done.err
    assert done.err.count("\n") == 1


def test_a_wrong_key_changes_nothing(ask, tmp_path: Path):
    ask("key")
    ask("set", "a", typed="b")
    file, key = tmp_path / "data" / "secrets.sealed", tmp_path / "config" / "lineage-bridge" / "secrets.key"
    before = file.read_bytes()
    key.write_text(json.dumps("lost"))
    done = ask("set", "a", typed="c")
    assert (done.code, file.read_bytes()) == (2, before)
