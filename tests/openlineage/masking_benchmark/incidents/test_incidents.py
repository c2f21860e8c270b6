from tests.openlineage.masking_benchmark.incidents.measure import changed, joined, leaks, missed
from tests.openlineage.masking_benchmark.incidents.sets import innocents, pairs, planted


def test_the_planted_secrets_are_masked() -> None:
    cases = planted()
    assert len({case.kind for case in cases}) >= 60
    assert len({case.carrier for case in cases}) >= 12
    assert len(cases) >= 400
    assert missed(cases) == []


def test_each_secret_is_in_its_event_and_nowhere_else() -> None:
    for case in planted():
        assert leaks(case.secret, case.event), case
        assert not leaks(case.secret, case.without), case


def test_no_innocent_text_is_changed() -> None:
    texts = innocents()
    assert len(texts) >= 2000
    assert changed(texts) == []


def test_no_two_datasets_become_one() -> None:
    both = pairs()
    assert len(both) >= 500
    assert joined(both) == []
    assert joined([("kafka://k:9092 ;; orders", "kafka://k:9092 ;; orders")]) != []
