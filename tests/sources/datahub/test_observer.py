"""The source `datahub`: what its entities become, how it lists, and what is gone, with a stand-in that has the forms of acryl-datahub."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.standins.datahub import AUDIT, DataHub
from tests.catalogs.standins.server import answering
from tests.events import T0, dataset, run_event
from tests.sources.catalog_facets import facets_beside_jobs

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError, StoppedError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.catalog import walk as module
from lineage_bridge.sources.common.datahub.urns import DataHubNames, column_of
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.datahub.observer import DataHubObserver
from lineage_bridge.sources.datahub.settings import DataHubSourceSettings
from lineage_bridge.sources.runtime.kinds import KINDS

MINUTE_US = 60_000_000
KAFKA, SNOWFLAKE = "kafka://broker:9092", "snowflake://acme-prod"


def urn(platform: str, name: str, env: str = "PROD") -> str:
    return f"urn:li:dataset:(urn:li:dataPlatform:{platform},{name},{env})"


def field(of: str, column: str) -> str:
    return f"urn:li:schemaField:({of},{column})"


TOPIC, ORDERS, REVENUE = urn("kafka", "prod.orders"), urn("snowflake", "shop.public.orders"), urn("snowflake", "shop.public.revenue")
JOB = "urn:li:dataJob:(urn:li:dataFlow:(airflow,nightly,PROD),load)"


def schema(*columns: dict[str, Any]) -> dict[str, Any]:
    fields = [{"type": {"type": {"__type": "StringType"}}, "nullable": True, "nativeDataType": "VARCHAR", **column} for column in columns]
    platform = "urn:li:dataPlatform:snowflake"
    return {"schemaName": "s", "platform": platform, "version": 0, "hash": "", "platformSchema": {}, "fields": fields}


def upstream(*urns: str, columns: dict[str, list[str]] | None = None, to: str = "") -> dict[str, Any]:
    fine = [
        {"upstreamType": "FIELD_SET", "upstreams": sources, "downstreamType": "FIELD", "downstreams": [field(to, column)]}
        for column, sources in (columns or {}).items()
    ]
    return {"upstreams": [{"dataset": of, "type": "TRANSFORMED"} for of in urns], "fineGrainedLineages": fine}


class Catalog:
    """DataHub, and a source that observes it."""

    def __init__(self, there: DataHub, url: str) -> None:
        self.there, self.url, self.polls = there, url, 0

    def source(self, **settings: Any) -> DataHubObserver:
        usual = {"url": self.url, "namespaces": (SNOWFLAKE,), "platform_instances": {KAFKA: "prod"}}
        return DataHubObserver("hub", DataHubSourceSettings(**{**usual, **settings}))

    def poll(self, before: Observation | None = None, **settings: Any) -> Observation:
        source = self.source(**settings)
        self.polls += 1
        try:
            return source.observe(json.loads(json.dumps(before.snapshot)) if before else None, NO_METADATA, T0 + self.polls * MINUTE_US)
        finally:
            source.close()

    def plant_estate(self) -> None:
        """A topic, a table that is filled from it, and one that is made of that."""
        self.there.plant(TOPIC)
        self.there.plant(
            ORDERS,
            datasetProperties={"description": "One row per order.", "customProperties": {}},
            schemaMetadata=schema({"fieldPath": "id", "nativeDataType": "NUMBER(38,0)"}, {"fieldPath": "customer"}),
            ownership={"owners": [{"owner": "urn:li:corpGroup:sales", "type": "TECHNICAL_OWNER"}]},
            globalTags={"tags": [{"tag": "urn:li:tag:pii"}]},
            glossaryTerms={"terms": [{"urn": "urn:li:glossaryTerm:Sales.Order"}], "auditStamp": AUDIT},
            subTypes={"typeNames": ["Table"]},
            upstreamLineage=upstream(TOPIC, columns={"id": [field(TOPIC, "[version=2.0].[type=Order].[type=long].id")]}, to=ORDERS),
        )
        self.there.plant(REVENUE, upstreamLineage=upstream(ORDERS))


@pytest.fixture
def hub() -> Iterator[Catalog]:
    there = DataHub()
    with answering(there.handle) as url:
        yield Catalog(there, url)


def test_a_dataset_has_what_the_catalog_has_about_it(hub: Catalog) -> None:
    hub.plant_estate()
    hub.there.plant(
        ORDERS,
        editableDatasetProperties={"description": "Edited."},
        editableSchemaMetadata={
            "editableSchemaFieldInfo": [
                {"fieldPath": "customer", "description": "Who.", "globalTags": {"tags": [{"tag": "urn:li:tag:name%20of%20person"}]}}
            ]
        },
    )
    seen = hub.poll()
    assert facets_beside_jobs(seen)["shop.public.orders"] == {
        "schema": {
            "fields": [
                {"name": "id", "type": "NUMBER(38,0)", "ordinal_position": 1},
                {"name": "customer", "type": "VARCHAR", "description": "Who.", "ordinal_position": 2},
            ]
        },
        "documentation": {"description": "Edited."},
        "ownership": {"owners": [{"name": "sales", "type": "TECHNICAL_OWNER"}]},
        "tags": {
            "tags": [
                {"key": "glossary_term", "value": "Sales.Order", "source": "DATAHUB"},
                {"key": "name of person", "value": "true", "source": "DATAHUB", "field": "customer"},
                {"key": "pii", "value": "true", "source": "DATAHUB"},
            ]
        },
        "datasetType": {"datasetType": "TABLE"},
        "lineage": {
            "inputs": [{"type": "DATASET", "namespace": KAFKA, "name": "orders"}],
            "fields": {"id": {"inputs": [{"type": "DATASET", "namespace": KAFKA, "name": "orders", "field": "id"}]}},
        },
    }
    assert {event["dataset"]["namespace"] for event in seen.events} == {SNOWFLAKE}
    assert (seen.unseen, hub.poll(seen).events) == ((), ())


def test_a_walk_goes_on_beyond_the_topic_into_the_warehouse(hub: Catalog, graph: Server) -> None:
    hub.plant_estate()
    hub.there.plant(
        JOB,
        dataJobInfo={"name": "load", "type": {"string": "COMMAND"}, "description": "Nightly."},
        dataJobInputOutput={"inputDatasets": [REVENUE], "outputDatasets": [urn("s3", "lake/out")]},
    )
    sends = run_event(job="shop", inputs=[dataset("clicks")], outputs=[dataset("orders", KAFKA)])
    first = hub.poll()
    graph.send(sends, *map(encode, first.events))
    found = json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    assert all(name in found for name in ("SHOP.PUBLIC.ORDERS", "SHOP.PUBLIC.REVENUE", "nightly.load", "s3://lake")), found
    hub.there.remove(JOB)
    hub.there.plant(REVENUE, upstreamLineage={"upstreams": []})
    second = hub.poll(first)
    graph.send(*map(encode, second.events))
    found = json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    assert "SHOP.PUBLIC.ORDERS" in found
    assert "REVENUE" not in found
    assert "s3://lake" not in json.dumps(graph.ask("/graph/impact", namespace=SNOWFLAKE, name="shop.public.revenue"))


def test_producers_outrank_the_catalog_and_lose_nothing_to_it(hub: Catalog, graph: Server) -> None:
    hub.plant_estate()
    stated: dict[str, Any] = {"schema": {"fields": [{"name": "ID", "type": "INT"}]}, "ownership": {"owners": [{"name": "ann"}]}}
    writes = run_event(job="w", time_us=T0 - MINUTE_US, inputs=[dataset("shop.public.orders", SNOWFLAKE, None, **stated)])
    first = hub.poll()
    hub.there.remove(ORDERS)
    second = hub.poll(first)
    assert all(facet == {"_deleted": True} for facet in facets_beside_jobs(second)["shop.public.orders"].values())
    graph.send(writes, *map(encode, (*first.events, *second.events)))
    found = graph.ask("/lineage/datasets/detail", namespace=SNOWFLAKE, name="shop.public.orders")
    text = json.dumps(found)
    assert ("ann" in text, '"ID"' in text, "One row per order." in text, "pii" in text) == (True, True, False, False)


def test_what_was_published_does_not_come_back(hub: Catalog) -> None:
    hub.plant_estate()
    ours = "urn:li:dataJob:(urn:li:dataFlow:(openlineage,jobs,PROD),clean)"
    properties = {"lineagebridge_publication": "1b0e"}
    hub.there.plant(
        ours,
        dataJobInfo={"name": "clean", "type": {"string": "JOB"}, "customProperties": properties},
        dataJobInputOutput={"inputDatasets": [TOPIC], "outputDatasets": [ORDERS]},
    )
    assert [event for event in hub.poll().events if "job" in event] == []


def test_columns_of_jobs_and_datasets_of_other_environments(hub: Catalog) -> None:
    made, dev = urn("snowflake", "a.b.made"), urn("snowflake", "a.b.dev", "DEV")
    hub.there.plant(dev, datasetProperties={"description": "x"})
    hub.there.plant(
        JOB,
        dataJobInfo={"name": "load", "type": {"string": "COMMAND"}},
        dataJobInputOutput={
            "inputDatasets": [ORDERS, dev],
            "outputDatasets": [made],
            "fineGrainedLineages": [
                {
                    "upstreamType": "FIELD_SET",
                    "upstreams": [field(ORDERS, "id"), field(dev, "id")],
                    "downstreamType": "FIELD",
                    "downstreams": [field(made, "v")],
                }
            ],
        },
    )
    (event,) = hub.poll().events
    assert (event["job"]["namespace"], event["job"]["name"]) == ("datahub://airflow", "nightly.load")
    assert event["inputs"] == [{"namespace": SNOWFLAKE, "name": "shop.public.orders"}]
    (output,) = event["outputs"]
    source = {"namespace": SNOWFLAKE, "name": "shop.public.orders", "field": "id"}
    assert output["facets"]["columnLineage"]["fields"] == {"v": {"inputFields": [source]}}
    assert hub.poll(jobs=False).events == ()


def test_what_a_list_leaves_out_is_gone_only_if_it_does_not_exist(hub: Catalog) -> None:
    hub.plant_estate()
    first = hub.poll()
    hub.there.hidden = {ORDERS, REVENUE, TOPIC}
    hidden = hub.poll(first)
    assert (hidden.events, len(hidden.snapshot["assets"]["datasets"])) == ((), 2)
    hub.there.failing = {"batchGet": 403}
    denied = hub.poll(hidden)
    assert (denied.events, [entry.what for entry in denied.unseen]) == ((), ["datasets: what is missing from the list"])
    assert "right to view" in denied.unseen[0].hint
    hub.there.failing = {}
    hub.there.plant(REVENUE, status={"removed": True})
    assert facets_beside_jobs(hub.poll(denied)).keys() == {"shop.public.revenue"}


@pytest.mark.parametrize("entry", [None, {}, {"urn": None}, 5])
def test_an_answer_that_names_no_entity_does_not_say_that_one_is_gone(hub: Catalog, monkeypatch: pytest.MonkeyPatch, entry: object) -> None:
    hub.plant_estate()
    first = hub.poll()
    hub.there.hidden = {ORDERS}
    send = HttpClient.send

    def odd(*asked: Any) -> Any:
        answer = send(*asked)
        return [entry] if isinstance(answer, list) else answer

    monkeypatch.setattr(HttpClient, "send", odd)
    seen = hub.poll(first)
    assert (seen.events, [entry.what for entry in seen.unseen]) == ((), ["datasets: what is missing from the list"])


@pytest.mark.parametrize(
    ("cluster", "env", "is_read"), [("DEV", None, False), ("prod", None, True), ("k8s", None, True), ("k8s", "QA", False)]
)
def test_jobs_of_other_environments_are_left_out(hub: Catalog, cluster: str, env: str | None, is_read: bool) -> None:
    info = {"name": "load", "type": {"string": "COMMAND"}, **({"env": env} if env else {})}
    hub.there.plant(
        JOB.replace("PROD", cluster) if cluster.isupper() else JOB,
        dataJobInfo=info,
        dataJobInputOutput={"inputDatasets": [ORDERS], "outputDatasets": [REVENUE]},
    )
    if not cluster.isupper():  # the stand-in plants flows of DataHub's own environments only
        hub.there.aspects = {
            (of.replace("nightly,PROD", f"nightly,{cluster}"), name): value for (of, name), value in hub.there.aspects.items()
        }
    assert [event["job"]["name"] for event in hub.poll().events] == (["nightly.load"] if is_read else [])


def test_a_poll_that_is_to_end_reads_no_further_page(hub: Catalog) -> None:
    hub.plant_estate()
    source = hub.source()
    source.stop = threading.Event()
    source.stop.set()
    with pytest.raises(StoppedError):
        source.observe(None, NO_METADATA, T0)
    source.close()
    assert hub.there.scrolls == []


@pytest.mark.parametrize(("status", "error"), [(403, ForbiddenError), (404, MissingError), (400, SourceError)])
def test_a_list_that_fails_ends_nothing_and_the_other_one_is_read(hub: Catalog, status: int, error: type[SourceError]) -> None:
    hub.plant_estate()
    first = hub.poll()
    hub.there.failing = {"dataset": status, "dataJob": status}
    with pytest.raises(error) as raised:
        hub.poll(first)
    assert status == 400 or raised.value.hint
    hub.there.failing = {"dataset": status}
    hub.there.remove(ORDERS)
    hub.there.plant(
        JOB, dataJobInfo={"name": "l", "type": {"string": "X"}}, dataJobInputOutput={"inputDatasets": [TOPIC], "outputDatasets": []}
    )
    partly = hub.poll(first)
    assert ([entry.what for entry in partly.unseen], [event["job"]["name"] for event in partly.events]) == (["datasets"], ["nightly.load"])
    hub.there.failing = {}
    assert facets_beside_jobs(hub.poll(partly)).keys() == {"shop.public.orders"}


def test_an_answer_without_a_list_is_no_empty_list(hub: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.plant_estate()
    first = hub.poll()
    answers: list[Any] = [{}, {"entities": None}, []]
    for answer in answers:
        monkeypatch.setattr("lineage_bridge.sources.common.http.HttpClient.send", lambda *_, answer=answer: answer)
        with pytest.raises(SourceError, match="did not return a list"):
            hub.poll(first)


def test_odd_entities_are_left_out_one_by_one(hub: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = [
        None,
        {"urn": 7},
        {"urn": "urn:li:dataset:(x"},
        {
            "urn": ORDERS,
            "schemaMetadata": {"value": {"fields": [None, {"fieldPath": "id", "nativeDataType": 5}]}},
            "ownership": [],
            "globalTags": {"value": {"tags": "x"}},
        },
        {
            "urn": REVENUE,
            "upstreamLineage": {"value": {"upstreams": [None, {"dataset": 5}, {"dataset": "urn:li:x"}], "fineGrainedLineages": [3]}},
        },
    ]
    monkeypatch.setattr("lineage_bridge.sources.common.http.HttpClient.send", lambda *_: {"entities": odd})
    seen = hub.poll(jobs=False)
    assert facets_beside_jobs(seen) == {"shop.public.orders": {"schema": {"fields": [{"name": "id", "ordinal_position": 1}]}}}
    assert [(entry.what, entry.why) for entry in seen.unseen] == [("datasets: entries without an id", "2 entries")]


def test_a_large_catalog_is_reported_by_several_polls_and_listed_once(hub: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 300)
    hub.there.page = 2
    for number in range(9):
        hub.there.plant(urn("snowflake", f"a.b.t{number}"), datasetProperties={"description": "x" * 100})
    source, before, names = hub.source(), None, list[str]()
    for poll in range(1, 6):
        seen = source.observe(before, NO_METADATA, T0 + poll * MINUTE_US)
        names += [event["dataset"]["name"] for event in seen.events]
        before = json.loads(json.dumps(seen.snapshot))
        assert source.noticed_changes(lambda: None) == min(poll, 4), "the next poll follows soon"
    assert (names, len(hub.there.scrolls)) == ([f"a.b.t{number}" for number in range(9)], 6), "five pages of datasets, one of jobs"
    assert source.observe(before, NO_METADATA, T0).events == ()
    source.close()


def test_a_cursor_that_has_expired_begins_the_list_again(hub: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    hub.there.page = 1
    for name in ("a", "b"):
        hub.there.plant(urn("snowflake", name), datasetProperties={"description": name})
    first = hub.poll()
    hub.there.expired = {first.snapshot["cursor"]}
    hub.there.plant(urn("snowflake", "0"), datasetProperties={"description": "new"})
    assert facets_beside_jobs(hub.poll(first)).keys() == {"0"}


def test_more_hidden_entities_than_one_poll_asks_for_are_asked_for_in_turn(hub: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ASKED", 2)
    urns = [urn("snowflake", f"t{number}") for number in range(5)]
    for number in range(5):
        hub.there.plant(urns[number], datasetProperties={"description": "x"})
    first = hub.poll()
    hub.there.hidden = set(urns[:4])
    hub.there.remove(urns[4])
    second = hub.poll(first)
    third = hub.poll(second)
    assert (second.events, third.events) == ((), ())
    assert facets_beside_jobs(hub.poll(third)).keys() == {"t4"}


def test_patterns_choose_and_what_is_not_chosen_any_more_stays_as_it_was(hub: Catalog) -> None:
    hub.plant_estate()
    first = hub.poll()
    second = hub.poll(first, datasets=("snowflake/*.orders",))
    assert (second.events, len(second.snapshot["assets"]["datasets"])) == ((), 2)
    assert facets_beside_jobs(hub.poll(datasets=("snowflake/*.orders",))).keys() == {"shop.public.orders"}


def test_a_namespace_that_becomes_known_moves_the_dataset(hub: Catalog) -> None:
    hub.plant_estate()
    first = hub.poll(namespaces=())
    assert {event["dataset"]["namespace"] for event in first.events} == {"datahub://snowflake"}
    second = hub.poll(first)
    assert [(event["dataset"]["namespace"], "_deleted" in json.dumps(event)) for event in second.events] == [
        ("datahub://snowflake", True),
        (SNOWFLAKE, False),
    ] * 2


NAMES = DataHubNames("PROD", {}, {KAFKA: "prod", "gs://ours": "eu"}, (SNOWFLAKE, "arn:aws:glue:eu-west-1:123456789012", "s3a://raw"))


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        (KAFKA, "orders.v1"),
        (SNOWFLAKE, "a.b.t(1,2)"),
        ("bigquery", "p.d.t"),
        ("s3://lake", "a/b"),
        ("s3://lake", "/"),
        ("s3a://raw", "a"),
        ("gs://lake", "a"),
        ("gs://ours", "a/b"),
        ("abfss://c@acme.dfs.core.windows.net", "t"),
        ("arn:aws:glue:eu-west-1:123456789012", "table/sales/orders"),
        ("datahub://looker", "explore.x"),
    ],
)
def test_names_are_the_reverse_of_what_is_published(namespace: str, name: str) -> None:
    assert NAMES.dataset(NAMES.urn(namespace, name)) == (namespace, name)
    assert NAMES.field(NAMES.field_urn(namespace, name, "a(b)")) == ((namespace, name), "a(b)")


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("a.b", "a.b"),
        ("[version=2.0].[type=Order].[type=array].[type=Item].items.[type=long].price", "items.price"),
        ("[version=2.0].[key=True].[type=Key].[type=long].id", "_key.id"),
        ("[version=2.0].[type=string]", "[version=2.0].[type=string]"),
    ],
)
def test_paths_of_columns(path: str, column: str) -> None:
    assert column_of(path) == column


def test_two_namespaces_of_one_name_are_refused_and_the_test_names_what_is_unknown(hub: Catalog) -> None:
    assert KINDS.load("datahub").settings is DataHubSourceSettings
    with pytest.raises(ValueError, match="same names in DataHub"):
        hub.source(namespaces=(SNOWFLAKE, "snowflake://other"))
    hub.plant_estate()
    checks = [(check.step, check.works, check.message) for check in hub.source(namespaces=()).test()]
    text = "2 of the first 3 have metadata to report; no namespace is known for snowflake"
    assert checks == [("list datasets", True, text), ("list jobs", True, "0 of the first 0 have metadata to report")]
    hub.there.failing = {"dataset": 403}
    first, _ = hub.source().test()
    assert (first.works, "right to view" in first.hint) == (False, True)
