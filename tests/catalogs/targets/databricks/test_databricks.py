"""Unity Catalog: what jobs and datasets become there, tables and their rights, logins, and what Databricks' own client makes of it."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from databricks.sdk import WorkspaceClient
from databricks.sdk.config import Config
from databricks.sdk.errors import BadRequest, NotFound, ResourceConflict
from databricks.sdk.service.catalog import (
    CreateRequestExternalLineage,
    DeleteRequestExternalLineage,
    ExternalLineageObject,
    ExternalMetadata,
    LineageDirection,
    SystemType,
    UpdateRequestExternalLineage,
)
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.databricks import CLIENT, SECRET, TOKEN, UnityCatalog
from tests.catalogs.standins.server import Answer, Request, answering
from tests.catalogs.test_golden import EVENTS
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event, schema
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.kinds.databricks.naming import _SYSTEMS, metadata_name, system_type
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.errors import ConfigError
from lineage_bridge.openlineage.event_builder import EventBuilder, encode
from lineage_bridge.sources.common.catalog.assets import Asset, AssetEvents

HOST = "localhost"
"""The host of the workspace, under the name that namespaces of this machine have in the graph."""
HERE = f"unitycatalog://{HOST}"


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("databricks", request, ours)
    made.settings |= {"url": made.settings["url"].replace("127.0.0.1", HOST), "warehouse_id": ""}
    added(ours, made)
    return made


@pytest.fixture
def there(place: Place) -> UnityCatalog:
    found: UnityCatalog = place.more["there"]
    return found


def _named(there: UnityCatalog, kind: str, name: str) -> dict[str, Any]:
    """The one external metadata of a job or dataset."""
    (found,) = (
        made
        for key, made in there.metadata.items()
        if key.startswith(f"lineagebridge_{kind}_") and made["properties"]["lineagebridge.name"] == name
    )
    return found


def _pairs(there: UnityCatalog) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The columns of relationships, by the names of their ends."""
    shown = {name: made["properties"]["lineagebridge.name"] for name, made in there.metadata.items()}
    return {
        (shown.get(source[1], source[1]), shown.get(target[1], target[1])): [
            (pair["source"], pair["target"]) for pair in found.get("columns", ())
        ]
        for (source, target), found in there.lineage.items()
    }


def test_a_job_is_external_metadata_between_what_it_reads_and_writes(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, namespaces=["kafka://*"])
    ours.send(EVENTS[0])
    assert published(ours).outcomes == {"done": 1}
    job, topic, table = (_named(there, *of) for of in (("job", "stream"), ("dataset", "orders"), ("dataset", "public.orders")))
    shown = {member: value for member, value in job.items() if member in ("system_type", "entity_type", "columns", "description")}
    assert shown == {"system_type": "OTHER", "entity_type": "Job", "columns": ["id", "price"], "description": "a stream"}
    properties = {name.removeprefix("lineagebridge."): value for name, value in job["properties"].items()}
    assert (properties["namespace"], properties["sql"]) == ("kafka://broker:9092", "INSERT INTO t SELECT 1")
    assert (properties["processingType"], properties["integration"]) == ("STREAMING", "FLINK")
    assert (topic["system_type"], topic["entity_type"], topic["columns"]) == ("KAFKA", "Topic", ["id", "item.price"])
    assert (table["system_type"], table["entity_type"]) == ("POSTGRESQL", "Table")
    assert _pairs(there) == {
        ("orders", "stream"): [("id", "id"), ("item.price", "price"), ("unknown", "price")],
        ("stream", "public.orders"): [("id", "id"), ("price", "price")],
    }


def test_columns_of_the_same_name_in_two_outputs_stay_apart(ours: Server, there: UnityCatalog) -> None:
    outputs = [dataset(name, columnLineage=columns(v=[("ns", "src", field)])) for name, field in (("left", "k"), ("right", "l"))]
    ours.send(run_event(run=RUNS[3], job="split", inputs=[dataset("src")], outputs=outputs))
    published(ours)
    found = _pairs(there)
    assert found["src", "split"] == [("k", "left.v"), ("l", "right.v")]
    assert (found["split", "left"], found["split", "right"]) == ([("left.v", "v")], [("right.v", "v")])


