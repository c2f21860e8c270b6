"""Object stores: moto's server of Amazon S3, an emulator of Google Cloud Storage, and Azurite for Azure Blob Storage."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs

from tests.ports import HOST, free_port
from tests.servers import archives
from tests.servers.process import answers, listens, running

AZURITE = Path(__file__).with_name("azurite")
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account that Azurite documents for everyone."""


@dataclass(frozen=True)
class ObjectStore:
    """A running object store: `kind` of inputs that read it, `settings` of one, and a client of its own to write with."""

    kind: str
    url: str
    settings: dict[str, Any]
    client: Any
    bucket_setting: str = "bucket"

    def create(self, bucket: str) -> dict[str, Any]:
        """Create a bucket; the settings of an input that reads it."""
        self.client.create_dir(bucket)
        return {**self.settings, self.bucket_setting: bucket}

    def write(self, bucket: str, path: str, data: bytes) -> None:
        """Write an object as a whole."""
        with self.client.open_output_stream(f"{bucket}/{path}", compression=None) as stream:
            stream.write(data)

    def delete(self, bucket: str, path: str) -> None:
        """Delete an object."""
        self.client.delete_file(f"{bucket}/{path}")


def _packages() -> dict[str, str]:
    """The environment of programs from the wheels in `requirements/object-stores.txt`."""
    return {"PYTHONPATH": str(archives.installed("object-stores"))}


@contextmanager
def s3(folder: Path) -> Iterator[ObjectStore]:
    """Amazon S3, by moto. Any keys will do."""
    port = free_port()
    url = f"http://{HOST}:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    with running("moto", command, folder, environment=_packages()) as process:
        process.wait_until(lambda: answers(f"{url}/moto-api/data.json"))
        keys = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "none"}
        client = fs.S3FileSystem(endpoint_override=f"{HOST}:{port}", scheme="http", region="eu-west-1", allow_bucket_creation=True, **keys)
        settings = {"endpoint_url": url, "region": "eu-west-1", "access_key_id": keys["access_key"], "secret_access_key": "${env:S3_KEY}"}
        yield ObjectStore("s3", url, settings, client)


@contextmanager
def gcs(folder: Path) -> Iterator[ObjectStore]:
    """Google Cloud Storage, by gcp-storage-emulator."""
    port = free_port()
    url = f"http://{HOST}:{port}"
    program = f"from gcp_storage_emulator.__main__ import main; main(['start', '--host={HOST}', '--port={port}', '--in-memory'])"
    with running("gcs", [sys.executable, "-c", program], folder, environment=_packages()) as process:
        process.wait_until(lambda: listens(port))
        client = fs.GcsFileSystem(anonymous=True, endpoint_override=f"{HOST}:{port}", scheme="http", project_id="test")
        yield ObjectStore("gcs", url, {"endpoint_url": url, "anonymous": True}, client)


def _install(home: Path) -> None:
    assert shutil.which("npm"), "Azurite needs Node 20 or newer, with npm"
    home.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(AZURITE / name, home)
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "ci", *options], cwd=home, check=True)


def azurite() -> Path:
    """The folder of Azurite's packages. Raises CalledProcessError when npm cannot install them, after npm has printed the reason."""
    return archives.made("azurite", [AZURITE / "package-lock.json"], _install)


@contextmanager
def azure(folder: Path) -> Iterator[ObjectStore]:
    """Azure Blob Storage, by Azurite."""
    port = free_port()
    program = azurite() / "node_modules/azurite/dist/src/blob/main.js"
    command: list[str | Path] = [
        "node",
        program,
        "--blobHost",
        HOST,
        "--blobPort",
        str(port),
        "--inMemoryPersistence",
        "--skipApiVersionCheck",
    ]
    command += ["--disableTelemetry"]
    with running("azurite", command, folder) as process:
        process.wait_until(lambda: listens(port))
        place = f"{HOST}:{port}"
        authorities = {"blob_storage_authority": place, "dfs_storage_authority": place}
        schemes = {"blob_storage_scheme": "http", "dfs_storage_scheme": "http"}
        client = fs.AzureFileSystem(account_name=AZURE_ACCOUNT, account_key=AZURE_KEY, **authorities, **schemes)
        settings = {"endpoint_url": f"http://{place}", "account": AZURE_ACCOUNT, "account_key": "${env:AZURE_KEY}"}
        yield ObjectStore("azure", f"http://{place}", settings, client, "container")
