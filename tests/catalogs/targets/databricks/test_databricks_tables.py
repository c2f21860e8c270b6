"""Tables of Unity Catalog: the properties, comments and tags that they get, what others wrote, and what goes wrong in a warehouse."""

import json
from functools import partial
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.estate import published_row, send_estate, undocumented
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.databricks import UnityCatalog
from tests.catalogs.test_golden import check_golden
from tests.catalogs.test_targets import CrashError, CrashingLedger
from tests.events import KEY, RUNS, T0, dataset, facet, run_event, schema
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.desired import desired_state
from lineage_bridge.catalogs.kinds.databricks.naming import table_of
from lineage_bridge.catalogs.kinds.databricks.objects import job_objects
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.errors import StoppedError
from lineage_bridge.graph.ids import NodeKind, graph_id
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG
from lineage_bridge.sources.confluent.tableflow.parse import UNITY, ClusterLocation, Integration
from lineage_bridge.sources.confluent.tableflow.parse import table_of as tableflow_table
from lineage_bridge.store.state.targets import PublicationLedger

HOST = "localhost"
HERE = f"unitycatalog://{HOST}"
TABLE, SECOND = "main.sales.orders", "main.sales.revenue"
PREFIX = "lineagebridge."
MORE = [f"00000000-0000-4000-8000-{number:012}" for number in range(6)]


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("databricks", request, ours)
    made.settings["url"] = made.settings["url"].replace("127.0.0.1", HOST)
    added(ours, made, namespaces=["kafka://*", "ns2"])
    return made


@pytest.fixture
def there(place: Place) -> UnityCatalog:
    """A metastore with two tables, of which external lineage knows the columns too."""
    found: UnityCatalog = place.more["there"]
    for name in (TABLE, SECOND):
        found.sql.add(name, "Id", "price")
        found.tables[name] = ["Id", "price"]
    return found


def tags(*found: tuple[str, ...]) -> dict[str, Any]:
    """A tags facet of keys and values, and columns if there is a third member."""
    members = ({"key": key, "value": value, "source": "test", **({"field": rest[0]} if rest else {})} for key, value, *rest in found)
    return facet(tags=list(members))


def sink(table: str = TABLE, *, job: str = "sink", run: int = 3, time_us: int = T0, **facets: Any) -> bytes:
    """An event of a connector that writes a topic to a table."""
    kind = facet(processingType="STREAMING", integration="KAFKA_CONNECT", jobType="CONNECTOR")
    topic = dataset("orders", "kafka://broker:9092", confluent_kafka=facet(cluster_id="lkc-1", environment_id="env-1"))
    out = dataset(table, HERE, schema=schema("id", "price"), **facets)
    return run_event(
        run=RUNS[run],
        job=job,
        namespace="kafka://broker:9092",
        time_us=time_us,
        job_facets={"jobType": kind},
        inputs=[topic],
        outputs=[out],
    )


def own(there: UnityCatalog, table: str = TABLE) -> dict[str, str]:
    found = there.sql.tables[table]["properties"]
    return {name.removeprefix(PREFIX): value for name, value in found.items() if name.startswith(PREFIX)}


def of_tables(report: Any) -> dict[str, tuple[str, str]]:
    return {found.name: (found.action, found.outcome) for found in report.operations if found.kind == "dataset"}


def test_a_table_gets_its_lineage_as_properties_a_comment_and_tags_and_then_nothing(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink(documentation=facet(description="All orders."), tags=tags(("tier", "gold"), ("pii", "true", "id"))))
    report = published(ours)
    assert (report.state, of_tables(report)) == ("done", {TABLE: ("create", "done")})
    found = own(there)
    assert (found["source_topics"], found["source_connectors"], found["pipeline_type"]) == ("orders", "sink", "connector")
    assert (found["producing_jobs"], found["cluster_id"], found["environment_id"]) == ("kafka://broker:9092 sink", "lkc-1", "env-1")
    assert json.loads(found["upstream_chain"]) == [
        {"hop": 1, "job": "kafka://broker:9092 sink", "kind": "CONNECTOR", "inputs": ["kafka://broker:9092 orders"]}
    ]
    assert there.sql.tables[TABLE]["comment"] == "All orders."
    assert there.sql.tags == {(TABLE, ""): {"tier": "gold"}, (TABLE, "Id"): {"pii": "true"}}
    assert report.written == {"external_metadata": 2, "relationships": 2, "tables": 1, "properties": 10, "comments": 1, "tags": 2}
    before = list(there.statements)
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])
    assert [text.split()[0] for text in there.statements[len(before) :]] == ["SELECT"]


