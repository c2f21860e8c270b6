"""Tests that share a server run in one worker, so that it is started once a run; it ends when they have run."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests import distribution
from tests.serving import bare_environment

ROOT = Path(__file__).parents[3]
STAND_IN = """
import pytest
@pytest.fixture(scope="session")
def registry():
    print("starts")
    yield
    print("ends")
"""


@pytest.mark.usefixtures("registry")
def test_the_worker_that_runs_a_test_was_given_its_group(request: pytest.FixtureRequest) -> None:
    assert distribution.GROUPS["registry"] in [mark.args[0] for mark in request.node.iter_markers("xdist_group")]
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith(f"@{distribution.GROUPS['registry']}"), "xdist has not read the mark"
    else:
        assert "@" not in request.node.nodeid, "a run without workers has no groups"


def test_a_server_ends_before_tests_that_do_not_ask_for_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(STAND_IN)
    (tmp_path / "test_1.py").write_text("def test_1(registry): print('first')\ndef test_2(registry): print('second')\n")
    (tmp_path / "test_2.py").write_text("def test_3(): print('third')\n")
    (tmp_path / "test_3.py").write_text("def test_4(registry): print('fourth')\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-s", "-q", "--rootdir", str(tmp_path)]
    done = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False, env=bare_environment())
    assert done.returncode == 0, done.stdout
    lines = [line.lstrip(".") for line in done.stdout.splitlines()]
    ran = [line for line in lines if line in ("starts", "ends", "first", "second", "third", "fourth")]
    assert ran == ["starts", "first", "second", "ends", "third", "starts", "fourth", "ends"]


def test_what_takes_longest_comes_first(request: pytest.FixtureRequest) -> None:
    items = list(request.session.items)
    distribution.longest_first(items)
    seconds = [distribution.SECONDS.get(item.nodeid.partition("::")[0], 0) for item in items if not distribution.group_of(item)]
    assert seconds == sorted(seconds, reverse=True)


def test_the_files_that_take_longest_are_there() -> None:
    assert [name for name in distribution.SECONDS if not (ROOT / name).is_file()] == []
