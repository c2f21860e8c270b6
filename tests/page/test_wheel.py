"""The installed wheel shows the page, where there is no Node."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.page.conftest import ROOT
from tests.ports import HOST, free_port
from tests.servers.process import listens, running


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, built: None) -> Path:  # noqa: ARG001 - the page is built before
    """An environment of its own with the wheel, which finds what it depends on in this one."""
    wheels, home = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    settings = wheels / "extra.cfg"
    settings.write_text(f"[build]\nbuild_base = {wheels / 'build'}\n[egg_info]\negg_base = {wheels}\n")
    environment = {**os.environ, "DIST_EXTRA_CONFIG": os.fspath(settings)}
    command = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", os.fspath(wheels), os.fspath(ROOT)]
    subprocess.run(command, check=True, env=environment)
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/*/site-packages")
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "--python", home / "bin" / "python", "install", "--no-deps", "--no-compile", wheel], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return home


@pytest.fixture
def client(installed: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    port = free_port()
    program: list[str | Path] = [installed / "bin" / "python", "-I", "-m", "lineage_bridge.cli.main"]
    command = [*program, "api", "--port", str(port), "--data-dir", tmp_path / "data"]
    with running("api", command, tmp_path, environment={"PATH": os.fspath(installed / "bin")}) as process:
        process.wait_until(lambda: listens(port))
        with httpx.Client(base_url=f"http://{HOST}:{port}", timeout=60) as client:
            yield client


def test_the_wheel_has_the_page(installed: Path) -> None:
    program = "import lineage_bridge, json; print(json.dumps(lineage_bridge.__path__[0]))"
    done = subprocess.run([installed / "bin" / "python", "-I", "-c", program], capture_output=True, text=True, check=True)
    package = Path(json.loads(done.stdout))
    assert package.is_relative_to(installed)
    assert sorted(path.suffix for path in (package / "api" / "web" / "static").iterdir() if path.is_file() and path.suffix) == [".html"]


def test_it_shows_the_page_without_node(client: httpx.Client) -> None:
    shell = client.get("/view/lineage")
    assert '<div id="page">' in shell.text
    script = shell.text.split('src="./')[1].split('"')[0]
    assert client.get(f"/{script}").headers["cache-control"].endswith("immutable")
