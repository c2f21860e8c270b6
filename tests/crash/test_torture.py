"""Twelve rounds of `make torture`: each fault once."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.crash.running.support import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.servers]


def test_nothing_is_lost_or_doubled_whatever_breaks(report: Callable[[str], None]) -> None:
    command = [sys.executable, "-m", "tests.crash.torture", "--rounds", "12", "--seed", "16", "--exports", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as torture:
        assert torture.stdout is not None
        lines = [line.rstrip() for line in torture.stdout]
    for line in lines:
        report(line)
    assert torture.returncode == 0, "\n".join(lines[-60:])
    assert len([line for line in lines if line.startswith("round ")]) == 12