def test_columns_of_two_outputs_with_one_name_in_two_namespaces_stay_apart(ours: Server, there: UnityCatalog) -> None:
    outputs = [
        dataset("out", namespace, columnLineage=columns(v=[("ns", "src", field)]))
        for namespace, field in (("s3://a", "k"), ("s3://b", "l"))
    ]
    ours.send(run_event(run=RUNS[3], job="split", inputs=[dataset("src")], outputs=outputs))
    published(ours)
    (split,) = (key for key in there.metadata if key.startswith("lineagebridge_job_split"))
    read = [pair for (_, target), found in there.lineage.items() if target[1] == split for pair in found["columns"]]
    assert [(pair["source"], pair["target"]) for pair in read] == [("k", "s3://a/out.v"), ("l", "s3://b/out.v")]
    written = [pair["source"] for (source, _), found in there.lineage.items() if source[1] == split for pair in found["columns"]]
    assert sorted(written) == ["s3://a/out.v", "s3://b/out.v"]


def test_tables_of_the_metastore_are_ends_themselves(ours: Server, place: Place, there: UnityCatalog) -> None:
    there.tables = {"main.sales.orders": ["id"], "main.sales.paid": [], "main.lake.clicks": [], "main.far.away": []}
    link = facet(identifiers=[{"namespace": HERE, "name": "main.lake.clicks", "type": "TABLE"}])
    inputs = [
        dataset("topic", "kafka://broker:9092"),
        dataset("/lake/clicks", "s3://lake", symlinks=link),
        dataset("main.far.away", "unitycatalog://other.cloud.example"),
        dataset("main.else.where", "unitycatalog://elsewhere.cloud.example"),
    ]
    written = dataset("Main.Sales.Orders", HERE, columnLineage=columns(id=[("kafka://broker:9092", "topic", "key")]))
    ours.send(job_event("loads", inputs=inputs, outputs=[written, dataset("main.sales.paid", f"databricks://https://{HOST}")]))
    added(ours, place, namespaces=["s3://*"], table_namespaces=["unitycatalog://other.cloud.example"])
    assert published(ours).outcomes == {"done": 1}
    tables = {(source[1] if source[0] == "table" else "", target[1] if target[0] == "table" else "") for source, target in there.lineage}
    assert tables == {("", ""), ("main.lake.clicks", ""), ("main.far.away", ""), ("", "main.sales.orders"), ("", "main.sales.paid")}
    assert _pairs(there)["loads", "main.sales.orders"] == [("id", "id")]
    assert _named(there, "dataset", "main.else.where")["system_type"] == "DATABRICKS"
    assert published(ours).counts == {}


def test_a_table_that_is_not_there_is_refused_and_holds_up_no_other(ours: Server, there: UnityCatalog) -> None:
    ours.send(job_event("loads", inputs=[dataset("a")], outputs=[dataset("main.sales.orders", HERE)]))
    report = published(ours)
    assert report.outcomes == {"done": 3, "refused": 1}
    (refused,) = (item for item in report.operations if item.outcome == "refused")
    assert (refused.name, "'main.sales.orders' does not exist" in refused.detail) == ("loads", True)
    assert published(ours).kept == {"refused there before, and unchanged since": 1}
    there.tables = {"main.sales.orders": []}
    ours.send(job_event("loads", time_us=T0 + 9, inputs=[dataset("b")], outputs=[dataset("main.sales.orders", HERE)]))
    assert published(ours).outcomes == {"done": 1}
    assert ("loads", "b", "main.sales.orders") in there.edges()
    assert ("loads", "a", "main.sales.orders") not in there.edges()


def test_rights_that_one_table_does_not_give_hold_up_no_other(ours: Server, there: UnityCatalog) -> None:
    there.tables, there.denied = {"main.sales.orders": []}, {"main.sales.orders"}
    ours.send(job_event("loads", inputs=[dataset("a")], outputs=[dataset("main.sales.orders", HERE)]))
    report = published(ours)
    assert report.outcomes == {"done": 3, "failed": 1}
    assert "MODIFY" in next(item.detail for item in report.operations if item.outcome == "failed")
    there.denied = set()
    assert published(ours).outcomes == {"done": 1}
    assert ("loads", "a", "main.sales.orders") in there.edges()


def test_rights_on_the_metastore_that_are_missing_end_the_publication(ours: Server, there: UnityCatalog) -> None:
    there.may_create = False
    report = published(ours)
    assert (report.state, report.outcomes.get("done"), report.code) == ("failed", None, "forbidden")
    there.may_create = True
    assert published(ours).outcomes == {"done": 3}


# what changes and what is deleted


