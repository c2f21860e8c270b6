"""AWS Glue, by moto behind what moto does not check: whatever is published, a table's definition stays as its owners have it."""

import itertools
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.estate import published_row, send_estate, undocumented
from tests.catalogs.places import Edges, Place
from tests.catalogs.standins.amazon import model_of, problems
from tests.catalogs.standins.glue import CATALOG, REGION, Fault, Glue
from tests.catalogs.standins.server import answering
from tests.catalogs.test_golden import check_golden
from tests.catalogs.test_targets import CrashError, CrashingLedger
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event
from tests.servers.kinesis import Kinesis

from lineage_bridge.catalogs.kinds.glue.definitions import TABLE_INPUT
from lineage_bridge.catalogs.kinds.glue.tables import LONGEST_VALUE
from lineage_bridge.errors import ConfigError
from lineage_bridge.store.state.targets import PublicationLedger

UPSTREAM, DOWNSTREAM = "lineagebridge.upstream", "lineagebridge.downstream"
TABLES = ("a", "b", "c", "d", "e")
FOREIGN = "was there before, and was not published from here"
_DATABASES = itertools.count()


@pytest.fixture(scope="module")
def glue(moto: Kinesis) -> Iterator[tuple[Glue, str]]:
    there = Glue(moto.url)
    with answering(there.handle) as url:
        yield there, url


class Lake:
    """A database of its own, and what is in the parameters of its tables."""

    def __init__(self, glue: Glue, url: str) -> None:
        self.glue, self.database = glue, f"lake{next(_DATABASES)}"
        glue.create(self.database, *TABLES)
        settings = {"endpoint_url": url, "region": REGION, "catalog_id": CATALOG, "databases": {"ns": self.database}}
        keys = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}", "at_once": 1}
        self.place = Place("glue", {**settings, **keys}, self.edges, deletes=True, reads=True, has_datasets=False)

    def table(self, name: str) -> dict[str, Any]:
        return self.glue.table(self.database, name)

    def lineage(self, name: str, parameter: str = UPSTREAM) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.table(name).get("Parameters", {}).get(parameter, "[]"))
        return found

    def edges(self, names: tuple[str, ...] = TABLES) -> Edges:
        """The edges that both ends state."""
        upstream = {
            (made["job"]["name"], source["name"], name) for name in names for made in self.lineage(name) for source in made["inputs"]
        }
        downstream = {
            (made["job"]["name"], name, target["name"])
            for name in names
            for made in self.lineage(name, DOWNSTREAM)
            for target in made["outputs"]
        }
        assert upstream == downstream
        return upstream


@pytest.fixture
def lake(glue: tuple[Glue, str], ours: Server) -> Lake:
    there, url = glue
    there.faults, there.updates, there.reads, there.before_update = [], [], 0, lambda _: None
    made = Lake(there, url)
    added(ours, made.place)
    return made


def _definition(table: dict[str, Any]) -> dict[str, Any]:
    """What of a table is not lineage."""
    own = {name: value for name, value in table.get("Parameters", {}).items() if not name.startswith("lineagebridge.")}
    return {**{name: value for name, value in table.items() if name in TABLE_INPUT}, "Parameters": own}


def test_everything_is_published_and_then_nothing(ours: Server, lake: Lake) -> None:
    planned = published(ours, plan_only=True)
    assert (planned.state, planned.counts) == ("done", {"create": 5})
    done = published(ours)
    assert (done.state, done.outcomes, done.error) == ("done", {"done": 5}, "")
    assert done.not_expressible == {"datasets that no job reads or writes": 1, "transformations of columns": 1}
    assert lake.edges() == EDGES
    (made,) = lake.lineage("b")
    assert made["columns"] == {"x": [{"namespace": "ns", "name": "a", "field": "y"}]}
    lake.glue.reads = 0
    again = published(ours)
    assert (again.counts, again.unchanged, len(lake.glue.updates), lake.glue.reads) == ({}, 5, 5, 5)


def test_what_changed_is_updated_alone(ours: Server, lake: Lake) -> None:
    published(ours)
    ours.parts.now_us += 1_000_000
    ours.send(job_event("declared", time_us=ours.parts.now_us, inputs=[dataset("d")], outputs=[dataset("e")]))
    report = published(ours)
    assert {(item.action, item.name.rpartition("/")[2]) for item in report.operations} == {("update", name) for name in "cde"}
    assert lake.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e")}
    assert published(ours).counts == {}