def test_without_a_warehouse_nothing_is_written_and_the_report_says_so(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, namespaces=["kafka://*"], warehouse_id="")
    ours.send(sink(), sink(SECOND, job="other", run=4))
    report = published(ours)
    assert report.not_expressible["properties, comments and tags of tables, which need a SQL warehouse"] == 2
    assert (report.state, there.statements, own(there)) == ("done", [], {})


def test_upstream_is_walked_through_tables_and_topics_to_all_topics(ours: Server, there: UnityCatalog) -> None:
    ours.send(
        sink(),
        run_event(
            run=RUNS[4],
            job="join",
            namespace="kafka://broker:9092",
            inputs=[dataset("raw", "kafka://broker:9092")],
            outputs=[dataset("orders", "kafka://broker:9092")],
        ),
        run_event(
            run=MORE[0], job="model", namespace="kafka://broker:9092", inputs=[dataset(TABLE, HERE)], outputs=[dataset(SECOND, HERE)]
        ),
    )
    published(ours)
    assert own(there, SECOND)["source_topics"] == "orders,raw"
    assert [entry["hop"] for entry in json.loads(own(there, SECOND)["upstream_chain"])] == [1, 2, 3]
    assert own(there)["consuming_jobs"] == "kafka://broker:9092 model"
    assert there.sql.tables[SECOND]["comment"] == f"Written by model from {TABLE}."


def test_what_changed_is_changed_alone_and_what_left_the_graph_is_removed_with_it(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink(documentation=facet(description="old"), tags=tags(("tier", "gold"), ("team", "a"))))
    published(ours)
    there.sql.tags[TABLE, ""]["theirs"] = "1"
    there.sql.tables[TABLE]["properties"]["delta.theirs"] = "1"
    count = len(there.statements)
    ours.send(sink(time_us=T0 + 9, run=4, documentation=facet(description="new"), tags=tags(("tier", "silver"))))
    report = published(ours)
    assert of_tables(report) == {TABLE: ("update", "done")}
    assert there.sql.tables[TABLE]["comment"] == "new"
    assert there.sql.tags[TABLE, ""] == {"tier": "silver", "theirs": "1"}
    assert [text.split(" (")[0] for text in there.statements[count:] if not text.startswith("SELECT")] == [
        "ALTER TABLE `main`.`sales`.`orders` UNSET TAGS",
        "ALTER TABLE `main`.`sales`.`orders` SET TBLPROPERTIES",
        "COMMENT ON TABLE `main`.`sales`.`orders` IS 'new'",
        "ALTER TABLE `main`.`sales`.`orders` SET TAGS",
    ]
    assert published(ours).counts == {}


def test_prune_removes_only_what_was_published(ours: Server, place: Place, there: UnityCatalog) -> None:
    ours.send(sink(documentation=facet(description="ours"), tags=tags(("tier", "gold"), ("pii", "true", "price"))))
    there.sql.tables[TABLE]["columns"]["price"] = "theirs"
    there.sql.tables[TABLE]["properties"]["delta.theirs"] = "1"
    there.sql.tags[TABLE, ""] = {"theirs": "1"}
    published(ours)
    added(ours, place, exclude_namespaces=["*"])
    kept = published(ours)
    assert kept.kept["no longer to be published; --prune deletes it"] == 2
    assert published(ours, prune=True).outcomes == {"done": 2}
    left = there.sql.tables[TABLE]
    assert (left["properties"], left["comment"], left["columns"]["price"]) == ({"delta.theirs": "1"}, "", "theirs")
    assert {key: found for key, found in there.sql.tags.items() if found} == {(TABLE, ""): {"theirs": "1"}}
    assert published(ours, prune=True).counts == {}


