"""The ninth set keeps its size, and masking keeps what it promises on it."""

from tests.openlineage.masking_benchmark.fieldwork.measure import changed, joined, leaks, missed
from tests.openlineage.masking_benchmark.fieldwork.sets import innocents, pairs, planted


def test_the_set_keeps_its_size() -> None:
    cases, texts, both = planted(), innocents(), pairs()
    assert len(cases) >= 400
    assert len({case.kind for case in cases}) >= 60
    assert len({case.carrier for case in cases}) >= 12
    assert len({case.text for case in texts}) >= 2000
    assert len(both) >= 500


def test_each_secret_stands_in_its_event_and_no_innocent_text_has_one() -> None:
    assert [case.text for case in planted() if not leaks(case.secret, case.event)] == []
    assert [case.text for case in innocents() if case.secret] == []
    assert [pair for pair in pairs() if pair.first == pair.second] == []


def test_the_planted_secrets_are_masked() -> None:
    assert [(case.kind, case.carrier, case.text) for case in missed(planted())] == []


def test_no_innocent_text_is_changed() -> None:
    assert [(case.kind, case.carrier, case.text) for case in changed(innocents())] == []


def test_no_two_datasets_become_one() -> None:
    assert joined(pairs()) == []
