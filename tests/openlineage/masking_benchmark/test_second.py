"""What the first set's tests say holds for a second set too, of other kinds, in further carriers."""

from functools import lru_cache

from tests.openlineage.masking_benchmark.measure import Secrets, are_joined, changed, measure_secrets, stored
from tests.openlineage.masking_benchmark.second import different_second, innocents_second, plain_second, planted_second, same_second

_LEAST = 0.97


@lru_cache(1)
def _measured() -> Secrets:
    return measure_secrets(planted_second())


def test_the_second_set_is_as_large_as_it_says() -> None:
    cases = list(planted_second())
    assert len(cases) >= 1300
    assert len({case.kind for case in cases}) >= 110
    assert len({case.carrier for case in cases}) >= 48
    assert len({case.text for case in innocents_second()}) >= 2300
    assert len(list(different_second())) >= 740


def test_planted_secrets_are_masked() -> None:
    assert _measured().masked_share >= _LEAST, [(case.kind, case.carrier, case.text) for case, _ in _measured().leaked]


def test_most_secrets_of_each_kind_are_masked() -> None:
    assert {kind: share for kind, share in _measured().by(0).items() if share[0] < share[1] / 2} == {}


def test_text_beside_a_secret_stays() -> None:
    """Schemes of headers, users in addresses and segments of webhooks are masked or removed with it."""
    assert 1 - len(_measured().lost) / _measured().planted.total() >= 0.8


def test_innocent_texts_stay() -> None:
    assert changed(innocents_second()) == []


def test_no_two_datasets_become_one() -> None:
    assert [pair for pair in different_second() if are_joined(pair[1])] == []


def test_a_dataset_is_the_same_under_another_credential() -> None:
    assert [pair for pair in same_second() if not are_joined(pair[1])] == []


def test_names_without_a_secret_stay_as_they_are() -> None:
    assert [dataset for dataset in plain_second() if stored(dataset) != dataset] == []
