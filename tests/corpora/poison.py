"""Damaged records of every kind: what a stream may hold between good events."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle, islice
from types import MappingProxyType
from typing import NamedTuple

from tests.events import run_event

_GOOD = run_event(job="damaged")

LINES: Mapping[str, bytes] = MappingProxyType(
    {
        "cut off": _GOOD[:-20],
        "not JSON": b"no event",
        "not UTF-8": _GOOD.replace(b'"damaged"', b'"dam\xff\xfeaged"'),
        "a zero byte": _GOOD.replace(b'"damaged"', b'"dam\x00aged"'),
        "a number": b"17",
        "a text": b'"event"',
        "an empty object": b"{}",
        "two events in one": _GOOD + _GOOD,
        "a list in a list": b"[[" + _GOOD + b"]]",
        "nested too deeply": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        "no time": _GOOD.replace(b'"eventTime"', b'"eventtime"'),
        "no run id": _GOOD.replace(b'"runId"', b'"runid"'),
        "a run that is a text": b'{"eventType":"START","eventTime":"2026-01-01T00:00:00Z","run":"r","job":{"namespace":"n","name":"j"}}',
        "a job whose name is a number": _GOOD.replace(b'"damaged"', b"17"),
    }
)
"""Those that fit into a line."""
VALUES: Mapping[str, bytes] = MappingProxyType(
    {
        **LINES,
        "a broken gzip": b"\x1f\x8b\x08\x00broken",
        "a registry's Avro": b"\0\0\0\0\x11\x02\x04avro",
        "a broken aggregate of Kinesis": b"\xf3\x89\x9a\xc2 broken",
        "two lines": b"no\nevent",
    }
)
"""All: also those that only a record of bytes can hold."""


class Poisoned(NamedTuple):
    """Values in order, one in three damaged; the numbers of the good events; and the indexes of the damaged ones."""

    values: list[bytes]
    good: list[int]
    bad: list[int]


def poisoned(kinds: Mapping[str, bytes] = VALUES) -> Poisoned:
    """Every kind of damage once, behind two good events each, in turns also before them."""
    values = list(_mixed(list(kinds.values())))
    bad = [at for at, value in enumerate(values) if value in kinds.values()]
    return Poisoned(values, list(range(len(values) - len(bad))), bad)


def _mixed(damaged: Sequence[bytes]) -> Iterator[bytes]:
    numbers = count()
    for value, place in zip(damaged, cycle(range(3))):
        three = [run_event(job=f"job-{number}", number=number) for number in islice(numbers, 2)]
        three.insert(place, value)
        yield from three
