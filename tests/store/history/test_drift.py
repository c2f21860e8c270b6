"""Drift compares what counts as a flow: by what names denote, not by how they are spelt."""

from typing import Any

from tests.corpora.aliases import alias_operation, between_names, operator
from tests.events import T0, columns, dataset, job_event, run_event, stored_record
from tests.store.reading import reader_of
from tests.store.writing import add, apply, opened, settle


def ports(namespace: str) -> dict[str, Any]:
    """Two inputs, one of them in this namespace, and two outputs; by its columns, each comes from one input."""
    first, second = columns(c=[("s3://lake", "t", "c")]), columns(c=[("ns", "other", "c")])
    return {
        "inputs": [dataset("t", namespace), dataset("other")],
        "outputs": [dataset("o1", columnLineage=first), dataset("o2", columnLineage=second)],
    }


def test_an_input_that_column_lineage_spells_otherwise_is_no_drift() -> None:
    with opened() as writer:
        reader = add(writer, job_event(**ports("s3a://lake")), run_event(time_us=T0 + 1, **ports("s3://lake")))
        assert reader.history.drift(None, None, 10, 0, now_us=T0 + 2).drifts == ()


def test_an_input_that_column_lineage_does_not_mention_is() -> None:
    with opened() as writer:
        reader = add(writer, job_event(**ports("s3a://elsewhere")), run_event(time_us=T0 + 1, **ports("s3://lake")))
        drifts = reader.history.drift(None, None, 10, 0, now_us=T0 + 2).drifts
        assert ("flow", "t", "o2") in {(drift.what, drift.node.name, drift.target and drift.target.name) for drift in drifts}


def test_all_names_of_a_job_count_as_one() -> None:
    declared = job_event("j1", inputs=[dataset("a"), dataset("old")], outputs=[dataset("b")])
    seen = run_event(job="j2", time_us=T0 + 1, inputs=[dataset("a"), dataset("new")], outputs=[dataset("b")])
    same = operator(alias_operation("alias", between_names(("jobs", "j1"), ("jobs", "j2"), entity="job")))
    with opened() as writer:
        apply(writer, [stored_record(declared, offset=1), stored_record(seen, offset=2), same])
        settle(writer)
        drifts = reader_of(writer).history.drift(None, None, 10, 0, now_us=T0 + 2).drifts
        assert {(drift.job.name, drift.origin.name, drift.what, drift.node.name) for drift in drifts} == {
            ("j1", "DECLARED", "input", "old"),
            ("j1", "DECLARED", "flow", "old"),
            ("j2", "OBSERVED", "input", "new"),
            ("j2", "OBSERVED", "flow", "new"),
        }
        assert len(drifts) == 4