def test_what_others_wrote_is_left_alone_and_named(ours: Server, there: UnityCatalog) -> None:
    there.sql.tables[TABLE] |= {"comment": "theirs", "columns": {"Id": "their id", "price": ""}}
    there.sql.tags[TABLE, ""] = {"tier": "bronze", "team": "a"}
    columns = {**schema("x"), "fields": [{"name": name, "type": "int", "description": f"our {name}"} for name in ("id", "price")]}
    ours.send(
        run_event(
            run=RUNS[3],
            job="sink",
            namespace="kafka://broker:9092",
            outputs=[
                dataset(TABLE, HERE, schema=columns, documentation=facet(description="ours"), tags=tags(("tier", "gold"), ("team", "a")))
            ],
        )
    )
    report = published(ours)
    (done,) = (found for found in report.operations if found.kind == "dataset")
    assert (done.outcome, done.detail) == ("done", "left as others wrote it: comment, comment of Id, tag tier")
    assert there.sql.tables[TABLE]["comment"] == "theirs"
    assert there.sql.tables[TABLE]["columns"] == {"Id": "their id", "price": "our price"}
    assert there.sql.tags[TABLE, ""] == {"tier": "bronze", "team": "a"}
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


@pytest.mark.parametrize("what", ["comment", "tag", "property", "tag gone"])
def test_what_others_changed_is_drift_and_only_what_is_gone_is_written_again(ours: Server, there: UnityCatalog, what: str) -> None:
    ours.send(sink(documentation=facet(description="ours"), tags=tags(("tier", "gold"))))
    published(ours)
    table = there.sql.tables[TABLE]
    match what:
        case "comment":
            table["comment"] = "theirs"
        case "tag":
            there.sql.tags[TABLE, ""]["tier"] = "bronze"
        case "property":
            table["properties"][f"{PREFIX}source_topics"] = "none"
        case _:
            del there.sql.tags[TABLE, ""]["tier"]
    report = published(ours)
    assert [(found.name, found.finding) for found in report.drift] == [(TABLE, "was changed there")]
    assert report.counts == {}
    assert published(ours, overwrite=True).outcomes == {"done": 1}
    shown = (table["comment"], there.sql.tags[TABLE, ""]["tier"], own(there)["source_topics"])
    assert shown == ("theirs" if what == "comment" else "ours", "bronze" if what == "tag" else "gold", "orders")
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


def test_properties_that_the_ledger_does_not_know_are_of_another_publisher(ours: Server, there: UnityCatalog) -> None:
    there.sql.tables[TABLE]["properties"][f"{PREFIX}source_topics"] = "theirs"
    ours.send(sink())
    report = published(ours)
    assert [(found.name, found.finding) for found in report.drift] == [(TABLE, "was there before, and was not published from here")]
    assert own(there) == {"source_topics": "theirs"}


HOSTILE = ["it's", "a\\", "\\'; DROP TABLE x; --", "${env:HOME} $1", "`x`", "line\nbreak", "é \u2028 🎈", "100%_\\%"]


def test_hostile_texts_arrive_as_they_are(ours: Server, there: UnityCatalog) -> None:
    name = "main.sales.we`ird'\\"
    there.sql.add(name, "co`l'\\")
    there.tables[name] = []
    keys = [(f"key{number}'`\\ x", text) for number, text in enumerate(HOSTILE) if "\n" not in text]
    found = {"fields": [{"name": "co`l'\\", "type": "int", "description": HOSTILE[2]}]}
    ours.send(
        run_event(
            run=RUNS[3],
            job="sink '\\",
            namespace="kafka://broker:9092",
            inputs=[dataset("to'pic\\", "kafka://broker:9092")],
            outputs=[
                dataset(name, HERE, schema={**schema("x"), **found}, documentation=facet(description=" | ".join(HOSTILE)), tags=tags(*keys))
            ],
        )
    )
    assert published(ours).outcomes == {"done": 2}
    assert there.sql.tables[name]["comment"] == " | ".join(HOSTILE)
    assert there.sql.tables[name]["columns"] == {"co`l'\\": HOSTILE[2]}
    assert there.sql.tags[name, ""] == dict(keys)
    assert own(there, name)["source_topics"] == "to'pic\\"
    assert published(ours).counts == {}


