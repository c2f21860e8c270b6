"""Help and wrong usage."""

import subprocess
import sys
from pathlib import Path

import pytest

from lineage_bridge.cli.main import COMMANDS

GROUPS = {
    "log": ("check", "repair", "restore"),
    "alias": ("list", "add", "veto", "lift", "prefer", "withdraw", "load"),
    "quarantine": ("list", "show", "retry"),
    "demo": ("load", "remove"),
    "task": ("list", "show", "cancel", "resume"),
    "key": ("create", "list", "revoke", "rotate"),
    "audit": ("list", "head", "verify", "export", "erase"),
    "erase": ("person", "run", "dataset", "namespace", "resume", "list", "show"),
    "pin": ("add", "list", "remove"),
    "secret": ("key", "set", "list", "remove", "rotate"),
}
LINES = [(name,) for name in COMMANDS] + [(group, name) for group, names in GROUPS.items() for name in names]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_every_command_has_help_with_an_example(call, line):
    result = call(*line, "--help")
    assert result.code == 0
    assert f"lineage-bridge {line[0]}" in result.out.split("Examples:")[1]
    assert all(len(text) <= 100 for text in result.out.splitlines())


def test_the_help_lists_every_command_with_a_whole_sentence(call):
    result = call("--help")
    assert result.code == 0
    for name in COMMANDS:
        (line,) = (line for line in result.out.split("Commands:")[1].splitlines() if line.split()[:1] == [name])
        assert line.endswith("."), line
        assert not line.endswith("..."), line


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (("lineag", "x"), "lineag"),
        (("lineage",), "NAME"),
        (("lineage", "a", "b", "c"), "namespace"),
        (("lineage", "a", "--depth", "x"), "--depth"),
        (("lineage", "a", "--dept", "1"), "--depth"),
        (("serve", "--prot", "1"), "--port"),
        (("serve", "--port", "x"), "--port"),
        (("serve", "--host", "example.org"), "--host"),
        (("send",), "FILES"),
        (("quarantine", "retry"), "--all"),
        (("export", "--only", "things"), "things"),
        (("export", "--as-of", "yesterday"), "yesterday"),
        (("status", "--config", "no.toml"), "no.toml"),
    ],
    ids=str,
)
def test_wrong_usage_is_one_line_with_exit_code_2(call, line, named):
    result = call(*line)
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert named in result.err


def test_an_unknown_environment_variable_is_an_error(call, monkeypatch):
    monkeypatch.setenv("LINEAGE_BRIDGE_PROT", "1")
    result = call("status")
    assert result.code == 2
    assert "LINEAGE_BRIDGE_PROT in the environment" in result.err


@pytest.mark.parametrize("line", [("status",), ("search", "x"), ("lineage", "x"), ("runs", "x"), ("quarantine", "list")], ids=str)
def test_without_a_server_the_error_says_how_to_start_one(call, line):
    result = call(*line, "--url", "http://127.0.0.1:9")
    assert result.code == 1
    assert "http://127.0.0.1:9" in result.err
    assert "lineage-bridge serve" in result.err


def test_export_and_verify_need_a_store(call, tmp_path):
    for command in ("export", "verify"):
        result = call(command, "--data-dir", tmp_path / "none")
        assert (result.code, result.out) == (1, "")
        assert "no graph store" in result.err


def test_version(call):
    assert call("version").out.startswith("lineage-bridge ")


def test_the_command_line_loads_neither_spark_nor_a_web_server():
    code = (
        "import sys; from lineage_bridge.cli.main import run; run(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('pyspark', 'fastapi', 'uvicorn', 'alembic')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_a_closed_pipe_prints_no_error():
    line = f"{sys.executable} -m lineage_bridge.cli.main --help | head -c 1"
    done = subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("U", "")


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_every_command_is_documented(line):
    if line[0] in GROUPS and len(line) == 1:
        return
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    assert f"\nlineage-bridge {' '.join(line)}" in text or f"| lineage-bridge {' '.join(line)}" in text
