"""The clock of the torture: processes of ours have it, from one moment to the next, however they ask for the time."""

import os
import subprocess
import sys
from pathlib import Path

from tests.crash.running.support import ROOT, until
from tests.crash.running.surroundings import Clock

from lineage_bridge.wiring.processes import now_us

PROGRAM = """
import calendar, sys, time
from datetime import date, datetime, timezone
from lineage_bridge.wiring.processes import now_us

for _ in sys.stdin:
    naive = (datetime.utcnow(), datetime.now().astimezone(timezone.utc), datetime.today().astimezone(timezone.utc))
    asked = [datetime.now(timezone.utc), datetime.now(tz=timezone.utc), *(at.replace(tzinfo=timezone.utc) for at in naive)]
    tuples = [calendar.timegm(time.gmtime()), time.mktime(time.localtime()), time.mktime(date.today().timetuple())]
    print(now_us(), *(int(at.timestamp() * 1e6) for at in asked), *(int(at * 1e6) for at in tuples), flush=True)
"""
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
            off_s = [(int(answer) - now_us()) / 1e6 - days * DAY_S for answer in answers.readline().split()]
            assert len(off_s) == 9
            *exact, date_s = off_s
            return all(abs(off) < DAY_S / 2 for off in exact) and abs(date_s) < 2 * DAY_S

        assert is_off_by(0)
        for days in (10, -10, 1, 0):
            clock.be_off(days * DAY_S)
            until(lambda days=days: is_off_by(days), 30, f"a clock that is {days} days ahead")  # type: ignore[misc]  # of this turn
        send.close()