def test_tags_and_names_that_the_metastore_does_not_take_are_counted(ours: Server, there: UnityCatalog) -> None:
    wrong = [("a.b", "1"), ("x" * 256, "1"), (" x", "1"), ("value", "y" * 1001), ("lineagebridge", "1"), ("a=b", "1")]
    many = [(f"t{number}", "1") for number in range(52)]
    ours.send(sink(tags=tags(*wrong)), sink(SECOND, job="other", run=4, tags=tags(*many)))
    ours.send(sink("a/b c.d.e", job="path", run=0))
    report = published(ours)
    assert report.not_expressible["tags that Unity Catalog does not take"] == len(wrong) + 2
    assert report.not_expressible["properties, comments and tags of tables with a name that Unity Catalog does not allow"] == 1
    assert len(there.sql.tags[SECOND, ""]) == 50
    assert (TABLE, "") not in there.sql.tags
    assert not any("a/b c" in text for text in (*there.requests, *there.statements))


def test_long_chains_lose_their_farthest_hops(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink())
    for number in range(6):
        name = "j" * 600 + str(number)
        source, target = (f"t{number + 1}", f"t{number}" if number else "orders")
        ours.send(
            run_event(
                run=MORE[number],
                job=name,
                namespace="kafka://broker:9092",
                inputs=[dataset(source, "kafka://broker:9092")],
                outputs=[dataset(target, "kafka://broker:9092")],
            )
        )
    published(ours)
    found = own(there)
    assert len(found["upstream_chain"]) <= 3000
    assert [entry["hop"] for entry in json.loads(found["upstream_chain"])] == [1, 2, 3, 4, 5]
    assert found["upstream_truncated"] == "true"
    assert found["source_topics"] == "orders,t1,t2,t3,t4,t5,t6"


@pytest.mark.parametrize(
    ("kind", "altered"),
    [
        ("MANAGED", "TABLE"),
        ("EXTERNAL", "TABLE"),
        ("VIEW", "VIEW"),
        ("STREAMING_TABLE", "STREAMING TABLE"),
        ("MATERIALIZED_VIEW", "MATERIALIZED VIEW"),
    ],
)
def test_each_type_of_table_is_altered_as_documented_and_pruned(
    ours: Server, place: Place, there: UnityCatalog, kind: str, altered: str
) -> None:
    there.sql.add(TABLE, "Id", kind=kind)
    ours.send(sink(documentation=facet(description="ours"), tags=tags(("tier", "gold"), ("pii", "true", "id"))))
    assert set(published(ours).outcomes) == {"done"}
    assert there.sql.tables[TABLE]["comment"] == ("ours" if altered in ("TABLE", "VIEW") else "")
    assert there.sql.tags[TABLE, ""]["tier"] == "gold"
    assert there.sql.tags[TABLE, "Id"] == {"pii": "true"}
    assert bool(own(there)) == (altered in ("TABLE", "VIEW"))
    assert any(text.startswith(f"ALTER {altered} ") for text in there.statements)
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])
    there.sql.tags[TABLE, ""]["tier"] = "bronze"
    assert [found.finding for found in published(ours).drift] == ["was changed there"]
    there.sql.tags[TABLE, ""]["tier"] = "gold"
    added(ours, place, exclude_namespaces=["*"])
    assert set(published(ours, prune=True).outcomes) == {"done"}
    assert (there.sql.tables[TABLE]["comment"], own(there), [found for found in there.sql.tags.values() if found]) == ("", {}, [])


def test_a_table_of_tableflow_is_one_of_these(ours: Server, there: UnityCatalog) -> None:
    there.sql.add("flow.lkc-1.orders_v2", "id", kind="EXTERNAL")
    there.tables["flow.lkc-1.orders_v2"] = ["id"]
    kind = facet(processingType="STREAMING", integration="CONFLUENT", jobType="TABLEFLOW")
    ours.send(
        run_event(
            "RUNNING",
            run=RUNS[3],
            job="tableflow/orders.v2",
            namespace="kafka://broker:9092",
            job_facets={"jobType": kind},
            inputs=[dataset("orders.v2", "kafka://broker:9092")],
            outputs=[dataset("tableflow/orders.v2", "kafka://broker:9092"), dataset("flow.lkc-1.orders_v2", HERE)],
        )
    )
    published(ours)
    found = own(there, "flow.lkc-1.orders_v2")
    assert (found["source_topics"], found["pipeline_type"]) == ("orders.v2", "tableflow")
    assert there.sql.tables["flow.lkc-1.orders_v2"]["comment"] == "Written by tableflow/orders.v2 from orders.v2."


