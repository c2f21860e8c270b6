"""Python imports this when it starts in the torture, whose PYTHONPATH leads here: the process has a wall clock that can jump.

The file that TORTURE_CLOCK names says by how many seconds the clock is off; the processes of an installation have one file, and one clock.
"""

import os
import time
from pathlib import Path

_LOOK_AGAIN_S = 0.02
_real_ns, _monotonic = time.time_ns, time.monotonic
_file = Path(os.environ.get("TORTURE_CLOCK", os.devnull))
_seen = [float("-inf"), 0]


def _off_s() -> int:
    if _monotonic() >= _seen[0] + _LOOK_AGAIN_S:
        try:
            off_s = int(_file.read_text(encoding="ascii") or 0)
        except OSError:
            off_s = 0
        _seen[:] = _monotonic(), off_s
    return int(_seen[1])


def _time_ns() -> int:
    return _real_ns() + _off_s() * 10**9


def _time() -> float:
    return _time_ns() / 1e9


time.time, time.time_ns = _time, _time_ns
