"""OpenMetadata by its entities: which dataset is which entity, columns, edges that belong to others, and what its rules refuse."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place
from tests.catalogs.standins.openmetadata import problem_of
from tests.catalogs.standins.openmetadata_entities import ADD_LINEAGE, CREATE_PIPELINE, SERVICE, OpenMetadataEntities, quoted
from tests.catalogs.targets.openmetadata.conftest import WAREHOUSE, server_of
from tests.events import KEY, RUNS, columns, dataset, facet, job_event, run_event, schema
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.kinds.openmetadata.names import NO_SERVICE, OTHER_NAMES, DatasetNames, pipeline_name
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.publish import Publication
from lineage_bridge.errors import ConfigError
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.targets import PublicationLedger

NOT_THERE = "datasets that OpenMetadata does not have"


# names


@pytest.mark.parametrize(
    ("namespace", "name", "services", "entities"),
    [
        ("kafka://b:9092", "orders.v1", {"kafka://b:9092": "streams"}, [("topic", 'streams."orders.v1"')]),
        ("kafka://b:9092", "orders", {"*": "all", "kafka://*": "topics", "kafka://b*": "mine"}, [("topic", "mine.orders")]),
        ("postgres://db:5432", "shop.public.orders", {"postgres://*": "pg"}, [("table", "pg.shop.public.orders")]),
        ("postgres://db:5432", "public.orders", {"postgres://*": "pg.shop"}, [("table", "pg.shop.public.orders")]),
        ("postgres://db:5432", "public.orders", {"postgres://*": "pg"}, []),
        ("mysql://db:3306", "shop.orders", {"*": "my"}, [("table", "my.default.shop.orders")]),
        ("mysql://db:3306", "shop.orders", {"*": '"my.sql".all'}, [("table", '"my.sql".all.shop.orders')]),
        ("trino://t:443", "a.b.c.d", {"*": "t"}, []),
        ("trino://t:443", "a..c", {"*": "t"}, []),
        (
            "arn:aws:glue:eu-central-1:123456789012",
            "table/shop/orders",
            {"*": "glue"},
            [("table", "glue.123456789012.shop.orders"), ("table", "glue.default.shop.orders")],
        ),
        ("s3://bucket", "a/b.csv", {"*": "lake"}, [("container", 'lake.bucket."a/b.csv"'), ("container", 'lake.bucket.a."b.csv"')]),
        ("s3://bucket", "/", {"*": "lake"}, [("container", "lake.bucket")]),
        ("abfss://box@account", "a", {"*": "lake"}, [("container", "lake.box.a")]),
        ("snowflake://x", 'D.S."A>B"', {"*": "sf"}, [("table", "sf.D.S.__reserved__quote__A__reserved__arrow__B__reserved__quote__")]),
    ],
)
def test_a_dataset_is_the_entity_that_its_namespace_and_name_say(
    namespace: str, name: str, services: dict[str, str], entities: list[tuple[str, str]]
) -> None:
    assert [tuple(found) for found in DatasetNames(services).candidates({"namespace": namespace, "name": name})] == entities


def test_tables_that_symlinks_name_come_first_and_locations_do_not_count() -> None:
    links = [
        {"namespace": "hive://m:9083", "name": "shop.t", "type": "TABLE"},
        {"namespace": "hive://m:9083", "name": "a.b", "type": "LOCATION"},
    ]
    named = {"namespace": "s3://bucket", "name": "t", "facets": {"symlinks": {"identifiers": links}}}
    names = DatasetNames({"hive://*": "hive", "s3://*": "lake"})
    assert [found.name for found in names.candidates(named)] == ["hive.default.shop.t", "lake.bucket.t"]


def test_why_a_dataset_cannot_be_found_is_said() -> None:
    names = DatasetNames({"kafka://*": "streams", "trino://*": "t"})
    assert names.reason({"namespace": "db2://h:50000", "name": "a.b.c"}) == NO_SERVICE
    assert names.reason({"namespace": "trino://t:443", "name": "a"}) == OTHER_NAMES


def test_pipelines_have_names_that_openmetadata_takes_and_no_two_jobs_the_same() -> None:
    jobs = [("n", "j"), ("n#j", "k"), ("n", "j#k"), ("n", "a::b"), ("n", "a__reserved__colon__b"), ("n", "x" * 300), ("n", "x" * 301)]
    jobs += [("n", 'say "a"'), ("n", "line\nbreak"), ("n", "line break"), ("", "j")]
    names = [pipeline_name(*job) for job in jobs]
    assert names[0] == "n#j"
    assert len(set(names)) == len(jobs)
    assert all(1 <= len(name) <= 256 and "::" not in name and '"' not in name and name.isprintable() for name in names)
    assert quoted(SERVICE, pipeline_name("kafka://b.c", "j.k")) == 'lineage-bridge."kafka://b.c#j.k"'


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"form": "entities"}, "set services"),
        ({"services": {"*": "s"}}, "leave out services, or set form = entities"),
        ({"form": "entities", "services": {"*": "a.b.c.d"}}, "give each namespace a service"),
        ({"form": "entities", "services": {"*": "s"}, "service": "a.b"}, "use a name without dots"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TargetKinds(tmp_path).make("there", "openmetadata", {"url": "http://127.0.0.1:9", **settings})


# what is published


def test_jobs_are_pipelines_and_edges_have_columns_functions_and_sql(ours: Server, there: Place) -> None:
    sources = columns(id=[("kafka://b:9092", "orders", "id")], price=[("kafka://b:9092", "orders", "PRICE"), ("ns", "away", "p")])
    sources["fields"]["id"]["inputFields"][0]["transformations"] = [{"type": "DIRECT", "subtype": "IDENTITY"}]
    sources["fields"]["price"]["inputFields"][0]["transformations"] = [
        {"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(price)"}
    ]
    event = run_event(
        run=RUNS[3],
        job="load.it",
        job_facets={"sql": facet(query="SELECT 1"), "documentation": facet(description="Loads.")},
        inputs=[dataset("orders", "kafka://b:9092", schema=schema("id", "price"))],
        outputs=[dataset("shop.public.paid", "postgres://db:5432", schema=schema("id", "price"), columnLineage=sources)],
    )
    ours.send(event)
    server_of(there).columns_of = lambda _, __: ["id", "price"]
    added(ours, there, namespaces=["kafka://*"])
    report = published(ours)
    assert report.outcomes == {"done": 1}
    assert report.not_expressible["columns of datasets that the job does not read there"] == 1
    server = server_of(there)
    (pipeline,) = (made for made in server.entities.values() if made["type"] == "pipeline")
    assert (pipeline["name"], pipeline["fullyQualifiedName"]) == ("jobs#load.it", 'lineage-bridge."jobs#load.it"')
    assert (pipeline["displayName"], pipeline["description"].split("\n\n")[0]) == ("load.it", "Loads.")
    (details,) = server.lineage.values()
    assert details["source"] == "OpenLineage"
    assert details["pipeline"]["id"] == pipeline["id"]
    assert details["sqlQuery"] == "SELECT 1"
    assert details["columnsLineage"] == [
        {"fromColumns": ["streams.orders.Record.id"], "toColumn": "warehouse.shop.public.paid.id"},
        {"fromColumns": ["streams.orders.Record.price"], "toColumn": "warehouse.shop.public.paid.price", "function": "sum(price)"},
    ]
    assert server.services == {SERVICE: "CustomPipeline"}
    assert published(ours).counts == {}


def test_datasets_that_are_not_there_are_counted_and_linked_once_they_are(ours: Server, there: Place) -> None:
    server = server_of(there)
    server.columns_of = lambda _, name: None if name.endswith((".d", ".e")) else ["x", "y"]
    report = published(ours)
    assert report.outcomes == {"done": 3}
    assert report.not_expressible[NOT_THERE] == 2
    assert server.edges() == {("clean", "a", "b"), ("load", "b", "c")}  # `declared` only reads `c`
    assert published(ours).counts == {}
    server.columns_of = lambda _, __: ["x", "y"]
    again = published(ours)
    assert (again.counts, again.drift) == ({"update": 2}, [])
    assert NOT_THERE not in again.not_expressible
    assert server.edges() == EDGES
    assert published(ours).counts == {}


def test_jobs_none_of_whose_datasets_are_there_are_not_published_and_pruned_once_they_are_gone(ours: Server, there: Place) -> None:
    server = server_of(there)
    published(ours)
    server.columns_of = lambda _, __: None
    for made in server.entities.values():
        made["deleted"] = made["type"] == "table"
    report = published(ours, prune=True)
    assert report.outcomes == {"done": 3}
    assert {item.reason for item in report.operations} == {
        "can no longer be expressed there; counted as: jobs none of whose datasets OpenMetadata has"
    }
    assert report.not_expressible["jobs none of whose datasets OpenMetadata has"] == 3
    assert (server.lineage, [made for made in server.entities.values() if made["type"] == "pipeline"]) == ({}, [])


def test_a_dataset_that_cannot_be_asked_for_holds_up_its_jobs_alone(ours: Server, there: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(there.settings["url"])
    added(ours, there.behind(proxy), tries=1, at_once=1)
    proxy.answer(500, "/tables/name/warehouse.main.public.a")
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"done": 2, "failed": 1})
    assert [(item.action, item.name) for item in report.operations if item.outcome != "done"] == [("read", "clean")]
    assert "answered 500" in report.error
    proxy.mend()
    assert published(ours).outcomes == {"done": 1}


def test_columns_of_containers_are_published(ours: Server, there: Place) -> None:
    sources = columns(id=[("s3://bucket", "in.csv", "id")])
    read, written = dataset("in.csv", "s3://bucket"), dataset("out.csv", "s3://bucket", columnLineage=sources)
    ours.send(run_event(run=RUNS[3], job="convert", inputs=[read], outputs=[written]))
    assert "columns that OpenMetadata does not have" not in published(ours).not_expressible
    mappings = [mapping for details in server_of(there).lineage.values() for mapping in details["columnsLineage"]]
    assert {"fromColumns": ['lake.bucket."in.csv".id'], "toColumn": 'lake.bucket."out.csv".id'} in mappings
    assert published(ours).counts == {}


def test_a_404_of_a_proxy_is_no_absence(ours: Server, there: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(there.settings["url"])
    added(ours, there.behind(proxy), tries=1)
    published(ours)
    lineage = dict(server_of(there).lineage)
    for body in (b"<html>no route</html>", b'{"error": "no route"}'):
        proxy.answer(404, "/api/v1/", body=body)
        report = published(ours, prune=True)
        assert (report.state, report.outcomes, report.counts) == ("failed", {}, {})
        assert "answered 404" in report.error
        proxy.mend()
    assert server_of(there).lineage == lineage
    assert published(ours, prune=True).counts == {}


def test_a_change_that_meets_another_one_is_tried_again_by_the_next_publication(ours: Server, there: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(there.settings["url"])
    added(ours, there.behind(proxy), tries=1, at_once=1)
    proxy.answer(409, "/api/v1/pipelines", times=1, body=b'{"code": 409, "message": "Entity already exists"}')
    report = published(ours)
    assert report.outcomes == {"done": 2, "failed": 1}
    assert published(ours).outcomes == {"done": 1}
    assert server_of(there).edges() == EDGES


def test_jobs_that_only_read_or_write_are_nodes(ours: Server, there: Place) -> None:
    ours.send(
        job_event("reads", inputs=[dataset("a")]),
        job_event("writes", outputs=[dataset("a")]),
        job_event("loops", inputs=[dataset("a")], outputs=[dataset("a")]),
    )
    assert published(ours).outcomes == {"done": 6}
    server = server_of(there)
    table = server.named("table", WAREHOUSE + "a")
    ids = {made["displayName"]: id_ for id_, made in server.entities.items() if made["type"] == "pipeline"}
    assert table
    assert {ends for ends in server.lineage if ids["reads"] in ends} == {(table["id"], ids["reads"])}
    assert {ends for ends in server.lineage if ids["writes"] in ends} == {(ids["writes"], table["id"])}
    assert {ends for ends in server.lineage if ids["loops"] in ends} == {(table["id"], ids["loops"]), (ids["loops"], table["id"])}
    assert published(ours).counts == {}


def test_a_pipeline_service_of_another_type_is_not_used(ours: Server, there: Place) -> None:
    server_of(there).services[SERVICE] = "Airflow"
    assert [check.works for check in ours.targets.test("there")] == [True, True, False]
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "is of the type Airflow" in report.error
    added(ours, there, service="lineage")
    assert published(ours).outcomes == {"done": 3}


def test_after_a_change_only_what_changed_is_asked_for(ours: Server, there: Place, faulty: Any) -> None:
    """A second publication of one job that changed, as continuous publishing does it, looks up its datasets alone."""
    proxy: Faulty = faulty(there.settings["url"])
    added(ours, there.behind(proxy))
    published(ours)
    proxy.requests.clear()
    ours.send(job_event("more", inputs=[dataset("a")], outputs=[dataset("z")]))
    target = ours.targets.target("there")
    publisher = Publisher(target, PublicationLedger(ours.state), graph_id(KEY), lambda: ours.parts.now_us)
    running = PublicationReport("running", plan_only=False, prune=False, overwrite=False, started_us=ours.parts.now_us)
    report = Publication(publisher, ours.pool.reader, running, lambda _: None, changed_only=True).run()
    target.close()
    assert report.outcomes == {"done": 1}
    asked = [found for found in proxy.requests if "/tables/name/" in found]
    assert asked == ["GET /api/v1/tables/name/warehouse.main.public.a", "GET /api/v1/tables/name/warehouse.main.public.z"]


def test_the_stand_in_refuses_what_openmetadata_does() -> None:
    server = OpenMetadataEntities()
    table, other = server.put("table", "s.d.c.a", ["x"]), server.put("table", "s.d.c.b", ["y"])
    ends = {name: {"id": made["id"], "type": "table"} for name, made in (("fromEntity", table), ("toEntity", other))}
    assert problem_of({"edge": {**ends, "extra": 1}}, ADD_LINEAGE, "$") == 'Unrecognized field "extra" at $.edge'
    assert problem_of({"edge": {"fromEntity": {"id": "no", "type": "table"}}}, ADD_LINEAGE, "$") == "$.edge.toEntity must not be null"
    assert problem_of({"name": "a", "service": "s", "serviceType": "b"}, CREATE_PIPELINE, "$") == 'Unrecognized field "serviceType" at $'
    assert server._add({"edge": {**ends, "toEntity": ends["fromEntity"]}}).status == 400
    assert server._add({"edge": {**ends, "lineageDetails": {"source": "Own"}}}).status == 400
    assert server._add({"edge": {**ends, "toEntity": {"id": ends["toEntity"]["id"], "type": "topic"}}}).status == 404
    lost = {
        "columnsLineage": [
            {"fromColumns": ["s.d.c.a.x", "s.d.c.a.q"], "toColumn": "s.d.c.b.y"},
            {"fromColumns": ["s.d.c.a.x"], "toColumn": "q"},
        ]
    }
    assert server._add({"edge": {**ends, "lineageDetails": lost}}).status == 200
    (details,) = server.lineage.values()
    assert details["columnsLineage"] == [{"fromColumns": ["s.d.c.a.x"], "toColumn": "s.d.c.b.y"}]
    assert server._put_pipeline({"name": "a::b", "service": SERVICE}).status == 400
    assert server._put_pipeline({"name": "a", "service": SERVICE}).status == 404
