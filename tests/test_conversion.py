"""Types are analysed once, whichever thread uses them first."""

import subprocess
import sys

import msgspec
import pytest

from lineage_bridge.conversion import convert, decode

RACE = """
import sys, threading
from msgspec import defstruct
from lineage_bridge.conversion import convert

sys.setswitchinterval(1e-6)
for number in range(100):
    inner = defstruct(f"Inner{number}", [(f"f{at}", "int", 0) for at in range(40)])
    outer = defstruct(f"Outer{number}", [(f"g{at}", inner) for at in range(20)])
    value = {f"g{at}": {f"f{of}": 1 for of in range(40)} for at in range(20)}
    together = threading.Barrier(8)

    def first():
        together.wait()
        convert(value, outer)

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


class Point(msgspec.Struct):
    """A value."""

    x: int


def test_many_threads_may_use_a_type_first() -> None:
    """With `msgspec.convert` itself the process ends with a segmentation fault."""
    assert subprocess.run([sys.executable, "-c", RACE], check=False).returncode == 0


def test_values_are_converted_as_by_msgspec() -> None:
    assert convert({"x": 1}, Point) == decode(b'{"x": 1}', Point) == Point(1)
    assert convert({"x": "1"}, Point, strict=False) == Point(1)
    assert decode("[1]", list[int]) == [1]
    for wrong in (lambda: convert({"x": "1"}, Point), lambda: decode(b'{"x": "1"}', Point)):
        with pytest.raises(msgspec.ValidationError):
            wrong()
    with pytest.raises(msgspec.DecodeError):
        decode(b"{", Point)