def test_what_changes_is_changed_and_nothing_else_is_written(ours: Server, there: UnityCatalog) -> None:
    published(ours)
    before = dict(there.metadata)
    changed = dataset("b", schema=schema("x", "z"), columnLineage=columns(x=[("ns", "a", "y")], z=[("ns", "a", "y")]))
    ours.send(run_event(run=RUNS[4], job="clean", time_us=T0 + 9, inputs=[dataset("a", schema=schema("y"))], outputs=[changed]))
    there.requests.clear()
    assert published(ours).outcomes == {"done": 2}  # both have the dataset whose columns changed
    written = [request.partition("?")[0] for request in there.requests if not request.startswith("GET")]
    job, column = _named(there, "job", "clean"), _named(there, "dataset", "b")
    assert (job["columns"], column["columns"]) == (["x", "z"], ["x", "z"])
    assert {name for name, made in there.metadata.items() if made != before[name]} == {job["name"], column["name"]}
    assert sum(request.startswith("PATCH") for request in written) == 4  # two of metadata, two of relationships
    assert _pairs(there)["clean", "b"] == [("x", "x"), ("z", "z")]


def test_an_unchanged_graph_costs_three_reads_a_job_and_no_write(ours: Server, there: UnityCatalog) -> None:
    there.page = 1000
    published(ours)
    there.requests.clear()
    assert published(ours).counts == {}
    assert {request.partition(" ")[0] for request in there.requests} == {"GET"}
    empty_pages = 3 * 2  # the first page of each list
    assert len(there.requests) == 3 * 3 + empty_pages


def test_deleting_a_job_leaves_its_datasets_and_what_others_put_there(ours: Server, place: Place, there: UnityCatalog) -> None:
    published(ours)
    there.metadata["theirs"] = {"name": "theirs", "system_type": "TABLEAU", "entity_type": "Dashboard"}
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours).counts == {}
    assert published(ours, prune=True).outcomes == {"done": 3}
    assert there.lineage == {}
    assert {name.split("_")[1] for name in there.metadata if name != "theirs"} == {"dataset"}
    assert "theirs" in there.metadata


def test_rights_that_one_table_does_not_give_hold_up_no_other_deletion(ours: Server, place: Place, there: UnityCatalog) -> None:
    there.tables = {"main.sales.orders": []}
    ours.send(job_event("loads", inputs=[dataset("a")], outputs=[dataset("main.sales.orders", HERE)]))
    published(ours)
    there.denied = {"main.sales.orders"}
    added(ours, place, exclude_namespaces=["*"])
    report = published(ours, prune=True)
    assert report.outcomes == {"done": 3, "failed": 1}
    assert "MODIFY" in next(item.detail for item in report.operations if item.outcome == "failed")


def test_a_dataset_that_somebody_deleted_meanwhile_is_written_again(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, at_once=1)
    handle, dropped = UnityCatalog.handle, list[str]()

    def dropping(request: Request) -> Answer:
        """Before the second job is written, delete the dataset that the first one has written too."""
        shared = next((name for name in there.metadata if name.startswith("lineagebridge_dataset_c_")), "")
        if shared and not dropped and b"lineagebridge_job_load" in request.body and request.parts[-1] == "external-metadata":
            dropped.append(shared)
            del there.metadata[shared]
        return handle(there, request)

    with answering(dropping) as url:
        added(ours, place, at_once=1, url=url)
        assert published(ours).outcomes == {"done": 3}
    assert len(dropped) == 1
    assert there.edges() == EDGES


def test_names_are_such_as_a_metastore_takes_and_each_has_its_own(place: Place) -> None:
    settings = DatabricksSettings.model_validate(place.settings)
    pairs = [
        ("n", "A.b/c d`e"),
        ("n", "a b c d e"),
        ("n", "x" * 5000),
        ("na", ""),
        ("n", "a"),
        ("n", "\u00fc\ufffd"),
        ("ns", "z"),
        ("n", "sz"),
    ]
    names = [metadata_name("dataset", *pair, settings) for pair in pairs]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 255 and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_") for name in names)
    assert {system_type(space) for space in (*map("{}://h:1".format, _SYSTEMS), "other")} <= {kind.value for kind in SystemType}


def test_long_texts_are_cut_and_counted(ours: Server, there: UnityCatalog) -> None:
    ours.send(job_event("wordy", inputs=[dataset("a")], outputs=[dataset("b")], job_facets={"sql": facet(query="q" * 5000)}))
    report = published(ours)
    assert report.not_expressible["ends of descriptions and statements that are too long"] == 1
    assert len(_named(there, "job", "wordy")["properties"]["lineagebridge.sql"]) == 4000


