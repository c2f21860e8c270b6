"""Masks the set as ingestion does, and prints what is left: `python -m tests.openlineage.masking_benchmark.incidents.measure`."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.openlineage.masking_benchmark.incidents.carriers import CARRIERS
from tests.openlineage.masking_benchmark.incidents.sets import Innocent, Planted, innocents, pairs, planted

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
    return any(piece in text for line in secret.split("\n") for piece in _pieces(line))


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


def missed(cases: Iterable[Planted]) -> list[Planted]:
    """The secrets that can still be read after masking."""
    return [case for case in cases if leaks(case.secret, masked(case.event))]


def changed(cases: Iterable[Innocent]) -> list[Innocent]:
    """The texts without secrets that masking changes."""
    return [case for case in cases if masked(case.event) != case.event]


def joined(both: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of datasets that have one name after masking."""
    return [(first, second) for first, second in both if not is_apart(first, second)]


def is_apart(first: str, second: str) -> bool:
    """Whether the two datasets, each a namespace and a name, have different names after masking."""
    left, right = (_names(masked(CARRIERS["dataset"](text))) for text in (first, second))
    return left != right


def _names(event: bytes) -> list[tuple[str, str]]:
    verdict = judge(event, _ARRIVAL_US)
    assert not isinstance(verdict, Rejected), verdict
    return [(dataset.namespace, dataset.name) for dataset in verdict.event.outputs]


def _shares(title: str, all_of: Counter[str], bad: Counter[str]) -> Iterator[str]:
    yield f"\n{title}"
    for name in sorted(all_of, key=lambda name: (-bad[name], name)):
        yield f"  {name:28} {all_of[name] - bad[name]:4} of {all_of[name]:4}"


def report() -> Iterator[str]:
    """Lines with each miss, and the shares by kind and carrier."""
    cases, texts, both = planted(), innocents(), pairs()
    left, touched, same = missed(cases), changed(texts), joined(both)
    for case in left:
        yield f"MISSED {case.kind} in {case.carrier}: {masked(case.event).decode()}"
    for innocent in touched:
        yield f"CHANGED {innocent.carrier}: {innocent.text!r}\n    {masked(innocent.event).decode()}"
    for first, second in same:
        yield f"JOINED {first} and {second}"
    yield from _shares("Kinds", Counter(case.kind for case in cases), Counter(case.kind for case in left))
    yield from _shares("Carriers", Counter(case.carrier for case in cases), Counter(case.carrier for case in left))
    yield f"\n{len(cases) - len(left)} of {len(cases)} secrets masked ({1 - len(left) / len(cases):.2%})"
    yield f"{len(touched)} of {len(texts)} innocent texts changed; {len(same)} of {len(both)} pairs joined"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report())
