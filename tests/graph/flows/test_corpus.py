"""The corpus of quirks is complete, and any disorder of it gives the same tables."""

from functools import cache

import pytest
from tests.events import KEY
from tests.quirks import LACKING, ROWS, missing
from tests.quirks.builders import Row
from tests.quirks.disorder import alike, arriving, batches, in_order, masked, seeds

from lineage_bridge.graph.facts.fold import Tables, empty_tables, fold_records, merge_tables
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import Derived, derive
from lineage_bridge.graph.log_record import StoredRecord

NAMES = Names(KEY)
A_TEST = 10


@cache
def bodies() -> list[bytes]:
    return masked(huge=False)


@cache
def expected() -> tuple[Tables, Derived]:
    tables = fold_records(in_order(bodies()), NAMES)
    return tables, derive(tables, NAMES)


def folded(records: list[StoredRecord], seed: int) -> Tables:
    """Every batch folded for itself, as a worker does, then merged."""
    tables = empty_tables()
    for batch in batches(records, seed):
        merge_tables(tables, fold_records(batch, NAMES))
    return tables


@pytest.mark.parametrize("first", seeds(200 // A_TEST))
def test_any_disorder_gives_equal_tables(first: int) -> None:
    tables_in_order, derived = expected()
    for seed in range(first * A_TEST, (first + 1) * A_TEST):
        tables = folded(arriving(bodies(), seed), seed)
        assert alike(tables) == alike(tables_in_order), seed
        assert derive(tables, NAMES) == derived, seed


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.producer)
def test_every_clause_of_a_row_has_its_events(row: Row) -> None:
    assert all(shown.bodies for shown in row.shown)


def test_everything_recordings_lack_is_shown() -> None:
    listed = set(missing.LISTED.replace("\n", " ").split("; "))
    assert listed - {shown.clause for shown in LACKING} == {missing.HUGE}
    assert len(missing.multi_megabyte()) > 3_000_000


def test_only_what_is_no_event_is_refused() -> None:
    codes = sorted(values[0] for values in expected()[0]["quarantine"].values())
    assert codes == ["no_subject", "no_time", "not_json", "wrong_type"]
