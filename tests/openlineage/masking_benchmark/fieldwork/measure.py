"""Masks the set as ingestion does, and prints what is left: `python -m tests.openlineage.masking_benchmark.fieldwork.measure`."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.openlineage.masking_benchmark.after_masking import is_readable, masked, output_names, shares
from tests.openlineage.masking_benchmark.fieldwork.carriers import dataset
from tests.openlineage.masking_benchmark.fieldwork.sets import Case, Pair, innocents, pairs, planted


def leaks(secret: str, event: bytes) -> bool:
    """Whether half of a line of the secret, and at least six characters, can be read in an event."""
    lines = [line.strip() for line in secret.replace("\\n", "\n").split("\n")]
    return is_readable([line for line in lines if not line.startswith("-----")], event)


def missed(cases: Iterable[Case]) -> list[Case]:
    """The secrets that can still be read after masking."""
    return [case for case in cases if leaks(case.secret, masked(case.event))]


def changed(cases: Iterable[Case]) -> list[Case]:
    """The texts without secrets that masking changes."""
    return [case for case in cases if json.loads(masked(case.event)) != json.loads(case.event)]


def joined(both: Iterable[Pair]) -> list[Pair]:
    """The pairs of datasets that have one name after masking."""
    return [pair for pair in both if output_names(dataset(*pair.first)) == output_names(dataset(*pair.second))]


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
    yield from shares("Kinds", Counter(case.kind for case in cases), Counter(case.kind for case in left))
    yield from shares("Carriers", Counter(case.carrier for case in cases), Counter(case.carrier for case in left))
    yield from shares("Innocent kinds", Counter(case.kind for case in texts), Counter(case.kind for case in touched))
    yield f"\n{len(cases) - len(left)} of {len(cases)} secrets masked ({1 - len(left) / len(cases):.2%})"
    yield f"{len(touched)} of {len(texts)} innocent texts changed; {len(same)} of {len(both)} pairs joined"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report())
