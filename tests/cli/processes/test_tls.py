"""`api` with TLS: commands trust it by its authority, its own machine's programs by its certificate, and a renewed one is shown."""

import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from tests.cli.conftest import COMMAND
from tests.events import run_event
from tests.ports import free_port
from tests.serving import bare_environment

from lineage_bridge.cli.client import connect
from lineage_bridge.config import Settings
from lineage_bridge.errors import UnavailableError

SOON_S = 120.0


def write(folder: Path, authority: trustme.CA) -> None:
    issued = authority.issue_cert("localhost")
    (folder / "key.pem").write_bytes(issued.private_key_pem.bytes())
    (folder / "chain.pem").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    found = trustme.CA()
    write(tmp_path, found)
    return found


@pytest.fixture
def port(tmp_path: Path, authority: trustme.CA) -> Iterator[int]:  # noqa: ARG001  # its files
    number, files = free_port(), ["--tls-cert-file", "chain.pem", "--tls-key-file", "key.pem"]
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "api", "--port", str(number), "--data-dir", "data", *files], stderr=output, env=bare_environment(), cwd=tmp_path
        )
    own = Settings(port=number, tls_cert_file=str(tmp_path / "chain.pem"))
    with connect(own) as client:
        until(lambda: client.answers("/api/v1/health"), "an answer")
    yield number
    process.terminate()
    assert process.wait(SOON_S) == 0


def test_events_come_over_tls_and_a_renewed_certificate_is_shown(tmp_path: Path, authority: trustme.CA, port: int) -> None:
    named = Settings(url=f"https://localhost:{port}", url_ca_file=str(tmp_path / "authority.pem"))
    with connect(named) as client:
        assert client.post("/api/v1/lineage", run_event())["status"] == "accepted"
    for stranger in (Settings(url=f"https://localhost:{port}"), Settings(url=f"https://127.0.0.1:{port}", url_ca_file=named.url_ca_file)):
        with connect(stranger) as client, pytest.raises(UnavailableError, match="certificate"):
            client.get("/api/v1/version")
    with connect(Settings(port=port)) as client, pytest.raises(UnavailableError):
        client.get("/api/v1/version")
    before = ssl.get_server_certificate(("127.0.0.1", port))
    write(tmp_path, authority)
    until(lambda: ssl.get_server_certificate(("127.0.0.1", port)) != before, "the renewed certificate")
    with connect(Settings(port=port, tls_cert_file=str(tmp_path / "chain.pem"))) as client:
        assert "version" in client.get("/api/v1/version")


def test_files_that_cannot_be_used_are_told_at_the_start(call, tmp_path: Path) -> None:
    for arguments in (("--tls-cert-file", tmp_path / "none.pem"), ("--tls-key-file", tmp_path / "none.pem")):
        found = call("serve", "--data-dir", tmp_path / "data", *arguments)
        assert (found.code, found.err.count("\n"), "tls_cert_file" in found.err) == (2, 1, True)