@pytest.mark.parametrize(
    "endpoint", ["https://dbc-1.cloud.databricks.com", "https://DBC-1.cloud.databricks.com/?o=7", "dbc-1.cloud.databricks.com"]
)
def test_the_tables_that_sources_of_confluent_cloud_name_are_those_of_the_workspace(endpoint: str) -> None:
    catalog = Integration(UNITY, endpoint=endpoint, catalog="Flow")
    name = tableflow_table("orders.v2", catalog, ClusterLocation("lkc-1", "eu-west-1", {}))
    assert name is not None
    settings = DatabricksSettings.model_validate({"url": "https://dbc-1.cloud.databricks.com", "token": "${env:PATH}"})
    assert table_of({"namespace": name[0], "name": name[1]}, settings) == "flow.lkc-1.orders_v2"


def test_other_names_of_a_table_are_the_same_table(ours: Server, there: UnityCatalog) -> None:
    spark = dataset("orders", "s3://lake", symlinks=facet(identifiers=[{"namespace": HERE, "name": "Main.Sales.Orders", "type": "TABLE"}]))
    ours.send(sink(), run_event(run=RUNS[4], job="spark", namespace="kafka://broker:9092", outputs=[spark]))
    report = published(ours)
    assert of_tables(report) == {TABLE: ("create", "done")}
    assert own(there)["producing_jobs"] == "kafka://broker:9092 sink,kafka://broker:9092 spark"


# what goes wrong


def test_rights_that_one_table_does_not_give_hold_up_no_other(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink(tags=tags(("tier", "gold"))), sink(SECOND, job="other", run=4))
    there.sql.denied = {TABLE}
    report = published(ours)
    assert (report.state, of_tables(report)) == ("failed", {TABLE: ("create", "failed"), SECOND: ("create", "done")})
    (failed,) = (found for found in report.operations if found.outcome == "failed")
    assert "INSUFFICIENT_PERMISSIONS" in failed.detail
    assert "grant MODIFY and APPLY TAG" in failed.detail
    there.sql.denied = set()
    assert of_tables(published(ours)) == {TABLE: ("update", "done")}
    assert published(ours).counts == {}


def test_a_table_that_may_not_be_read_is_not_taken_for_gone(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink(tags=tags(("tier", "gold"))), sink(SECOND, job="other", run=4))
    published(ours)
    there.denied = {TABLE}
    report = published(ours)
    assert report.drift == []
    (unread,) = (found for found in report.operations if found.kind == "dataset")
    assert (unread.action, unread.name, unread.outcome, unread.code) == ("read", TABLE, "failed", "forbidden")
    assert "grant SELECT" in unread.detail or "SELECT" in unread.detail


def test_without_the_right_to_tag_the_rest_is_there_and_tags_follow(ours: Server, there: UnityCatalog) -> None:
    there.sql.may_tag = False
    ours.send(sink(documentation=facet(description="ours"), tags=tags(("tier", "gold"))))
    assert of_tables(published(ours)) == {TABLE: ("create", "failed")}
    assert there.sql.tables[TABLE]["comment"] == "ours"
    there.sql.may_tag = True
    assert of_tables(published(ours)) == {TABLE: ("update", "done")}
    assert there.sql.tags[TABLE, ""] == {"tier": "gold"}
    assert published(ours).counts == {}


@pytest.mark.parametrize("kind", ["", "FOREIGN", "STREAMING_TABLE"])
def test_a_table_that_cannot_be_changed_is_refused_once(ours: Server, there: UnityCatalog, kind: str) -> None:
    if kind:
        there.sql.add(TABLE, kind=kind)
    else:
        del there.sql.tables[TABLE]
    ours.send(sink())
    assert of_tables(published(ours)) == {TABLE: ("create", "refused")}
    assert published(ours).kept == {"refused there before, and unchanged since": 1}
    assert there.sql.tags == {}


