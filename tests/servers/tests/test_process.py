"""No server outlives the run, however the run ends."""

import signal
import subprocess
import sys
import time

import psutil
import pytest
from tests.servers.process import running

IDLE = "import time; print('up', flush=True); time.sleep(600)"
PARENT = f"""
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
from tests.servers.process import running
with running("child", [sys.executable, "-c", {IDLE!r}], pathlib.Path(sys.argv[1])) as process:
    process.wait_until(lambda: process.log_tail() == "up")
    print(process.guard.pid, flush=True)
    time.sleep(600)
"""


def test_a_server_ends_with_its_context(tmp_path):
    with running("child", [sys.executable, "-c", IDLE], tmp_path) as process:
        process.wait_until(lambda: process.log_tail() == "up")
        family = psutil.Process(process.guard.pid).children()
        assert len(family) == 1
    assert not family[0].is_running()


def test_a_server_ends_when_the_run_is_killed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        guard = psutil.Process(int(parent.stdout.readline()))
        family = [guard, *guard.children()]
        assert len(family) == 2
        parent.send_signal(signal.SIGKILL)
    assert psutil.wait_procs(family, timeout=10)[1] == []


def test_a_server_that_ends_early_fails_with_its_log(tmp_path):
    began = time.monotonic()
    with (
        running("child", [sys.executable, "-c", "import sys; sys.exit('no such setting')"], tmp_path) as process,
        pytest.raises(AssertionError, match=r"child ended with 1:\nno such setting"),
    ):
        process.wait_until(lambda: False)
    assert time.monotonic() - began < 30
