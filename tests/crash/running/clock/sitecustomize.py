"""Python imports this when it starts in the torture, whose PYTHONPATH leads here: the process has a wall clock that can jump.

The file that TORTURE_CLOCK names says by how many seconds the clock is off; the processes of an installation have one file, and one clock.
Whatever Python code asks has it: `time.time`, `time_ns`, `gmtime` and `localtime`, `datetime.now`, `utcnow` and `today`, `date.today`.
"""

import ctypes
import gc
import os
import time
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import SupportsIndex

_LOOK_AGAIN_S = 0.02
_real_ns, _monotonic, _real_now = time.time_ns, time.monotonic, datetime.now
_real_gmtime, _real_localtime = time.gmtime, time.localtime
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


def _gmtime(seconds: float | SupportsIndex | None = None, /) -> time.struct_time:
    return _real_gmtime(_time() if seconds is None else seconds)


def _localtime(seconds: float | SupportsIndex | None = None, /) -> time.struct_time:
    return _real_localtime(_time() if seconds is None else seconds)


def _now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
    utc = _real_now(timezone.utc) + timedelta(seconds=_off_s())
    return cls.fromtimestamp(utc.timestamp(), tz)


def _utcnow(cls: type[datetime]) -> datetime:
    utc = _real_now(timezone.utc) + timedelta(seconds=_off_s())
    return cls.fromtimestamp(utc.timestamp(), timezone.utc).replace(tzinfo=None)


def _replace(kind: type, **methods: object) -> None:
    """Replace methods of a type that is written in C, which refuses it: `today` asks `time.time`, these do not."""
    (members,) = (found for found in gc.get_referents(kind.__dict__) if isinstance(found, dict))
    members.update(methods)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


time.time, time.time_ns, time.gmtime, time.localtime = _time, _time_ns, _gmtime, _localtime
_replace(datetime, now=classmethod(_now), utcnow=classmethod(_utcnow))