# logins and settings


def test_a_service_principal_logs_in_and_again_when_its_token_has_expired(
    ours: Server, place: Place, there: UnityCatalog, tmp_path: Path
) -> None:
    (tmp_path / "client-secret").write_text(SECRET)
    login = {"token": None, "client_id": CLIENT, "client_secret": f"${{file:{tmp_path / 'client-secret'}}}"}
    added(ours, place, **login)
    assert [check.works for check in ours.targets.test("there")] == [True, True]
    target = ours.targets.target("there")
    try:
        assert all(check.works for check in target.test())
        first, there.issued = there.issued, []
        assert all(check.works for check in target.test())
        assert len(there.issued) == 1
        assert there.issued != first
    finally:
        target.close()
    assert published(ours).outcomes == {"done": 3}
    (tmp_path / "client-secret").write_text("wrong")
    assert [check.works for check in ours.targets.test("there")] == [True, False]
    report = published(ours)
    assert (report.state, report.code) == ("failed", "unauthenticated")


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": None},
        {"client_id": "x"},
        {"username": "u", "token": None},
        {"prefix": "A.b"},
        {"prefix": ""},
        {"workspace_id": "x"},
        {"token": "plain"},
    ],
)
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)


def test_a_server_that_is_no_workspace_refuses_nothing_for_good(ours: Server, place: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1, tries=1)
    proxy.answer(404, "external-metadata", body=b"<html>")
    report = published(ours)
    assert (report.state, report.outcomes.get("done", 0), report.outcomes.get("refused", 0)) == ("failed", 0, 0)
    proxy.mend()
    assert published(ours).outcomes == {"done": 3}


@pytest.mark.parametrize("body", [b"[]", b'{"next_page_token": "again"}'])
def test_answers_that_make_no_sense_end_the_publication(ours: Server, place: Place, faulty: Any, body: bytes) -> None:
    published(ours)
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1, tries=1)
    proxy.answer(200, "external-lineage?", body=body)
    report = published(ours)
    assert (report.state, report.code) == ("failed", "wrong_answer")


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "databricks.sdk.service.catalog", None)
    for module in ("databricks_target", "lineage", "unity_tables"):
        monkeypatch.delitem(sys.modules, f"lineage_bridge.catalogs.kinds.databricks.{module}", raising=False)
    with pytest.raises(ConfigError) as caught:
        TargetKinds(tmp_path).make("there", "databricks", {"url": "https://workspace.example", "token": "${env:PATH}"})
    assert caught.value.hint == "install it with: pip install 'lineage-bridge[databricks]'"


# held against Databricks' own client


@pytest.fixture
def their_client(place: Place) -> WorkspaceClient:
    return WorkspaceClient(config=Config(host=place.settings["url"], token=TOKEN, auth_type="pat", retry_timeout_seconds=1))


def test_their_own_client_reads_what_is_published(ours: Server, there: UnityCatalog, their_client: WorkspaceClient) -> None:
    published(ours)
    made = list(their_client.external_metadata.list_external_metadata(page_size=2))
    assert sorted(found.name for found in made) == sorted(there.metadata)
    job = _named(there, "job", "clean")["name"]
    about = ExternalLineageObject.from_dict({"external_metadata": {"name": job}})
    (found,) = their_client.external_lineage.list_external_lineage_relationships(about, LineageDirection.DOWNSTREAM)
    assert found.external_lineage_info is not None
    assert found.external_metadata_info is not None
    assert found.external_metadata_info.name == _named(there, "dataset", "b")["name"]
    assert [column.as_dict() for column in found.external_lineage_info.columns or ()] == [{"source": "x", "target": "x"}]


