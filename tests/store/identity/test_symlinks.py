"""Symlinks are the union over what each job, and each design-time statement, stated last."""

from functools import partial
from itertools import permutations
from typing import Any

import pytest
from tests.corpora.aliases import alias_operation, between_names, links_to, operator
from tests.events import KEY, RUNS, T0, dataset, dataset_event, erase, facet, job_event, records_of, run_event
from tests.store.reading import reader_of
from tests.store.tables import contents, execute, rows_written
from tests.store.writing import apply, opened

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.history import AliasFilter, AliasRecord
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)
TABLE = NAMES.dataset("ns", "t")
NO_LINKS = links_to([])


def linked(*names: str, type_: str = "TABLE") -> dict[str, Any]:
    """The dataset `t`, with symlinks to these names."""
    return dataset("t", symlinks=links_to([("hive://h:1", name) for name in names], type_))


def states(job: str, about: dict[str, Any], time_us: int = T0, run: str = RUNS[0]) -> bytes:
    return run_event(run=run, job=job, time_us=time_us, outputs=[about])


def names_of(writer: GraphWriter, at_us: int | None = None) -> list[str]:
    """The other names of `t`."""
    identities = reader_of(writer).nodes.at(at_us).identities
    (group,) = identities.groups_of([TABLE]).values()
    return sorted(spelling.name for spelling in group.spellings if spelling.name != "t")


def symlinks_of(writer: GraphWriter) -> list[AliasRecord]:
    return reader_of(writer).nodes.aliases(AliasFilter("symlink"))


def test_what_one_job_states_erases_nothing_that_another_states() -> None:
    bodies = [states("spark", linked("a")), states("flink", linked("b"), T0 + 1), states("spark", linked("c"), T0 + 2)]
    for order in permutations(records_of(bodies)):
        with opened() as writer:
            for record in order:
                apply(writer, [record])
            assert names_of(writer) == ["b", "c"]
            assert [names_of(writer, at_us) for at_us in (T0, T0 + 1, T0 + 2)] == [["a"], ["a", "b"], ["b", "c"]]


@pytest.mark.parametrize("withdrawal", [NO_LINKS, facet(_deleted=True)], ids=["empty", "tombstone"])
def test_an_empty_list_or_a_tombstone_takes_back_what_that_job_stated(withdrawal: dict[str, Any]) -> None:
    bodies = [
        states("spark", linked("a", "b")),
        states("flink", linked("b")),
        states("spark", dataset("t", symlinks=withdrawal), T0 + DAY_US, RUNS[1]),
    ]
    for order in permutations(records_of(bodies, arrival=T0 + 5 * DAY_US)):
        with opened() as writer:
            for record in order:
                apply(writer, [record])
            assert names_of(writer) == ["b"]
            assert names_of(writer, T0) == ["a", "b"]


def test_a_later_run_of_a_job_replaces_what_an_earlier_run_stated() -> None:
    with opened() as writer:
        apply(writer, records_of([states("spark", linked("a")), states("spark", linked("b"), T0 + 1, RUNS[1])]))
        assert names_of(writer) == ["b"]


def test_two_names_of_one_job_are_two_that_state_links() -> None:
    with opened() as writer:
        apply(writer, records_of([states("spark", linked("a")), states("other", linked("b"), T0 + 1)]))
        apply(writer, [operator(alias_operation("alias", between_names(("jobs", "spark"), ("jobs", "other"), entity="job")))])
        assert names_of(writer) == ["a", "b"]


def test_at_design_time_each_producer_of_a_subject_states_its_own_whatever_its_version() -> None:
    bodies = [
        states("spark", linked("run")),
        dataset_event(linked("p old"), producer="https://example.org/p/1.0"),
        dataset_event(linked("p"), T0 + 1, "https://example.org/p/1.1"),
        dataset_event(linked("q"), producer="https://example.org/q/1.0"),
        job_event("spark", producer="https://example.org/p/1.0", outputs=[linked("job p")]),
    ]
    with opened() as writer:
        apply(writer, records_of(bodies))
        assert names_of(writer) == ["job p", "p", "q", "run"]
        asserters = {record.b[1]: [(a.node.name, a.declared) for a in record.asserted_by] for record in symlinks_of(writer)}
        assert asserters == {"job p": [("spark", True)], "p": [("t", True)], "q": [("t", True)], "run": [("spark", False)]}


def test_erasing_a_run_restores_what_its_job_stated_before_and_leaves_other_jobs_alone() -> None:
    bodies = [states("spark", linked("a")), states("spark", linked("b"), T0 + 1, RUNS[1]), states("flink", linked("c"), run=RUNS[2])]
    with opened() as writer:
        apply(writer, records_of(bodies))
        apply(writer, [operator(erase(RUNS[1]), 900)])
        assert names_of(writer) == ["a", "c"]
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


def test_a_veto_applies_to_a_link_whoever_states_it() -> None:
    with opened() as writer:
        apply(writer, records_of([states("spark", linked("a", "b")), states("flink", linked("a", type_="LOCATION"))]))
        apply(writer, [operator(alias_operation("veto", {**between_names(("ns", "t"), ("hive://h:1", "a")), "kind": "symlink"}))])
        apply(writer, records_of([states("third", linked("a"), T0 + 1, RUNS[1])]))
        assert names_of(writer) == ["b"]
        listed = {(record.b[1], record.evidence): (record.standing, record.asserters) for record in symlinks_of(writer)}
        assert listed == {("a", "LOCATION"): (False, 1), ("a", "TABLE"): (False, 2), ("b", "TABLE"): (True, 1)}


def test_a_list_of_links_names_those_who_stated_them_last() -> None:
    bodies = [states(f"j{n:02}", linked("a"), T0 + n, f"run {n}") for n in range(25)]
    with opened() as writer:
        apply(writer, records_of(bodies))
        (record,) = symlinks_of(writer)
        assert record.asserters == 25
        assert [(a.node.name, a.last_us) for a in record.asserted_by] == [(f"j{n}", T0 + n) for n in range(24, 14, -1)]


def test_jobs_that_agree_share_one_facet_and_write_no_link_again() -> None:
    def batch(*jobs: int, names: str = "ab", later: int = 0) -> list[StoredRecord]:
        return records_of([states(f"job {n}", linked(*names), T0 + n + later, f"run {n}") for n in jobs])

    with opened() as writer:
        apply(writer, batch(0))
        few = rows_written(writer, partial(apply, writer, batch(1)))
        apply(writer, batch(*range(2, 2_000)))
        links, facets = contents(writer, "symlink"), contents(writer, "facet")
        # The next batch clears what the large one was staged in.
        apply(writer, batch(2_000))
        assert rows_written(writer, partial(apply, writer, batch(2_001))) <= few
        assert rows_written(writer, partial(apply, writer, batch(7, later=9_000))) <= few
        assert rows_written(writer, partial(apply, writer, batch(7, names="a", later=9_001))) <= few + 2
        assert contents(writer, "symlink") == links
        assert len({row[3] for row in contents(writer, "job_symlinks")}) == 2
        assert len(contents(writer, "facet") - facets) == 1
        assert execute(writer, "SELECT count(*) FROM change WHERE kind = 'identity'").fetchone() == (2,)