@pytest.mark.parametrize("at", range(1, 6))
def test_after_a_statement_that_failed_the_next_publication_does_the_rest(ours: Server, there: UnityCatalog, at: int) -> None:
    ours.send(sink(documentation=facet(description="old"), tags=tags(("tier", "gold"), ("team", "a"), ("pii", "true", "id"))))
    published(ours)
    ours.send(sink(time_us=T0 + 9, run=4, documentation=facet(description="new"), tags=tags(("tier", "silver"), ("pii", "false", "id"))))
    original, left = there.sql.rows, [at]

    def broken(text: str, given: dict[str, str]) -> list[list[str | None]]:
        if not text.startswith("SELECT"):
            left[0] -= 1
            if left[0] == 0:
                there.failing.append({"state": "FAILED", "error": {"error_code": "INTERNAL_ERROR", "message": "lost"}})
        return original(text, given)

    there.sql.rows = broken  # type: ignore[method-assign]  # the statement after this one fails
    first = published(ours)
    assert first.state == ("failed" if at < 5 else "done")
    there.sql.rows = original  # type: ignore[method-assign]  # as above
    published(ours)
    assert there.sql.tables[TABLE]["comment"] == "new"
    assert there.sql.tags == {(TABLE, ""): {"tier": "silver"}, (TABLE, "Id"): {"pii": "false"}}
    again = published(ours)
    assert (again.counts, again.drift) == ({}, [])


def test_a_warehouse_that_starts_is_waited_for(ours: Server, there: UnityCatalog) -> None:
    there.under_way = 40
    waits: list[float] = []
    ours.wait = waits.append
    ours.send(sink())
    assert set(published(ours).outcomes) == {"done"}
    assert max(waits) == 5.0
    assert own(there)


def test_a_statement_that_does_not_end_is_cancelled_and_comes_again(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, namespaces=["kafka://*"], statement_timeout_s=9, tries=1)
    there.under_way = 1000
    ours.wait = lambda _: None
    ours.send(sink())
    report = published(ours)
    assert of_tables(report) == {TABLE: ("create", "failed")}
    assert "did not end within 9 s" in report.error
    assert there.cancelled == ["statement-0"]
    there.under_way = 0
    assert of_tables(published(ours)) == {TABLE: ("update", "done")}


def test_a_statement_is_cancelled_when_the_publication_is(ours: Server, there: UnityCatalog) -> None:
    def stop(_: float) -> None:
        raise StoppedError("the publication was stopped")

    there.under_way, ours.wait = 3, stop
    ours.send(sink())
    report = published(ours)
    assert (report.state, there.cancelled) == ("cancelled", ["statement-0"])


@pytest.mark.usefixtures("there")
def test_a_warehouse_that_is_not_there_ends_the_publication_with_the_reason(ours: Server, place: Place) -> None:
    added(ours, place, namespaces=["kafka://*"], warehouse_id="other", at_once=1)
    ours.send(sink())
    report = published(ours)
    assert (report.state, report.outcomes.get("done", 0)) == ("failed", 0)
    assert "no such warehouse" in report.error
    assert [check.works for check in ours.targets.test("there")] == [True, True, False]


def test_a_storm_over_statements_passes(ours: Server, place: Place, there: UnityCatalog, faulty: Any) -> None:
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), namespaces=["kafka://*"], table_namespaces=[HERE], at_once=1)
    waits: list[float] = []
    ours.wait = waits.append
    proxy.answer(429, "/statements", times=2, headers={"Retry-After": "7"})
    proxy.answer(503, "/statements", times=2, headers={"Retry-After": "11"})
    ours.send(sink())
    assert set(published(ours).outcomes) == {"done"}
    assert [wait for wait in waits if wait >= 6] == [7.0, 7.0, 11.0, 11.0]
    assert own(there)


def test_tags_of_many_tables_are_read_by_few_statements(ours: Server, there: UnityCatalog) -> None:
    for number in range(60):
        there.sql.add(f"main.many.t{number}", "id")
        there.tables[f"main.many.t{number}"] = ["id"]
    outputs = [dataset(f"main.many.t{number}", HERE, tags=tags(("tier", "gold"))) for number in range(60)]
    ours.send(run_event(run=RUNS[3], job="wide", namespace="kafka://broker:9092", outputs=outputs))
    published(ours)
    assert sum(text.startswith("SELECT") for text in there.statements) == 2
    count = len(there.statements)
    assert published(ours).counts == {}
    assert 2 <= len(there.statements) - count <= 3
    assert sum(text.startswith("ALTER") for text in there.statements) == 120


