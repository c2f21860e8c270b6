"""Why runs failed: in answers about runs, and in search."""

from functools import partial
from typing import Any

from tests.events import RUNS, T0, dataset, erase, facet, run_event, stored_record
from tests.store.reading import reader_of
from tests.store.writing import add as add_events
from tests.store.writing import apply

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.search import SearchFilter
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter


def error(message: str) -> dict[str, Any]:
    return {"errorMessage": facet(message=message, programmingLanguage="SQL")}


add = partial(add_events, seed=5)


def failures(reader: StoreReader, run: str = RUNS[0]) -> tuple[str, ...]:
    (record,) = reader.runs.find(run)
    return record.failures


def test_the_newest_error_message_is_the_reason(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START"),
        run_event("FAIL", time_us=T0 + 5, run_facets=error("connection refused")),
        run_event("FAIL", time_us=T0 + 9, run_facets=error("disk full")),
        run_event("COMPLETE", RUNS[1]),
    )
    assert failures(reader) == ("disk full",)
    assert failures(reader, RUNS[1]) == ()


def test_tests_and_assertions_that_failed_are_reasons(writer: GraphWriter) -> None:
    tests = facet(tests=[{"name": "unique", "status": "fail", "description": "2 rows"}, {"name": "fine", "status": "pass"}])
    assertions = [
        {"assertion": "not_null", "success": False, "column": "id"},
        {"assertion": "row_count", "success": False},
        {"assertion": "unique", "success": True, "column": "id"},
    ]
    checked = dataset("orders", access=("inputFacets", {"dataQualityAssertions": facet(assertions=assertions)}))
    reader = add(writer, run_event("FAIL", inputs=[checked], run_facets={**error("2 tests failed"), "test": tests}))
    assert failures(reader) == (
        "2 tests failed",
        "assertion not_null on orders.id failed",
        "assertion row_count on orders failed",
        "test unique failed: 2 rows",
    )


def test_a_job_is_found_by_the_reason_its_run_failed_for(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("FAIL", job="load", run_facets=error("table orders_staging does not exist")),
        run_event("FAIL", RUNS[1], job="other", run_facets=error("timeout")),
        run_event("COMPLETE", RUNS[2], job="fine"),
    )
    page = reader.search.page(SearchFilter("staging exist", fields=("failure",)))
    assert [(match.node.kind, match.node.name) for match in page.matches] == [(NodeKind.JOB, "load")]
    assert page.matches[0].lines == (("failure", "table orders_staging does not exist"),)
    assert reader.search.page(SearchFilter("staging", fields=("description",))).matches == ()
    load = page.matches[0].node
    assert reader.nodes.facets(load) == {}, "it is no facet of the job"
    assert [change for change in reader.history.changes(None, ("facet",), 100).changes if change.key == "errorMessage"] == []


def test_the_reason_of_an_erased_run_is_not_found(writer: GraphWriter) -> None:
    add(writer, run_event("FAIL", run_facets=error("kaputt")), run_event("START", RUNS[1]))
    apply(writer, [stored_record(erase(RUNS[0]), offset=9, kind=RecordKind.OPERATOR)])
    assert reader_of(writer).search.page(SearchFilter("kaputt")).matches == ()
