"""Nearly all planted secrets are masked in every carrier, no innocent text is changed, and no two datasets become one."""

import json
from functools import lru_cache

import pytest
from tests.openlineage.masking_benchmark.carriers import CARRIERS
from tests.openlineage.masking_benchmark.corpus import innocents, planted
from tests.openlineage.masking_benchmark.datasets import different, same
from tests.openlineage.masking_benchmark.measure import (
    Secrets,
    accepted,
    changed_innocents,
    joined_datasets,
    measure_secrets,
    parted_datasets,
)

from lineage_bridge.openlineage.redaction import mask

_LEAST = 0.97


@lru_cache(1)
def _measured() -> Secrets:
    return measure_secrets()


def test_the_benchmark_is_as_large_as_it_says() -> None:
    cases = list(planted())
    assert len(cases) >= 400
    assert len({case.kind for case in cases}) >= 60
    assert len({case.carrier for case in cases}) >= 12
    assert {case.carrier for case in cases} == {carrier for carriers in CARRIERS.values() for carrier in carriers}
    assert len({case.text for case in innocents()}) >= 2000
    assert len(list(different())) >= 200
    assert len(list(same())) >= 60


def test_planted_secrets_are_masked() -> None:
    assert _measured().masked_share >= _LEAST, [(case.kind, case.carrier, case.text) for case, _ in _measured().leaked]


@pytest.mark.parametrize("carrier", sorted({carrier for carriers in CARRIERS.values() for carrier in carriers}))
def test_planted_secrets_are_masked_in_each_carrier(carrier: str) -> None:
    masked, total = _measured().by(1)[carrier]
    assert masked / total >= 0.9


def test_text_beside_a_secret_stays() -> None:
    """Schemes of headers, segments of webhooks and parameters that expire with a signature are masked or removed with it."""
    assert 1 - len(_measured().lost) / _measured().planted.total() >= 0.93


def test_innocent_texts_stay() -> None:
    assert changed_innocents() == []


def test_no_two_datasets_become_one() -> None:
    assert joined_datasets() == []


def test_a_dataset_is_the_same_under_another_credential() -> None:
    assert parted_datasets() == []


def test_masking_what_is_masked_changes_nothing() -> None:
    bodies = (json.dumps(accepted(case.event)).encode() for case in planted())
    assert [body for body in bodies if mask(body) is not body] == []