def test_an_unchanged_graph_without_tags_starts_no_warehouse(ours: Server, there: UnityCatalog) -> None:
    ours.send(sink())
    published(ours)
    there.statements.clear()
    assert published(ours).counts == {}
    assert there.statements == []


def test_what_a_source_read_there_is_not_written_back(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, namespaces=[HERE, "databricks://*"])
    seen = {"_producer": "https://lineagebridge.dev/sources/unity", "_schemaURL": "s"}
    read = {"tags": [{"key": "tier", "value": "gold", "source": "UNITY_CATALOG"}]}
    own_job = facet(processingType="BATCH", integration="DATABRICKS", jobType="JOB")
    facets = {"jobType": own_job, FROM_CATALOG: facet(catalog="unity")}
    outputs = [dataset(SECOND, HERE, tags={**seen, **read}, documentation={**seen, "description": "theirs"})]
    ours.send(run_event(run=RUNS[3], job="7/job/1", namespace=f"databricks://{HOST}", job_facets=facets, outputs=outputs))
    report = published(ours)
    assert report.not_expressible["tables about which only Databricks has stated anything"] == 1
    assert (of_tables(report), there.statements) == ({}, [])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_after_a_crash_at_any_step_the_rest_is_published(ours: Server, place: Place, there: UnityCatalog, after: bool) -> None:
    ours.parts.alive = False  # the process of the publication that crashed
    for crash_at in range(1, 6):
        text = f"{crash_at}. description"
        ours.send(sink(time_us=T0 + crash_at, run=3 + crash_at % 2, documentation=facet(description=text), tags=tags(("tier", text))))
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=after)
        added(ours, place, namespaces=["kafka://*"], map_names={"sink": f"sink{crash_at}"})
        with pytest.raises(CrashError):
            published(ours)
        ours.publication_ledger = PublicationLedger
        assert set(published(ours).outcomes) <= {"done"}
        assert (there.sql.tables[TABLE]["comment"], there.sql.tags[TABLE, ""]) == (text, {"tier": text})
        again = published(ours)
        assert (again.counts, again.drift) == ({}, [])


def test_what_tables_get_is_as_the_file_has_it(ours: Server, place: Place) -> None:
    place.settings |= {"namespaces": ["kafka://*", "ns2"]}
    ours.send(sink(documentation=facet(description="All orders."), tags=tags(("tier", "gold"), ("pii", "true", "id"), ("a.b", "1"))))
    check_golden(ours, place, "databricks-tables")


def test_the_estate_is_published(ours: Server, place: Place, there: UnityCatalog) -> None:
    """Every dataset whose name has three parts is a table."""
    send_estate(ours)
    with ours.pool.reader() as reader:
        spaces = {
            entry.named.namespace for part, nodes in reader.inventory.heads((NodeKind.DATASET,)) for entry in part.inventory.entries(nodes)
        }
    place.settings["table_namespaces"] = sorted(space for space in spaces if space)
    added(ours, place)
    target = ours.targets.target("there")
    with ours.pool.reader() as reader:
        state = desired_state(reader, target, graph_id(KEY), ours.parts.now_us)
    target.close()
    columns: dict[str, set[str]] = {key.name: set() for key in state.objects if key.kind == "dataset"}
    for event in (made.event() for key, made in state.objects.items() if key.kind == "job"):
        for relationship in job_objects(event, target.settings).relationships:
            for end in ("source", "target"):
                if name := relationship[end].get("table", {}).get("name"):
                    columns.setdefault(name, set()).update(pair[end] for pair in relationship.get("columns", ()))
    for name, found in columns.items():
        there.tables[name] = sorted(found)
        there.sql.add(name, *found)
    row = published_row(ours, place, "`databricks` (with a warehouse; every dataset of three parts a table)")
    assert not undocumented([row]), row
    assert {name for name, found in there.sql.tables.items() if any(key.startswith(PREFIX) for key in found["properties"])} == {
        key.name for key in state.objects if key.kind == "dataset"
    }
