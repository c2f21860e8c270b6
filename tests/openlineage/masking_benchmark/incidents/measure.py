"""Masks the set as ingestion does, and prints what is left: `python -m tests.openlineage.masking_benchmark.incidents.measure`."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.openlineage.masking_benchmark.after_masking import is_readable, masked, output_names, shares
from tests.openlineage.masking_benchmark.incidents.carriers import CARRIERS
from tests.openlineage.masking_benchmark.incidents.sets import Innocent, Planted, innocents, pairs, planted


def leaks(secret: str, event: bytes) -> bool:
    """Whether half of a line of the secret, and at least six characters, can be read in an event."""
    return is_readable(secret.split("\n"), event)


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
    left, right = (output_names(CARRIERS["dataset"](text)) for text in (first, second))
    return left != right


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
    yield from shares("Kinds", Counter(case.kind for case in cases), Counter(case.kind for case in left))
    yield from shares("Carriers", Counter(case.carrier for case in cases), Counter(case.carrier for case in left))
    yield f"\n{len(cases) - len(left)} of {len(cases)} secrets masked ({1 - len(left) / len(cases):.2%})"
    yield f"{len(touched)} of {len(texts)} innocent texts changed; {len(same)} of {len(both)} pairs joined"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report())
