"""DataHub's OpenLineage endpoint: names, columns, marks, and what its releases refuse."""

import json
from typing import Any
from uuid import uuid4

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.datahub_events import RefusedError, aspects_of
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event, schema

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.datahub.observer import DataHubObserver
from lineage_bridge.sources.datahub.settings import DataHubSourceSettings

ENDPOINT = "/openapi/openlineage/api/v1/lineage"
INPUTS = [
    dataset("orders", "kafka://broker:9092"),
    dataset("a/b {c}", "s3a://bucket"),
    dataset("table/sales/orders", "arn:aws:glue:eu-west-1:123456789012"),
    dataset("db.t(1,2)", "sqlserver://host:1433"),
    dataset("shop.public.t", "unitycatalog://host"),
]


@pytest.fixture
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place("datahub-events", request, ours)
    added(ours, place)
    return place


def _aspects(place: Place, job: str, aspect: str = "dataJobInputOutput", namespace: str = "jobs") -> dict[str, Any]:
    urn = f"urn:li:dataJob:(urn:li:dataFlow:(openlineage,{job.partition('.')[0]},{namespace}),{job})"
    found: dict[str, Any] = place.more["there"].aspects[urn, aspect]
    return found


def _read_back(place: Place) -> int:
    """How many jobs and datasets a source reports."""
    source = DataHubObserver("hub", DataHubSourceSettings(url=place.settings["url"]))
    try:
        return len(source.observe(None, NO_METADATA, T0).events)
    finally:
        source.close()


def test_datasets_have_the_urns_that_aspects_would_give_them(request: pytest.FixtureRequest, ours: Server, there: Place) -> None:
    ours.send(run_event(run=RUNS[3], job="named", inputs=INPUTS, outputs=[dataset("x.y.z", "bigquery")]))
    named = {"platform_instances": {"kafka://broker:9092": "prod"}, "platforms": {"bigquery": "bq"}}
    added(ours, there, **named)
    assert set(published(ours).outcomes) == {"done"}
    by_events = _aspects(there, "named")
    aspects = make_place("datahub", request, ours)
    added(ours, aspects, **named)
    assert set(published(ours).outcomes) == {"done"}
    job = "urn:li:dataJob:(urn:li:dataFlow:(openlineage,jobs,PROD),named)"
    by_aspects = aspects.more["there"].aspects[job, "dataJobInputOutput"]
    for side in ("input", "output"):
        assert [edge["destinationUrn"] for edge in by_events[f"{side}DatasetEdges"]] == by_aspects[f"{side}Datasets"]
    assert len(by_aspects["inputDatasets"]) == len(INPUTS)


def test_columns_are_there_and_schemas_of_datasets_stay_as_others_wrote_them(ours: Server, there: Place) -> None:
    made = dataset("made", schema=schema("v,w"), columnLineage=columns(**{"v,w": [("ns", "src", "k(1)")]}))
    sql = {"sql": facet(query="SELECT 1")}
    ours.send(
        run_event(run=RUNS[3], job="columns", job_facets=sql, inputs=[dataset("src")], outputs=[made]),
        run_event(run=RUNS[4], job="whole", job_facets=sql, inputs=[dataset("src")], outputs=[dataset("x")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 5}
    assert report.not_expressible == {"datasets that no job reads or writes": 1, "facets that are not sent to DataHub": 5}
    (found,) = _aspects(there, "columns")["fineGrainedLineages"]
    field = "urn:li:schemaField:(urn:li:dataset:(urn:li:dataPlatform:ns,{},PROD),{})"
    assert (found["upstreams"], found["downstreams"]) == ([field.format("src", "k%281%29")], [field.format("made", "v%2Cw")])
    assert found["transformOperation"].endswith("SELECT 1")
    assert not [name for _, name in there.more["there"].aspects if name == "schemaMetadata"]


def test_jobs_of_any_name_are_taken_or_left_out_and_counted(ours: Server, there: Place) -> None:
    for name in ("dag.task", "with, comma (1)", ".hidden", "x" * 480):
        ours.send(run_event(run=str(uuid4()), job=name, namespace="a,b", inputs=[dataset("a")], outputs=[dataset("b")]))
    report = published(ours)
    assert report.outcomes == {"done": 5}
    assert report.not_expressible["jobs whose names begin with a dot"] == 1
    assert report.not_expressible["jobs whose URN would be too long"] == 1
    assert _aspects(there, "dag.task", "dataJobInfo", "a%2Cb")["name"] == "task"
    assert _aspects(there, "with%2C comma %281%29", namespace="a%2Cb")["outputDatasetEdges"]
    assert published(ours).counts == {}


def test_a_source_does_not_bring_back_what_was_published(ours: Server, there: Place) -> None:
    published(ours)
    assert there.edges() == EDGES
    assert _read_back(there) == 0
    del _aspects(there, "clean", "dataJobInfo")["customProperties"]["lineagebridge_publication"]
    assert _read_back(there) == 1


def test_another_state_of_a_job_replaces_the_one_before_in_another_run(ours: Server, there: Place) -> None:
    published(ours)
    ours.parts.now_us += 1_000_000
    ours.send(job_event("declared", time_us=T0 + 9, inputs=[dataset("d")], outputs=[dataset("e")]))
    assert published(ours).counts == {"update": 1}
    assert there.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e")}
    runs = there.more["there"].runs
    assert len(runs) == len(set(runs)) == 4


def test_events_that_say_no_orchestrator_and_other_kinds_of_events_are_refused_by_releases(ours: Server, there: Place) -> None:
    """Why this is a form of this kind: what kind `openlineage` sends to any server, releases of DataHub refuse."""
    for events in ("jobs", "runs"):
        ours.targets.add(
            "there", "openlineage", {"url": there.settings["url"], "endpoint": ENDPOINT, "events": events, "tries": 1}, replace=True
        )
        report = published(ours)
        assert (report.state, report.outcomes.get("done")) == ("failed", None)
        assert "answered 500" in report.error
    assert there.more["there"].aspects == {}


@pytest.mark.parametrize("change", [{"eventType": None}, {"run": None}, {"run": {"runId": "1"}}, {"job": {"namespace": "n", "name": "."}}])
def test_the_stand_in_refuses_what_releases_cannot_use(change: dict[str, Any]) -> None:
    event = json.loads(run_event(job="j", run_facets={"processing_engine": facet(name="Flink", version="2")}))
    assert ("urn:li:dataJob:(urn:li:dataFlow:(flink,j,jobs),j)", "dataJobInfo") in aspects_of(json.dumps(event).encode())
    with pytest.raises(RefusedError):
        aspects_of(json.dumps({**event, **change}).encode())
    with pytest.raises(RefusedError):
        aspects_of(b"[")


def test_settings_that_have_no_effect_are_refused(ours: Server, there: Place) -> None:
    with pytest.raises(ConfigError, match="leave out env"):
        added(ours, there, env="PROD")
    with pytest.raises(ConfigError, match="lower case"):
        added(ours, there, orchestrator="Bridge")


def test_the_checks_name_an_endpoint_that_is_not_there(ours: Server, there: Place) -> None:
    assert [(check.step, check.works) for check in ours.targets.test("there")] == [("connect", True), ("endpoint", True)]
    there.more["there"].has_endpoint = False
    assert [(check.step, check.works) for check in ours.targets.test("there")] == [("connect", True), ("endpoint", False)]
