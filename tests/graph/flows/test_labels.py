"""Labels of edges."""

from lineage_bridge.graph.flows.labels import Label, best, freshness, is_superseded, side_label, worst
from lineage_bridge.graph.ids import DAY_US

NOW = 1_000 * DAY_US


def test_an_edge_is_stale_past_the_horizon() -> None:
    assert freshness(NOW - 30 * DAY_US, NOW) is Label.CURRENT
    assert freshness(NOW - 30 * DAY_US - 1, NOW) is Label.STALE
    assert freshness(None, NOW) is Label.STALE


def test_three_newer_runs_without_it_supersede_a_dataset() -> None:
    lacking, having = frozenset({2}), frozenset({1, 2})
    assert is_superseded({1}, [lacking, lacking, lacking])
    assert not is_superseded({1}, [lacking, lacking])
    assert not is_superseded({1}, [lacking, having, lacking])
    assert is_superseded({1}, [lacking, lacking, lacking, having])


def test_superseded_outranks_stale() -> None:
    assert side_label(0, superseded=True, now_us=NOW) is Label.SUPERSEDED
    assert side_label(NOW, superseded=False, now_us=NOW) is Label.CURRENT


def test_best_and_worst() -> None:
    assert best([Label.STALE, Label.CURRENT]) is Label.CURRENT
    assert worst([Label.STALE, Label.CURRENT]) is Label.STALE
    assert best([]) is Label.STALE
    assert worst([]) is Label.CURRENT
