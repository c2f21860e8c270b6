"""The clock of the torture: processes of ours have it, from one moment to the next."""

import os
import subprocess
import sys
from pathlib import Path

from tests.crash.running.support import ROOT, until
from tests.crash.running.surroundings import Clock

from lineage_bridge.wiring.processes import now_us

PROGRAM = "import sys; from lineage_bridge.wiring.processes import now_us; [print(now_us(), flush=True) for _ in sys.stdin]"
DAY_S = 86_400


def test_a_process_has_the_clock_of_its_file(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock")
    command = [sys.executable, "-c", PROGRAM]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **clock.environment}, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        send, answers = process.stdin, process.stdout

        def is_off_by(days: int) -> bool:
            print(file=send, flush=True)
            return abs((int(answers.readline()) - now_us()) / 1e6 - days * DAY_S) < DAY_S / 2

        assert is_off_by(0)
        for days in (10, -10, 1, 0):
            clock.be_off(days * DAY_S)
            until(lambda days=days: is_off_by(days), 30, f"a clock that is {days} days ahead")  # type: ignore[misc]  # of this turn
        send.close()
