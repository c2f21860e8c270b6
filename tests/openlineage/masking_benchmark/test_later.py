"""What the first set's tests say holds for later sets too: lists and pairs, words of other languages, short names, and what jobs bring."""

from functools import lru_cache
from pathlib import Path

import pytest
from tests.openlineage.masking_benchmark.later import innocents_in, planted_in
from tests.openlineage.masking_benchmark.measure import Secrets, changed, measure_secrets

_LEAST = 0.97
SETS = {name: Path(__file__).parent / name for name in ("third", "fourth", "fifth", "sixth")}


@lru_cache(len(SETS))
def _measured(name: str) -> Secrets:
    return measure_secrets(planted_in(SETS[name]))


def test_the_sets_are_as_large_as_they_say() -> None:
    cases = [case for folder in SETS.values() for case in planted_in(folder)]
    assert len(cases) >= 1500
    assert len({case.kind for case in cases}) >= 100
    assert len({case.carrier for case in cases}) >= 50
    assert len({case.text for folder in SETS.values() for case in innocents_in(folder)}) >= 1400


@pytest.mark.parametrize("name", SETS)
def test_planted_secrets_are_masked(name: str) -> None:
    assert _measured(name).masked_share >= _LEAST, [(case.kind, case.carrier, case.text) for case, _ in _measured(name).leaked]


@pytest.mark.parametrize("name", SETS)
def test_innocent_texts_stay(name: str) -> None:
    assert changed(innocents_in(SETS[name])) == []