def test_a_table_keeps_everything_else(ours: Server, lake: Lake) -> None:
    """Also what says where the metadata of a table of Iceberg is; nothing is archived."""
    iceberg = {"table_type": "ICEBERG", "metadata_location": "s3://lake/metadata/7.json", "classification": "parquet"}
    partitions = [{"Name": "day", "Type": "date", "Comment": "theirs"}]
    lake.glue.change(lake.database, "b", Parameters=iceberg, Owner="them", Retention=3, PartitionKeys=partitions, Description="theirs")
    before = {name: _definition(lake.table(name)) for name in TABLES}
    archived = lake.glue.archived
    published(ours)
    assert {name: _definition(lake.table(name)) for name in TABLES} == before
    assert lake.glue.archived == archived
    added(ours, lake.place, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 5}
    assert {name: lake.table(name).get("Parameters", {}) for name in TABLES} == {name: iceberg if name == "b" else {} for name in TABLES}
    assert {name: _definition(lake.table(name)) for name in TABLES} == before


def test_nothing_is_deleted_unless_told(ours: Server, lake: Lake) -> None:
    published(ours)
    added(ours, lake.place, exclude_namespaces=["*"])
    assert published(ours).kept == {"no longer to be published; --prune deletes it": 5}
    assert lake.edges() == EDGES
    assert published(ours, prune=True).counts == {"delete": 5}
    assert lake.edges() == set()
    added(ours, lake.place)
    assert published(ours).outcomes == {"done": 5}
    assert lake.edges() == EDGES


def test_lineage_of_another_installation_is_left_alone_and_never_deleted(ours: Server, lake: Lake) -> None:
    theirs = {UPSTREAM: '[{"job":{"namespace":"jobs","name":"their"},"inputs":[]}]'}
    lake.glue.change(lake.database, "b", Parameters=theirs)
    report = published(ours)
    assert [(finding.name, finding.finding) for finding in report.drift] == [(f"table/{lake.database}/b", FOREIGN)]
    added(ours, lake.place, exclude_namespaces=["*"])
    assert published(ours, prune=True).counts == {"delete": 4}
    assert lake.table("b")["Parameters"] == theirs
    added(ours, lake.place)
    assert published(ours, overwrite=True).outcomes == {"done": 5}
    assert lake.edges() == EDGES


def test_what_somebody_changed_is_reported_and_overwritten_only_with_overwrite(ours: Server, lake: Lake) -> None:
    published(ours)
    lake.glue.change(lake.database, "b", Parameters={UPSTREAM: "[]"})
    lake.glue.change(lake.database, "c", Parameters={"theirs": "new"})
    found = {(finding.name.rpartition("/")[2], finding.finding) for finding in published(ours).drift}
    assert found == {("b", "was changed there"), ("c", "was removed there")}
    assert published(ours, overwrite=True).outcomes == {"done": 2}
    assert lake.edges() == EDGES
    assert lake.table("c")["Parameters"]["theirs"] == "new"


# conflicts and errors


def test_a_table_that_changes_meanwhile_is_read_again(ours: Server, lake: Lake) -> None:
    commits = iter(range(2))

    def commit(name: str) -> None:
        if name == "b" and (number := next(commits, None)) is not None:
            lake.glue.change(lake.database, "b", Parameters={"metadata_location": f"s3://lake/{number}.json", "table_type": "ICEBERG"})

    lake.glue.before_update = commit
    assert published(ours).outcomes == {"done": 5}
    assert lake.table("b")["Parameters"]["metadata_location"] == "s3://lake/1.json"
    assert lake.edges() == EDGES


def test_a_table_that_never_rests_does_not_hold_up_others(ours: Server, lake: Lake) -> None:
    lake.glue.before_update = lambda name: lake.glue.change(lake.database, "b", Retention=1) if name == "b" else None
    report = published(ours)
    assert report.outcomes == {"done": 4, "failed": 1}
    lake.glue.before_update = lambda _: None
    assert published(ours).outcomes == {"done": 1}
    assert lake.edges() == EDGES


def test_a_storm_passes_and_waits_are_as_long_as_asked(ours: Server, lake: Lake) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    lake.glue.faults = [
        Fault("GetTable", 400, "ThrottlingException", 1, {"Retry-After": "3"}),
        Fault("UpdateTable", 429, "ThrottlingException", 2, {"Retry-After": "7"}),
        Fault("UpdateTable", 503, "ServiceUnavailable", 2, {"Retry-After": "11"}),
    ]
    assert published(ours).outcomes == {"done": 5}
    assert waits == [3.0, 7.0, 7.0, 11.0, 11.0]
    assert lake.edges() == EDGES


def test_a_catalog_that_stays_broken_is_given_up_and_the_rest_is_sent_later(ours: Server, lake: Lake) -> None:
    added(ours, lake.place, tries=2)
    lake.glue.faults = [Fault("UpdateTable", 500, "InternalServiceException", 100)]
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "InternalServiceException" in report.error
    lake.glue.faults = []
    assert published(ours).outcomes == {"done": 5}
    assert lake.edges() == EDGES


