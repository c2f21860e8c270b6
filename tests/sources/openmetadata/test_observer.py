"""The source `openmetadata`: what tables and topics become, how they are listed, and what is gone, with a stand-in of its search."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.standins.openmetadata import OpenMetadata
from tests.catalogs.standins.server import Answer, answering
from tests.events import T0, dataset, run_event
from tests.sources.catalog_facets import facets_of

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.catalog import walk as module
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.openmetadata.fqn import split_name
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.openmetadata.names import OpenMetadataNames
from lineage_bridge.sources.openmetadata.observer import OpenMetadataObserver
from lineage_bridge.sources.openmetadata.settings import OpenMetadataSourceSettings
from lineage_bridge.sources.runtime.kinds import KINDS

MINUTE_US = 60_000_000
KAFKA, POSTGRES = "kafka://broker:9092", "postgres://db:5432"
TOPIC, ORDERS, REVENUE = 'kafka_prod."orders.v1"', "pg.shop.public.orders", "pg.shop.public.revenue"
ID = "00000000-0000-4000-8000-000000000001"


def label(name: str, source: str = "Classification", state: str = "Confirmed") -> dict[str, Any]:
    return {"tagFQN": name, "source": source, "labelType": "Manual", "state": state}


def edge(kind: str, name: str, source: str = "QueryLineage", columns: dict[str, list[str]] | None = None) -> dict[str, Any]:
    mapped = [{"fromColumns": sources, "toColumn": column} for column, sources in (columns or {}).items()]
    return {"fromEntity": {"id": ID, "fullyQualifiedName": name, "type": kind}, "source": source, "columns": mapped}


class Catalog:
    """OpenMetadata, and a source that observes it."""

    def __init__(self, there: OpenMetadata, url: str) -> None:
        self.there, self.url, self.polls = there, url, 0

    def source(self, **settings: Any) -> OpenMetadataObserver:
        usual = {"url": self.url, "services": {KAFKA: "kafka_prod", POSTGRES: "pg"}}
        return OpenMetadataObserver("om", OpenMetadataSourceSettings(**{**usual, **settings}))

    def poll(self, before: Observation | None = None, **settings: Any) -> Observation:
        source = self.source(**settings)
        self.polls += 1
        try:
            return source.observe(json.loads(json.dumps(before.snapshot)) if before else None, NO_METADATA, T0 + self.polls * MINUTE_US)
        finally:
            source.close()

    def plant_estate(self) -> None:
        """A topic, a table that is filled from it, and one that is made of that."""
        record = {"name": "Order", "dataType": "RECORD", "children": [{"name": "id", "dataType": "LONG"}]}
        self.there.plant("topic", TOPIC, description="All orders.", messageSchema={"schemaType": "Avro", "schemaFields": [record]})
        self.there.plant(
            "table",
            ORDERS,
            description="One row per order.",
            tableType="Regular",
            columns=[
                {"name": "id", "dataType": "BIGINT", "description": "Its number.", "tags": [label("PII.None")]},
                {"name": "who", "dataType": "STRUCT", "dataTypeDisplay": "struct<n:text>", "children": [{"name": "n", "dataType": "TEXT"}]},
            ],
            owners=[{"id": ID, "type": "team", "name": "sales"}],
            tags=[label("Shop.Gold"), label("Sales.Order", "Glossary"), label("PII.Sensitive", state="Suggested")],
            tier=label("Tier.Tier1"),
            upstreamLineage=[edge("topic", TOPIC, columns={f"{ORDERS}.id": [f"{TOPIC}.Order.id"]})],
        )
        self.there.plant("table", REVENUE, upstreamLineage=[edge("table", ORDERS)])


@pytest.fixture
def om() -> Iterator[Catalog]:
    there = OpenMetadata()
    with answering(there.handle) as url:
        yield Catalog(there, url)


def test_a_table_has_what_the_catalog_has_about_it(om: Catalog) -> None:
    om.plant_estate()
    seen = om.poll()
    source = {"type": "DATASET", "namespace": KAFKA, "name": "orders.v1"}
    assert facets_of(seen)["shop.public.orders"] == {
        "schema": {
            "fields": [
                {"name": "id", "type": "BIGINT", "description": "Its number.", "ordinal_position": 1},
                {
                    "name": "who",
                    "type": "struct<n:text>",
                    "ordinal_position": 2,
                    "fields": [{"name": "n", "type": "TEXT", "ordinal_position": 1}],
                },
            ]
        },
        "documentation": {"description": "One row per order."},
        "ownership": {"owners": [{"name": "sales", "type": "TEAM"}]},
        "tags": {
            "tags": [
                {"key": "PII.None", "value": "true", "source": "OPENMETADATA", "field": "id"},
                {"key": "Shop.Gold", "value": "true", "source": "OPENMETADATA"},
                {"key": "Tier.Tier1", "value": "true", "source": "OPENMETADATA"},
                {"key": "glossary_term", "value": "Sales.Order", "source": "OPENMETADATA"},
            ]
        },
        "datasetType": {"datasetType": "TABLE"},
        "lineage": {"inputs": [source], "fields": {"id": {"inputs": [{**source, "field": "id"}]}}},
    }
    topic = facets_of(seen)["orders.v1"]
    assert topic["schema"] == {"fields": [{"name": "id", "type": "LONG", "ordinal_position": 1}]}
    assert (seen.unseen, om.poll(seen).events) == ((), ())


def test_a_walk_goes_on_beyond_the_topic_into_the_warehouse(om: Catalog, graph: Server) -> None:
    om.plant_estate()
    sends = run_event(job="shop", inputs=[dataset("clicks")], outputs=[dataset("orders.v1", KAFKA)])
    first = om.poll()
    om.there.plant("table", REVENUE)
    second = om.poll(first)
    graph.send(sends, *map(encode, first.events))
    assert "shop.public.revenue" in json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    graph.send(*map(encode, second.events))
    found = json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    assert ("shop.public.orders" in found, "shop.public.revenue" in found) == (True, False)


def test_what_was_published_does_not_come_back(om: Catalog) -> None:
    published = edge("table", ORDERS, "OpenLineage")
    om.there.plant("table", ORDERS, description="From an event.", updatedBy="lineagebridge-bot")
    om.there.plant("table", REVENUE, updatedBy="ann", description="Ann's.", upstreamLineage=[published])
    seen = om.poll(published_by=("lineagebridge-bot",))
    assert facets_of(seen) == {"shop.public.revenue": {"documentation": {"description": "Ann's."}}}
    assert "lineage" in facets_of(om.poll(openlineage=True))["shop.public.revenue"]
    pipeline = {"id": "6c2b1c3a-0c0e-4a53-9f5e-0d0c5c1f0a11", "type": "pipeline", "fullyQualifiedName": "spark_openlineage.load"}
    om.there.plant("table", REVENUE, updatedBy="ann", description="Ann's.", upstreamLineage=[{**published, "pipeline": pipeline}])
    assert facets_of(om.poll()).keys() >= {"shop.public.revenue"}
    assert "lineage" not in facets_of(om.poll())["shop.public.revenue"], "nor do edges that OpenMetadata's own connector made"


def test_what_a_search_leaves_out_is_gone_only_if_it_does_not_exist(om: Catalog) -> None:
    om.plant_estate()
    first = om.poll()
    om.there.hidden = {ORDERS, REVENUE, TOPIC}
    hidden = om.poll(first)
    assert (hidden.events, len(hidden.snapshot["assets"]["tables"])) == ((), 2)
    om.there.denied = {ORDERS}
    del om.there.there["table", ORDERS], om.there.there["topic", TOPIC]
    gone = om.poll(hidden)
    assert facets_of(gone).keys() == {"orders.v1"}, "one that may not be read counts as there"
    assert all(facet == {"_deleted": True} for facet in facets_of(gone)["orders.v1"].values())


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(403, {"code": 403, "message": "no"}), ForbiddenError),
        (Answer(404, {"code": 404, "message": "no"}), MissingError),
        (Answer(200, {"hits": {"total": {"value": 0}}}), SourceError),
        (Answer(200, {"timed_out": True, "hits": {"hits": []}}), SourceError),
        (Answer(200, {"_shards": {"total": 2, "failed": 1}, "hits": {"hits": []}}), SourceError),
        (Answer(200, {"hits": {"hits": [{"_source": {"fullyQualifiedName": ORDERS}}]}}), SourceError),
        (Answer(200, []), SourceError),
    ],
)
def test_a_list_that_fails_ends_nothing_and_the_other_one_is_read(om: Catalog, answer: Answer, error: type[SourceError]) -> None:
    om.plant_estate()
    first = om.poll()
    om.there.there.clear()
    om.there.answers = [answer, answer]
    with pytest.raises(error) as raised:
        om.poll(first)
    assert raised.value.hint
    om.there.answers = [answer]
    partly = om.poll(first)
    assert ([entry.what for entry in partly.unseen], list(facets_of(partly))) == (["tables"], ["orders.v1"])


def test_odd_documents_are_left_out_one_by_one(om: Catalog) -> None:
    odd: list[Any] = [
        None,
        {"_source": {"fullyQualifiedName": 5}},
        {"_source": {"fullyQualifiedName": "a.b"}},
        {
            "_source": {
                "fullyQualifiedName": ORDERS,
                "columns": [None, {"name": "id"}],
                "owners": "x",
                "tags": [5],
                "tier": [],
                "upstreamLineage": [1, {"fromEntity": 5, "columns": [2]}],
            }
        },
        {
            "_source": {
                "fullyQualifiedName": REVENUE,
                "upstreamLineage": [
                    {**edge("table", ORDERS), "columns": [{"fromColumns": 7, "toColumn": f"{REVENUE}.x"}, {"toColumn": f"{ORDERS}.id"}]}
                ],
            },
            "sort": ["x"],
        },
    ]
    om.there.answers = [Answer(200, {"hits": {"hits": odd}})]
    seen = om.poll(topics=False)
    source = {"type": "DATASET", "namespace": POSTGRES, "name": "shop.public.orders"}
    assert facets_of(seen) == {
        "shop.public.orders": {"schema": {"fields": [{"name": "id", "ordinal_position": 1}]}},
        "shop.public.revenue": {"lineage": {"inputs": [source]}},
    }
    assert [(entry.what, entry.why) for entry in seen.unseen] == [("tables: entries without an id", "2 entries")]


def test_a_large_catalog_is_reported_by_several_polls_and_listed_once(om: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 300)
    om.there.page = 2
    for number in range(7):
        om.there.plant("table", f"pg.a.b.t{number}", description="x" * 100)
    names, before = list[str](), None
    for _ in range(5):
        before = om.poll(before, topics=False)
        names += facets_of(before)
    assert (names, om.there.searches) == (
        [f"a.b.t{number}" for number in range(7)],
        ["", "pg.a.b.t1", "pg.a.b.t3", "pg.a.b.t5", "pg.a.b.t6"],
    )


@pytest.mark.parametrize(
    ("namespace", "kind", "name", "dataset_name"),
    [
        (POSTGRES, "table", 's."my.db".public."a ""b"""', 'my.db.public.a "b"'),
        ("mysql://db:3306", "table", "s.default.shop.orders", "shop.orders"),
        ("arn:aws:glue:eu-west-1:123456789012", "table", "s.123456789012.sales.orders", "table/sales/orders"),
        ("bigquery", "table", "s.project.dataset.t", "project.dataset.t"),
        (KAFKA, "topic", 's."orders.v1"', "orders.v1"),
    ],
)
def test_names_are_those_of_openlineage(namespace: str, kind: str, name: str, dataset_name: str) -> None:
    names = OpenMetadataNames({namespace: "s"})
    assert names.dataset(kind, name) == (namespace, dataset_name)
    assert names.dataset("dashboard", name) is None
    inner = f"{name}.Record.a.b" if kind == "topic" else f"{name}.a.b"
    assert names.column(kind, inner) == ((namespace, dataset_name), "a.b")


@pytest.mark.parametrize("name", ["", "a..b", 'a."b', 'a"b".c', "a.b.", '"a"b'])
def test_names_that_are_not_well_formed_have_no_parts(name: str) -> None:
    assert split_name(name) == []


def test_the_kind_is_offered_and_its_test_names_what_is_unknown(om: Catalog) -> None:
    assert KINDS.load("openmetadata").settings is OpenMetadataSourceSettings
    with pytest.raises(ValueError, match="a service has one namespace"):
        om.source(services={KAFKA: "k", "kafka://other:9092": "k"})
    om.plant_estate()
    checks = [(check.step, check.works, check.message) for check in om.source(services={KAFKA: "kafka_prod"}).test()]
    tables = "2 of the first 2 have metadata to report; no namespace is known for pg"
    assert checks == [("list tables", True, tables), ("list topics", True, "1 of the first 1 have metadata to report")]
