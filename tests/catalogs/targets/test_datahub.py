"""DataHub: URNs, aspects, and what its model does not hold."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place, make_place
from tests.events import RUNS, columns, dataset, facet, job_event, run_event


@pytest.fixture
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place("datahub", request, ours)
    added(ours, place)
    return place


def _input_output(place: Place, job: str) -> dict[str, Any]:
    found: dict[str, Any] = place.more["there"].aspects[
        f"urn:li:dataJob:(urn:li:dataFlow:(openlineage,jobs,PROD),{job})", "dataJobInputOutput"
    ]
    return found


def test_names_become_urns(ours: Server, there: Place) -> None:
    inputs = [dataset("orders", "kafka://broker:9092"), dataset("a/b", "s3://bucket"), dataset("db.t(1,2)", "sqlserver://host:1433")]
    ours.send(run_event(run=RUNS[3], job="named", inputs=inputs, outputs=[dataset("x.y.z", "bigquery")]))
    added(ours, there, platform_instances={"kafka://broker:9092": "prod"}, platforms={"bigquery": "bq"})
    assert set(published(ours).outcomes) == {"done"}
    assert _input_output(there, "named") == {
        "inputDatasets": [
            "urn:li:dataset:(urn:li:dataPlatform:kafka,prod.orders,PROD)",
            "urn:li:dataset:(urn:li:dataPlatform:mssql,db.t%281%2C2%29,PROD)",
            "urn:li:dataset:(urn:li:dataPlatform:s3,bucket/a/b,PROD)",
        ],
        "outputDatasets": ["urn:li:dataset:(urn:li:dataPlatform:bq,x.y.z,PROD)"],
        "fineGrainedLineages": [],
    }


def test_what_was_published_under_other_names_is_published_again(ours: Server, there: Place) -> None:
    namespace = "arn:aws:glue:eu-west-1:123456789012"
    ours.send(run_event(run=RUNS[3], job="named", inputs=[dataset("table/sales/orders", namespace)], outputs=[dataset("x")]))
    added(ours, there, platforms={namespace: "other"})
    assert set(published(ours).outcomes) == {"done"}
    added(ours, there)
    report = published(ours)
    assert [(step.name, step.action) for step in report.operations] == [("named", "update")]
    assert _input_output(there, "named")["inputDatasets"] == ["urn:li:dataset:(urn:li:dataPlatform:glue,sales.orders,PROD)"]
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


def test_columns_are_there_and_what_is_not_held_is_counted(ours: Server, there: Place) -> None:
    made = dataset("made", columnLineage=columns(v=[("ns", "src", "k"), ("ns", "src", "l")]), storage=facet(storageLayer="delta"))
    ours.send(run_event(run=RUNS[3], job="columns", inputs=[dataset("src")], outputs=[made]))
    report = published(ours)
    assert report.not_expressible["transformations of columns"] == 3
    assert report.not_expressible["facets that are not sent to DataHub"] >= 1
    (found,) = _input_output(there, "columns")["fineGrainedLineages"]
    field = "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:ns,{},PROD),{})"
    assert found["upstreams"] == [field.format("src", "k"), field.format("src", "l")]
    assert found["downstreams"] == [field.format("made", "v")]


def test_changed_columns_are_drift(ours: Server, there: Place) -> None:
    published(ours)
    _input_output(there, "clean")["fineGrainedLineages"] = []
    assert [(finding.name, finding.finding) for finding in published(ours).drift] == [("clean", "was changed there")]


@pytest.mark.usefixtures("there")
def test_names_that_are_too_long_are_left_out_and_counted(ours: Server) -> None:
    ours.send(
        run_event(run=RUNS[3], job="x" * 480, inputs=[dataset("a")]),
        run_event(run=RUNS[4], job="short", inputs=[dataset("a"), dataset("y" * 480), dataset("/y" * 120)], outputs=[dataset("b")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 4}
    assert report.not_expressible["jobs whose URN would be too long"] == 1
    assert report.not_expressible["datasets whose URN would be too long"] == 2


def test_jobs_of_a_request_are_written_once(ours: Server, there: Place) -> None:
    assert published(ours).outcomes == {"done": 3}
    assert len(there.more["there"].requests) == 1


def test_a_job_of_many_datasets_is_several_requests(ours: Server, there: Place) -> None:
    ours.send(job_event("wide", inputs=[dataset(f"input-{number}") for number in range(450)], outputs=[dataset("z")]))
    assert published(ours).outcomes == {"done": 4}
    assert max(there.more["there"].requests) == 200
    assert len(_input_output(there, "wide")["inputDatasets"]) == 450


def test_one_that_is_refused_does_not_hold_up_others_of_its_request(ours: Server, there: Place) -> None:
    there.more["there"].refusing = ",load)"
    report = published(ours)
    assert report.outcomes == {"done": 2, "refused": 1}
    (refused,) = (item for item in report.operations if item.outcome == "refused")
    assert (refused.name, refused.detail) == ("load", "answered 422: not allowed here")
    assert {edge[0] for edge in there.edges()} == {"clean", "declared"}
