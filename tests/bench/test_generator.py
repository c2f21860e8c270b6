"""The generator of the benchmarks: the same every time, and damaged, doubled and late as often as it was asked for."""

from collections import Counter
from itertools import islice

import pytest
from bench.generator import Corpus, generate

from lineage_bridge.openlineage.verdict import Rejected, judge

EVENTS = 8_000
SENT = list(generate(Corpus(EVENTS, duplicates=0.05, damaged=0.02, late=0.1)))


def test_the_same_corpus_gives_the_same_bytes() -> None:
    corpus = Corpus(500)
    assert list(generate(corpus)) == list(generate(corpus))


def test_another_seed_gives_other_events() -> None:
    ours, theirs = ({sent.body for sent in generate(Corpus(500, seed=seed))} for seed in (1, 2))
    assert not ours & theirs


def test_events_come_in_the_order_of_arrival_and_exactly_as_many_as_asked_for() -> None:
    arrivals = [sent.arrival_us for sent in SENT]
    assert len(SENT) == EVENTS
    assert arrivals == sorted(arrivals)


@pytest.mark.parametrize(("fate", "share"), [("duplicate", 0.05), ("damaged", 0.02), ("late", 0.1)])
def test_shares_are_as_asked_for(fate: str, share: float) -> None:
    assert Counter(sent.fate for sent in SENT)[fate] / EVENTS == pytest.approx(share, rel=0.2)


def test_a_duplicate_repeats_the_bytes_of_an_earlier_event() -> None:
    seen: set[bytes] = set()
    for sent in SENT:
        assert sent.fate != "duplicate" or sent.body in seen
        seen.add(sent.body)


def test_exactly_the_damaged_events_are_rejected() -> None:
    damaged = {sent.body for sent in SENT if sent.fate == "damaged"}
    assert {sent.body for sent in SENT if isinstance(judge(sent.body, sent.arrival_us), Rejected)} == damaged


def test_events_have_the_size_of_real_ones() -> None:
    sizes = [len(sent.body) for sent in SENT if sent.fate != "damaged"]
    assert 2_000 < sum(sizes) / len(sizes) < 2_600
    assert min(sizes) > 1_200
    assert max(sizes) < 5_000


def test_nothing_asked_for_is_nothing_done() -> None:
    assert {sent.fate for sent in islice(generate(Corpus(500, duplicates=0, damaged=0, late=0)), 500)} == {""}
