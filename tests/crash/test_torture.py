"""The first rounds of `make torture`: each fault once."""

import random
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.crash.faults import FAULTS, dealt
from tests.crash.running.support import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.servers]


def test_nothing_is_lost_or_doubled_whatever_breaks(report: Callable[[str], None]) -> None:
    rounds = len(dealt(random.Random(16)))
    command = [sys.executable, "-m", "tests.crash.torture", "--rounds", str(rounds), "--seed", "16", "--exports", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as torture:
        assert torture.stdout is not None
        lines = [line.rstrip() for line in torture.stdout]
    for line in lines:
        report(line)
    assert torture.returncode == 0, "\n".join(lines[-60:])
    done = [line for line in lines if line.startswith("round ")]
    assert len(done) == rounds
    assert {fault for line in done for fault in line.split("): ")[1].split(": ")[0].split(", ")} == FAULTS.keys()
