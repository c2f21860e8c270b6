"""A set by another hand than the rules': nearly all planted secrets are masked, no innocent text changes, no two datasets join."""

from functools import lru_cache

from tests.openlineage.masking_benchmark.measure import accepted
from tests.openlineage.masking_benchmark.strangers.sets import Planted, innocents, later, leaks, pairs, planted, strings

_LEAST = 0.97


@lru_cache(1)
def _accepted() -> tuple[tuple[Planted, str], ...]:
    """Each planted secret with the strings of its event as it was accepted."""
    return tuple((case, "\n".join(strings(accepted(case.event)))) for case in (*planted(), *later()))


def test_the_set_is_as_large_as_it_says() -> None:
    cases = planted()
    assert len(cases) >= 700
    assert len({case.kind for case in cases}) >= 300
    assert len({case.carrier.partition(":")[0] for case in cases}) >= 27
    assert len(innocents()) >= 2600
    assert len(pairs()) >= 550


def test_every_planted_secret_would_be_seen() -> None:
    blind = [case for case in (*planted(), *later()) for text in ["\n".join(strings(case.event))] if not case.leaked(text)]
    assert blind == []


def test_planted_secrets_are_masked() -> None:
    found = [(case.kind, case.carrier, case.text) for case, text in _accepted() if case.leaked(text)]
    assert len(found) <= (1 - _LEAST) * len(_accepted()), found


def test_what_is_beside_a_secret_stays() -> None:
    lost = [(case.kind, case.carrier, case.text, word) for case, text in _accepted() for word in case.keep if word not in text]
    assert lost == []


def test_innocent_texts_stay() -> None:
    assert [(case.family, case.carrier, case.text) for case in innocents() if accepted(case.event) != case.event] == []


def test_different_datasets_stay_different() -> None:
    taken = ((pair, [accepted(event)["inputs"][0] for event in pair.events]) for pair in pairs())
    assert [pair for pair, (first, other) in taken if (first["namespace"], first["name"]) == (other["namespace"], other["name"])] == []


def test_parts_of_a_secret_are_leaks() -> None:
    assert leaks("Harbor!2461CEl", "x r!246 y")
    assert not leaks("Harbor!2461CEl", "x !246 y")
    assert leaks("a1b2c3d4e5f6g7h8i9j0", "c3d4e5f6")
    assert leaks("MIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC", "hkiG9")