def test_requests_are_those_of_their_own_client(ours: Server, place: Place, there: UnityCatalog, their_client: WorkspaceClient) -> None:
    """Each request of a publication, of one that changes columns, and of the end of all is one that their client makes too."""
    published(ours)
    changed = dataset("b", schema=schema("x", "z"), columnLineage=columns(x=[("ns", "a", "y")], z=[("ns", "a", "y")]))
    ours.send(run_event(run=RUNS[4], job="clean", time_us=T0 + 9, inputs=[dataset("a", schema=schema("y"))], outputs=[changed]))
    published(ours)
    everything, relationships = dict(there.metadata), dict(there.lineage)
    added(ours, place, exclude_namespaces=["*"])
    published(ours, prune=True)
    own = set(there.requests)
    there.metadata, there.lineage, there.requests = dict(everything), dict(relationships), []
    metadata, lineage = their_client.external_metadata, their_client.external_lineage
    members = ("columns", "description", "entity_type", "properties", "system_type")
    for name, found in everything.items():
        metadata.get_external_metadata(name)
        asked = ExternalMetadata.from_dict({member: found[member] for member in ("name", *members) if member in found})
        with pytest.raises(ResourceConflict):
            metadata.create_external_metadata(asked)
        metadata.update_external_metadata(name, asked, ",".join(members))
        about = ExternalLineageObject.from_dict({"external_metadata": {"name": name}})
        for direction in LineageDirection:
            list(lineage.list_external_lineage_relationships(about, direction, page_size=1000))
    for found in relationships.values():
        with pytest.raises(ResourceConflict):
            lineage.create_external_lineage_relationship(CreateRequestExternalLineage.from_dict(found))
        lineage.update_external_lineage_relationship(UpdateRequestExternalLineage.from_dict(found), "columns,properties")
        lineage.delete_external_lineage_relationship(DeleteRequestExternalLineage.from_dict(found))
    for name in everything:
        metadata.delete_external_metadata(name)
    assert own - set(there.requests) == set()
    assert {request.partition(" ")[0] for request in own} == {"GET", "POST", "PATCH", "DELETE"}


def test_the_metastore_refuses_what_the_service_would(there: UnityCatalog, their_client: WorkspaceClient) -> None:
    there.tables = {"a.b.c": ["x"], "a.b.d": []}
    made = ExternalMetadata(name="topic", system_type=SystemType.KAFKA, entity_type="Topic")
    their_client.external_metadata.create_external_metadata(made)
    with pytest.raises(ResourceConflict):
        their_client.external_metadata.create_external_metadata(made)
    with pytest.raises(BadRequest):
        their_client.external_metadata.update_external_metadata("topic", made, "owner,description")
    topic, table, other = ({"external_metadata": {"name": "topic"}}, {"table": {"name": "a.b.c"}}, {"table": {"name": "a.b.d"}})
    create = their_client.external_lineage.create_external_lineage_relationship
    for source, target in ((table, other), ({**topic, **table}, other), ({}, topic)):
        with pytest.raises(BadRequest):
            create(CreateRequestExternalLineage.from_dict({"source": source, "target": target}))
    with pytest.raises(NotFound):
        create(CreateRequestExternalLineage.from_dict({"source": topic, "target": {"table": {"name": "no.such.table"}}}))
    create(CreateRequestExternalLineage.from_dict({"source": topic, "target": table}))
    with pytest.raises(ResourceConflict):
        create(CreateRequestExternalLineage.from_dict({"source": topic, "target": table}))
    for wrong in ({"kind": "new"}, {"system_type": "PULSAR"}):
        with pytest.raises(BadRequest):
            their_client.api_client.do("POST", "/api/2.0/lineage-tracking/external-metadata", body={**made.as_dict(), "name": "n", **wrong})


def _at(address: str, _: object) -> str:
    return address


def test_lineage_that_a_source_read_in_the_metastore_is_not_published_back(ours: Server, place: Place, there: UnityCatalog) -> None:
    added(ours, place, table_namespaces=["unitycatalog://other.example"])
    address = ours.targets.target("there").settings.address
    build, at_us = EventBuilder("https://example.org/test"), ours.parts.now_us
    sides = tuple(build.dataset((HERE, f"main.sales.{name}")) for name in ("orders", "revenue"))
    for number, (kind, read_at) in enumerate(
        [("unity", address), ("unity", "https://other.example"), ("unity", "https://elsewhere.example"), ("datahub", address)]
    ):
        job = Asset((f"databricks://{HOST}", f"7/job/{number}"), {}, is_job=True, inputs=sides[:1], outputs=sides[1:])
        ours.send(encode(AssetEvents(kind, "source", partial(_at, read_at)).stated(job, at_us)))
    there.tables |= {name: ["id"] for name in ("main.sales.orders", "main.sales.revenue")}
    report = published(ours)
    assert report.not_expressible["jobs and datasets whose lineage was read from this catalog"] == 2
    names = {made["properties"]["lineagebridge.name"] for name, made in there.metadata.items() if "_job_7_" in name}
    assert names == {"7/job/2", "7/job/3"}