def test_credentials_that_are_refused_end_the_publication(ours: Server, lake: Lake) -> None:
    lake.glue.faults = [
        Fault("GetDatabases", 400, "UnrecognizedClientException", 1),
        Fault("GetTable", 400, "UnrecognizedClientException", 9),
    ]
    assert [check.works for check in ours.targets.test("there")] == [False]
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {})
    assert "UnrecognizedClientException" in report.error


def test_rights_that_one_table_does_not_give_hold_up_no_other(ours: Server, lake: Lake) -> None:
    assert [check.works for check in ours.targets.test("there")] == [True]
    lake.glue.faults = [Fault("UpdateTable", 400, "AccessDeniedException", 1)]
    report = published(ours)
    assert report.outcomes == {"done": 4, "failed": 1}
    assert "glue:UpdateTable" in next(item.detail for item in report.operations if item.outcome == "failed")
    assert published(ours).outcomes == {"done": 1}


def test_what_is_no_table_there_is_refused_and_holds_up_no_other(ours: Server, lake: Lake) -> None:
    lake.glue.client.delete_table(DatabaseName=lake.database, Name="d")
    lake.glue.change(lake.database, "e", TargetTable={"CatalogId": CATALOG, "DatabaseName": "other", "Name": "e"})
    report = published(ours)
    assert report.outcomes == {"done": 3, "refused": 2}
    details = {item.name.rpartition("/")[2]: item.detail for item in report.operations if item.outcome == "refused"}
    assert details == {"d": "there is no such table in the catalog", "e": "it is a link to a table of another catalog: publish to that one"}


def test_after_a_crash_at_any_step_the_rest_is_published(ours: Server, lake: Lake) -> None:
    ours.parts.alive = False
    for crash_at, after in ((2, False), (3, False), (3, True), (11, False)):  # around the first operation, and the last
        for table in TABLES:
            lake.glue.change(lake.database, table, Parameters={})
        name = f"crash-{crash_at}-{after}"
        ours.targets.add(name, "glue", lake.place.settings, replace=True)
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=after)
        with pytest.raises(CrashError):
            ours.targets.start(name, plan_only=False, prune=False, overwrite=False)
        ours.publication_ledger = PublicationLedger
        report = ours.targets.start(name, plan_only=False, prune=False, overwrite=False).report
        assert report is not None
        assert ({*report.outcomes} <= {"done"}, report.drift) == (True, [])
        assert lake.edges() == EDGES


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_after_a_crash_at_any_step_the_rest_is_deleted(ours: Server, lake: Lake, after: bool) -> None:
    ours.parts.alive = False
    lake.glue.change(lake.database, "b", Parameters={"theirs": "kept"})
    for crash_at in (2, 3, 11):  # around the first operation, and the last
        added(ours, lake.place)
        published(ours)
        assert lake.edges() == EDGES
        added(ours, lake.place, exclude_namespaces=["*"])
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=after)
        try:
            published(ours, prune=True)
            has_crashed = False
        except CrashError:
            has_crashed = True
        ours.publication_ledger = PublicationLedger
        assert has_crashed, crash_at
        report = published(ours, prune=True)
        assert ({*report.outcomes} <= {"done"}, report.drift) == (True, [])
        assert {name: lake.table(name).get("Parameters", {}) for name in TABLES} == {
            name: {"theirs": "kept"} if name == "b" else {} for name in TABLES
        }
        assert (published(ours, prune=True).counts, ours.targets.ledger("there", "", 10)) == ({}, [])


# names, descriptions and limits


def test_tables_are_found_by_each_of_their_names(ours: Server, lake: Lake) -> None:
    link = facet(identifiers=[{"namespace": f"arn:aws:glue:{REGION}:{CATALOG}", "name": f"table/{lake.database}/A", "type": "TABLE"}])
    inputs = [
        dataset("/lake/a", "s3://lake", symlinks=link),
        dataset(f"AwsDataCatalog.{lake.database}.b", f"awsathena://athena.{REGION}.amazonaws.com"),
        dataset("c", f"aws://{REGION}/{lake.database}"),
        dataset(f"table/{lake.database}/d", f"arn:aws:glue:{REGION}:210987654321"),
    ]
    ours.send(job_event("named", inputs=inputs, outputs=[dataset(f"table/{lake.database}/e", f"arn:aws:glue:{REGION}:{CATALOG}")]))
    added(ours, lake.place, databases={}, namespaces=["jobs"])
    assert published(ours).outcomes == {"done": 4}
    assert [name for name in TABLES if lake.lineage(name, DOWNSTREAM)] == ["a", "b", "c"]
    assert len(lake.lineage("e")[0]["inputs"]) == 4


