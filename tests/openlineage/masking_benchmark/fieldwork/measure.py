"""Masks the set as ingestion does, and prints what is left: `python -m tests.openlineage.masking_benchmark.fieldwork.measure`."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.openlineage.masking_benchmark.fieldwork.carriers import dataset
from tests.openlineage.masking_benchmark.fieldwork.sets import Case, Pair, innocents, pairs, planted

from lineage_bridge.ingest.effort import masking_effort, payload_masking_effort
from lineage_bridge.ingest.masking import mask_event
from lineage_bridge.openlineage.verdict import Rejected, judge

_ARRIVAL_US = 1_772_360_000_000_000


def masked(event: bytes) -> bytes:
    """Mask an event as ingestion does. Fails if its facets had to be masked as a whole."""
    own = masking_effort(event)
    result = mask_event(event, payload_masking_effort([event]), b"key of the installation", own)
    assert result is not None
    assert own.left_ns >= 0
    return result


def leaks(secret: str, event: bytes) -> bool:
    """Whether half of a line of the secret, and at least six characters, can be read in an event."""
    text = "\n".join(_texts(json.loads(event)))
    lines = [line.strip() for line in secret.replace("\\n", "\n").split("\n")]
    return any(piece in text for line in lines if not line.startswith("-----") for piece in _pieces(line))


def _pieces(line: str) -> Iterator[str]:
    length = min(len(line), max(6, (len(line) + 1) // 2))
    return (line[start : start + length] for start in range(len(line) - length + 1))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    else:
        yield str(value)


def missed(cases: Iterable[Case]) -> list[Case]:
    """The secrets that can still be read after masking."""
    return [case for case in cases if leaks(case.secret, masked(case.event))]


def changed(cases: Iterable[Case]) -> list[Case]:
    """The texts without secrets that masking changes."""
    return [case for case in cases if json.loads(masked(case.event)) != json.loads(case.event)]


def joined(both: Iterable[Pair]) -> list[Pair]:
    """The pairs of datasets that have one name after masking."""
    return [pair for pair in both if _names(pair.first) == _names(pair.second)]


def _names(named: tuple[str, str]) -> list[tuple[str, str]]:
    verdict = judge(masked(dataset(*named)), _ARRIVAL_US)
    assert not isinstance(verdict, Rejected), verdict
    return [(written.namespace, written.name) for written in verdict.event.outputs]


def _shares(title: str, all_of: Counter[str], bad: Counter[str]) -> Iterator[str]:
    yield f"\n{title}"
    for name in sorted(all_of, key=lambda name: (-bad[name], name)):
        yield f"  {name:28} {all_of[name] - bad[name]:4} of {all_of[name]:4}"


def report() -> Iterator[str]:
    """Lines with each miss, and the shares by kind and carrier."""
    cases, texts, both = planted(), innocents(), pairs()
    left, touched, same = missed(cases), changed(texts), joined(both)
    for case in left:
        yield f"MISSED {case.kind} in {case.carrier}: {case.text!r}\n    {masked(case.event).decode()}"
    for case in touched:
        yield f"CHANGED {case.kind} in {case.carrier}: {case.text!r}\n    {masked(case.event).decode()}"
    for pair in same:
        yield f"JOINED {pair.first} and {pair.second}"
    yield from _shares("Kinds", Counter(case.kind for case in cases), Counter(case.kind for case in left))
    yield from _shares("Carriers", Counter(case.carrier for case in cases), Counter(case.carrier for case in left))
    yield from _shares("Innocent kinds", Counter(case.kind for case in texts), Counter(case.kind for case in touched))
    yield f"\n{len(cases) - len(left)} of {len(cases)} secrets masked ({1 - len(left) / len(cases):.2%})"
    yield f"{len(touched)} of {len(texts)} innocent texts changed; {len(same)} of {len(both)} pairs joined"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report())
