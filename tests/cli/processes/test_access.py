"""A server that asks for keys: real processes, the stock OpenLineage client, our own commands, and a revocation while it runs."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.ports import free_port

from lineage_bridge.config import DataFolder
from lineage_bridge.eventlog.reader import LogReader

COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main")
EMIT = Path(__file__).parents[2] / "producers" / "emit.py"
BARE = {name: value for name, value in os.environ.items() if not name.startswith(("LINEAGE_BRIDGE_", "OPENLINEAGE"))}


def command(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A finished command."""
    line = [*COMMAND, *arguments]
    return subprocess.run(line, cwd=folder, env={**BARE, **environment}, capture_output=True, text=True, check=False)


def created(folder: Path, name: str, *options: str) -> str:
    """The text of a new key."""
    done = command(folder, "key", "create", name, *options, "--data-dir", str(folder / "data"))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address of an API process."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    line = [*COMMAND, "api", "--data-dir", str(folder / "data"), "--port", str(port), *options]
    process = subprocess.Popen(line, env=BARE, cwd=folder)
    try:
        while not is_served(url):
            assert process.poll() is None
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        code = process.wait()
    assert code == 0


def is_served(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/health", trust_env=False, verify=False).is_success
    except httpx.TransportError:
        return False


def emitted(folder: Path, url: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """What the stock client did when it was told by its environment where to send, and with which key."""
    environment = {**BARE, "OPENLINEAGE_URL": url, **variables}
    return subprocess.run([sys.executable, str(EMIT), "keyed"], env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_a_server_beyond_this_machine_does_not_start_without_a_key(tmp_path: Path) -> None:
    for options in (("--host", "0.0.0.0"), ("--auth", "required"), ("--host", "0.0.0.0", "--insecure-open", "--auth", "required")):
        done = command(tmp_path, "api", "--data-dir", str(tmp_path / "data"), "--port", str(free_port()), *options)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "insecure" in done.stderr


def test_the_stock_client_and_our_commands_send_keys(tmp_path: Path) -> None:
    key, reader = created(tmp_path, "etl", "--scope", "ingest"), created(tmp_path, "ada", "--scope", "read")
    data = DataFolder(tmp_path / "data")
    with serving(tmp_path, "--host", "0.0.0.0") as url:
        assert emitted(tmp_path, url).returncode != 0
        done = emitted(tmp_path, url, OPENLINEAGE_API_KEY=key)
        assert (done.returncode, done.stderr) == (0, "")
        form = {"OPENLINEAGE__TRANSPORT__TYPE": "http", "OPENLINEAGE__TRANSPORT__URL": url, "OPENLINEAGE__TRANSPORT__AUTH__TYPE": "api_key"}
        done = emitted(tmp_path, url, **form, OPENLINEAGE__TRANSPORT__AUTH__APIKEY=key)
        assert (done.returncode, done.stderr) == (0, "")
        records = [record for _, record in LogReader(data.log).read(0, LogReader(data.log).durable_end())]
        assert len(records) > 2
        assert {record.principal for record in records} == {"etl"}

        assert stat.S_IMODE(data.internal_key.stat().st_mode) == 0o600
        internal = {"Authorization": f"Bearer {data.internal_key.read_text().strip()}"}
        assert httpx.get(f"{url}/api/v1/sources", headers=internal, trust_env=False).is_success

        (tmp_path / "ada.key").write_text(reader + "\n")
        sources = ("source", "list", "--url", url)
        assert command(tmp_path, *sources, LINEAGE_BRIDGE_API_KEY=reader).returncode == 0
        assert command(tmp_path, *sources, "--api-key-file", "ada.key").returncode == 0
        refused = command(tmp_path, *sources)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "LINEAGE_BRIDGE_API_KEY" in refused.stderr
        assert "'read'" in command(tmp_path, *sources, LINEAGE_BRIDGE_API_KEY=key).stderr

        assert command(tmp_path, "key", "revoke", "etl", "--data-dir", str(data.data_dir)).returncode == 0
        assert emitted(tmp_path, url, OPENLINEAGE_API_KEY=key).returncode != 0
    (etl,) = listed(tmp_path, "etl")
    assert etl["last_used_at"] > etl["created_at"]


def listed(folder: Path, name: str) -> list[dict[str, Any]]:
    """The keys of a name."""
    return [
        key
        for key in json.loads(command(folder, "key", "list", "--json", "--data-dir", str(folder / "data")).stdout)
        if key["name"] == name
    ]


def test_an_open_server_says_so_in_every_answer(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", "--insecure-open") as url:
        for path in ("/api/v1/version", "/api/v1/nowhere", "/docs"):
            assert httpx.get(url + path, trust_env=False).headers["x-lineage-insecure"] == "anyone may use this server"