def test_descriptions_fill_what_is_empty_and_leave_what_is_not(ours: Server, lake: Lake) -> None:
    fields = facet(fields=[{"name": "x", "description": "ours\nof x"}, {"name": "Y", "description": "z" * 300}])
    described = dataset("b", schema=fields, documentation=facet(description="ours"))
    lake.glue.change(lake.database, "c", Description="theirs")
    theirs = dataset("c", documentation=facet(description="ours"))
    ours.send(run_event(run=RUNS[3], job="described", time_us=T0 + 9, inputs=[theirs], outputs=[described]))
    report = published(ours)
    assert report.not_expressible["ends of descriptions that are too long"] == 1
    table = lake.table("b")
    comments = {column["Name"]: column.get("Comment") for column in table["StorageDescriptor"]["Columns"]}
    assert (table["Description"], comments) == ("ours", {"x": "ours of x", "y": "z" * 255})
    assert lake.table("c")["Description"] == "theirs"
    changed = [{"Name": "x", "Type": "string", "Comment": "theirs"}, {"Name": "y", "Type": "string", "Comment": "z" * 255}]
    lake.glue.change(lake.database, "b", StorageDescriptor={**table["StorageDescriptor"], "Columns": changed})
    added(ours, lake.place, exclude_namespaces=["*"])
    published(ours, prune=True)
    table = lake.table("b")
    assert [column.get("Comment") for column in table["StorageDescriptor"]["Columns"]] == ["theirs", None]
    assert "Description" not in table


def test_too_much_lineage_for_a_table_is_cut_and_counted(ours: Server, lake: Lake) -> None:
    wide = columns(**{f"column{number}": [("ns", "a", f"field\u00e9{number}")] for number in range(9000)})
    ours.send(
        run_event(job="wide", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=wide)], job_facets={"sql": facet(query="q")})
    )
    ours.send(*(job_event(f"job{number}", inputs=[dataset("x" * 8000)], outputs=[dataset("e")]) for number in range(70)))
    report = published(ours)
    assert report.state == "done"
    assert report.not_expressible["statements of tables with too much lineage"] == 1
    assert report.not_expressible["columns of tables with too much lineage"] == 2
    assert report.not_expressible["jobs of tables with too much lineage"] > 0
    for name in ("b", "e"):
        assert len(lake.table(name)["Parameters"][UPSTREAM]) <= LONGEST_VALUE


def test_a_definition_is_what_the_service_takes() -> None:
    """Everything is sent back but what belongs to links, federated catalogs and views, which are not changed."""
    members = model_of("glue").shape_for("TableInput").members.keys()
    assert members - TABLE_INPUT == {"FederatedTable", "TargetTable", "ViewDefinition"}
    assert members >= TABLE_INPUT


def test_the_catalog_refuses_what_the_service_would(lake: Lake) -> None:
    shape = model_of("glue").operation_model("UpdateTable").input_shape
    for definition in (
        {"Name": "t", "CreateTime": 1},
        {"Name": "t", "Parameters": {"a": "x" * 512_001}},
        {"Name": "t", "StorageDescriptor": {"Columns": [{"Name": "c", "Comment": "x" * 256}]}},
        {"Name": "t", "StorageDescriptor": {"Columns": [{"Name": "c", "Comment": "a\nb"}]}},
    ):
        assert problems(shape, {"DatabaseName": lake.database, "TableInput": definition})
    assert not problems(shape, {"DatabaseName": lake.database, "TableInput": {"Name": "t", "Parameters": {"\U0001f600": "\u00e9"}}})


@pytest.mark.parametrize("wrong", [{"region": ""}, {"catalog_id": "1"}, {"secret_access_key": "plain"}, {"databases": {"": "x"}}])
def test_settings_that_are_wrong(ours: Server, lake: Lake, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, lake.place, **wrong)


# the same for every target


def test_what_is_published_is_as_the_file_has_it(ours: Server, glue: tuple[Glue, str]) -> None:
    keys = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}"}
    settings = {"region": REGION, "catalog_id": CATALOG, "databases": {"ns": "lake", "postgres://db:5432": "sales"}, **keys}
    check_golden(ours, Place("glue", {**settings, "endpoint_url": glue[1]}, set), "glue")


def test_the_estate_is_published(ours: Server, lake: Lake) -> None:
    send_estate(ours)
    with ours.pool.reader() as reader:
        spaces = sorted({entry.named.namespace for entry in _datasets(reader)})
    lake.place.settings["databases"] = {space: f"{lake.database}x{number}" for number, space in enumerate(spaces) if space}
    added(ours, lake.place)
    for operation in published(ours, plan_only=True).operations:
        _, database, name = operation.name.split("/", 2)
        lake.glue.create(database, name)
    row = published_row(ours, lake.place, "`glue` (every dataset a table)")
    assert not undocumented([row]), row


def _datasets(reader: Any) -> Iterator[Any]:
    from lineage_bridge.graph.ids import NodeKind

    for part, nodes in reader.inventory.heads((NodeKind.DATASET,)):
        yield from part.inventory.entries(nodes)
