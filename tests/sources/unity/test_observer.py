"""Unity Catalog: what is observed of a metastore, that a walk goes on through its lineage, and that nothing ends for want of an answer."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.standins.server import Answer, Request, answering
from tests.events import T0, dataset, run_event
from tests.sources.unity.metastore import CLIENT, SECRET, TOKEN, Metastore

from lineage_bridge.errors import SourceError, TimedOutError, UnauthenticatedError, UnreachableError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.catalog import walk
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.settings import Secrets, SourceContext
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.common.unity.marks import Marks, comment_id, short_digest, tag_id
from lineage_bridge.sources.runtime.kinds import KINDS
from lineage_bridge.sources.unity import statements
from lineage_bridge.sources.unity.observer import UnityObserver
from lineage_bridge.sources.unity.settings import UnitySourceSettings
from lineage_bridge.sources.unity.statements import ANY_FLOW
from lineage_bridge.sources.unity.translate import location_of
from lineage_bridge.sources.unity.workspace import Workspace

MINUTE_US = 60_000_000
ORDERS, REVENUE = "main.sales.orders", "main.sales.revenue"
GIVEN = SourceContext(Secrets(given={"token": TOKEN, "secret": SECRET}))


class Warehouse:
    """A metastore, and a source that observes it."""

    def __init__(self, there: Metastore, url: str) -> None:
        self.there, self.url, self.polls = there, url, 0
        self.namespace = "unitycatalog://127.0.0.1"

    def settings(self, **settings: Any) -> UnitySourceSettings:
        usual = {"url": self.url, "token": "${given:token}", "warehouse_id": "w1"}
        merged = {name: value for name, value in {**usual, **settings}.items() if value is not None}
        return UnitySourceSettings.model_validate(merged, context=GIVEN)

    def poll(self, before: Observation | None = None, **settings: Any) -> Observation:
        source = UnityObserver("dbx", self.settings(**settings))
        self.polls += 1
        try:
            snapshot = json.loads(json.dumps(before.snapshot)) if before else None
            return source.observe(snapshot, NO_METADATA, T0 + self.polls * MINUTE_US)
        finally:
            source.close()


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    there = Metastore()
    with answering(there.handle) as url:
        yield Warehouse(there, url)


def stated(seen: Observation) -> dict[str, dict[str, Any]]:
    """The facets of each dataset, over all events, without who states them."""
    found: dict[str, dict[str, Any]] = {}
    for event in seen.events:
        if "dataset" in event:
            facets = found.setdefault(event["dataset"]["name"], {})
            for key, facet in event["dataset"]["facets"].items():
                if key != "lineagebridge_catalog":
                    facets[key] = {member: value for member, value in facet.items() if not member.startswith("_") or member == "_deleted"}
    return found


def jobs(seen: Observation) -> dict[str, tuple[list[str], list[str]]]:
    """What each job reads and writes, by name."""
    return {
        event["job"]["name"]: tuple([end["name"] for end in event[side]] for side in ("inputs", "outputs"))  # type: ignore[misc]
        for event in seen.events
        if "job" in event
    }


def test_a_table_is_a_dataset_with_what_the_catalog_has_about_it(warehouse: Warehouse) -> None:
    warehouse.there.table(ORDERS, storage_location="s3://lake/orders/")
    warehouse.there.table("main.sales.latest", table_type="VIEW", storage_location="", comment="", owner="", columns=[])
    warehouse.there.tags = [(ORDERS, "", "tier", "gold"), (ORDERS, "id", "pii", "")]
    seen = warehouse.poll()
    assert stated(seen) == {
        ORDERS: {
            "schema": {"fields": [{"name": "id", "type": "bigint", "description": "Its number.", "ordinal_position": 1}]},
            "documentation": {"description": "One row each."},
            "ownership": {"owners": [{"name": "sales-team", "type": "MAINTAINER"}]},
            "datasetType": {"datasetType": "TABLE"},
            "symlinks": {"identifiers": [{"namespace": "s3://lake", "name": "orders", "type": "LOCATION"}]},
            "tags": {
                "tags": [
                    {"key": "tier", "value": "gold", "source": "UNITY_CATALOG"},
                    {"key": "pii", "value": "true", "source": "UNITY_CATALOG", "field": "id"},
                ]
            },
        },
        "main.sales.latest": {"datasetType": {"datasetType": "VIEW"}},
    }
    assert {event["dataset"]["namespace"] for event in seen.events} == {warehouse.namespace}
    assert all("lineagebridge_catalog" in event["dataset"]["facets"] for event in seen.events)
    assert (seen.unseen, warehouse.poll(seen).events) == ((), ())


def test_a_walk_goes_on_from_a_topic_through_the_lineage_of_the_metastore(warehouse: Warehouse, graph: Server) -> None:
    there = warehouse.there
    for name in (ORDERS, REVENUE):
        there.table(name)
    there.flows = [
        ("7", "JOB", "55", ORDERS, REVENUE, "", ""),
        ("7", "JOB", "55", ORDERS, REVENUE, "id", "total"),
        ("7", "", "", REVENUE, "s3://exports/revenue", "", ""),
        ("7", "DASHBOARD_V3", "d1", REVENUE, "", "", ""),
    ]
    seen = warehouse.poll()
    assert jobs(seen) == {
        "7/job/55": ([ORDERS], [REVENUE]),
        "7/statement/s3://exports/revenue": ([REVENUE], ["revenue"]),
        "7/dashboard_v3/d1": ([REVENUE], []),
    }
    sink = run_event(job="sink", inputs=[dataset("orders", "kafka://b:9092")], outputs=[dataset(ORDERS, "databricks://127.0.0.1")])
    graph.send(sink, *map(encode, seen.events))
    impact = json.dumps(graph.ask("/graph/impact", namespace="kafka://b:9092", name="orders"))
    for name in (REVENUE, "s3://exports", "7/dashboard_v3/d1"):
        assert name in impact
    trace = graph.ask("/graph/trace", namespace=warehouse.namespace, name=REVENUE, column="total")
    assert ORDERS in json.dumps(trace)


def test_only_what_changed_is_reported_and_what_is_gone_is_taken_back(warehouse: Warehouse, graph: Server) -> None:
    there = warehouse.there
    for name in (ORDERS, REVENUE):
        there.table(name)
    there.tags = [(ORDERS, "", "tier", "gold")]
    there.flows = [("7", "JOB", "55", ORDERS, REVENUE, "", ""), ("7", "JOB", "56", REVENUE, ORDERS, "", "")]
    first = warehouse.poll()
    there.table(ORDERS, comment="", owner="ann")
    del there.tables[REVENUE]
    there.tags, there.flows = [], there.flows[:1]
    second = warehouse.poll(first)
    assert stated(second)[REVENUE] == {key: {"_deleted": True} for key in ("datasetType", "documentation", "ownership", "schema")}
    orders = stated(second)[ORDERS]
    assert (orders["documentation"], orders["tags"], orders["ownership"]["owners"][0]["name"]) == (
        {"_deleted": True},
        {"_deleted": True},
        "ann",
    )
    assert jobs(second) == {"7/job/56": ([], [])}
    graph.send(*map(encode, [*first.events, *second.events]))
    found = graph.ask("/lineage/datasets/detail", namespace=warehouse.namespace, name=ORDERS)["facets"]
    assert ("documentation" in found, "tags" in found, found["ownership"]["owners"][0]["name"]) == (False, False, "ann")
    flows = json.dumps(graph.ask("/graph/impact", namespace=warehouse.namespace, name=REVENUE))
    assert "7/job/56" not in flows
    assert (warehouse.poll(second).events, warehouse.poll(second).unseen) == ((), ())


def test_what_a_producer_states_is_neither_replaced_nor_withdrawn(warehouse: Warehouse, graph: Server) -> None:
    warehouse.there.table(ORDERS)
    stated_by_producer = {"schema": {"fields": [{"name": "ID", "type": "INT"}]}, "ownership": {"owners": [{"name": "bob"}]}}
    producer = run_event(job="load", outputs=[{"namespace": warehouse.namespace, "name": ORDERS, "facets": stated_by_producer}])
    first = warehouse.poll()
    del warehouse.there.tables[ORDERS]
    graph.send(producer, *map(encode, [*first.events, *warehouse.poll(first).events]))
    found = graph.ask("/lineage/datasets/detail", namespace=warehouse.namespace, name=ORDERS)["facets"]
    assert (found["schema"]["fields"][0]["name"], found["ownership"]["owners"][0]["name"]) == ("ID", "bob")


def test_what_may_not_be_listed_ends_nothing_and_hides_nothing_else(warehouse: Warehouse) -> None:
    there = warehouse.there
    for name in ("hr.staff.people", ORDERS, "main.stock.items", "other.a.b"):
        there.table(name)
    first = warehouse.poll()
    there.denied = {"hr", "main.sales"}
    there.table("main.stock.items", comment="New.")
    second = warehouse.poll(first)
    assert stated(second).keys() == {"main.stock.items"}
    assert [entry.what for entry in second.unseen] == ["catalog hr: schemas", "schema main.sales: tables"]
    assert "grant BROWSE" in second.unseen[0].hint
    there.denied, there.hidden = {"other.a.b"}, {ORDERS, "other.a.b"}
    hidden = warehouse.poll(second)
    assert (hidden.events, hidden.unseen) == ((), ()), "a list leaves out what may not be seen"
    del there.tables[ORDERS]
    assert stated(warehouse.poll(hidden)).keys() == {ORDERS}
    there.override = lambda request: Answer(500, {"message": "down"}) if request.parts[-1] == "catalogs" else None
    with pytest.raises(SourceError):
        warehouse.poll(hidden)


@pytest.mark.parametrize(
    "answer",
    [Answer(200, {"tables": None}), Answer(200, []), Answer(200, {"tables": "none"}), Answer(404, b"<html>no such page</html>")],
    ids=["null", "list", "text", "no page"],
)
def test_an_odd_answer_is_no_empty_list(warehouse: Warehouse, answer: Answer) -> None:
    warehouse.there.table(ORDERS)
    first = warehouse.poll()
    warehouse.there.override = lambda request: answer if "tables" in request.parts else None
    seen = warehouse.poll(first)
    assert (seen.events, len(seen.unseen)) == ((), 1)


@pytest.mark.parametrize(
    ("answer", "is_gone"),
    [
        (Answer(404, b"<html>no such page</html>"), False),
        (Answer(404, {"error_code": "SCHEMA_DOES_NOT_EXIST", "message": "Schema 'main.sales' does not exist."}), True),
        (Answer(200, {}), False),
    ],
    ids=["no page", "no schema", "nothing"],
)
def test_only_what_databricks_says_does_not_exist_is_gone(warehouse: Warehouse, answer: Answer, is_gone: bool) -> None:
    warehouse.there.table(ORDERS)
    first = warehouse.poll()
    warehouse.there.hidden = {ORDERS}
    warehouse.there.override = lambda request: answer if request.parts[-1] == "exists" else None
    seen = warehouse.poll(first)
    assert (bool(seen.events), len(seen.unseen)) == (is_gone, 0 if is_gone else 1)


def test_tags_withdraw_no_other_name_of_a_table(warehouse: Warehouse, graph: Server) -> None:
    warehouse.there.table(ORDERS, storage_location="s3://lake/orders/")
    warehouse.there.tags = [(ORDERS, "", "tier", "gold")]
    first = warehouse.poll()
    warehouse.there.tags = [(ORDERS, "", "tier", "silver")]
    graph.send(*map(encode, [*first.events, *warehouse.poll(first).events]))
    found = graph.ask("/lineage/datasets/detail", namespace="s3://lake", name="orders")["facets"]
    assert (found["documentation"]["description"], found["tags"]["tags"][0]["value"]) == ("One row each.", "silver")


def test_entries_of_an_odd_form_harm_no_other(warehouse: Warehouse) -> None:
    there = warehouse.there
    there.table(ORDERS)
    odd: list[Any] = [7, {}, {"name": 7}, {"full_name": "main.sales.x", "columns": [{}, 7, {"name": "c", "position": "p"}], "owner": {}}]
    there.override = lambda request: Answer(200, {"tables": [*odd, there.tables[ORDERS]]}) if request.parts[-1] == "tables" else None
    seen = warehouse.poll()
    assert stated(seen)["main.sales.x"]["schema"] == {"fields": [{"name": "c", "ordinal_position": 1}]}
    assert ORDERS in stated(seen)
    assert [entry.why for entry in seen.unseen] == ["2 entries"]


def test_lineage_and_tags_end_only_if_that_is_certain(warehouse: Warehouse) -> None:
    there = warehouse.there
    there.table(ORDERS)
    there.tags, there.flows = [(ORDERS, "", "tier", "gold")], [("7", "JOB", "55", ORDERS, REVENUE, "", "")]
    first = warehouse.poll()
    there.flows = []
    empty = warehouse.poll(first)
    assert (empty.events, "table_lineage is empty" in empty.unseen[0].why) == ((), True)
    there.tags, there.denied = [], {ORDERS}
    assert warehouse.poll(first).events == (), "its tags may be there, and hidden"
    there.outcome = {"state": "FAILED", "sql_state": "42501", "error": {"error_code": "BAD_REQUEST", "message": "no right\n\nat line 1"}}
    denied = warehouse.poll(first)
    assert (denied.events, [(entry.what, entry.why) for entry in denied.unseen]) == (
        (),
        [("lineage and tags", "a SQL statement ended as FAILED: no right")],
    )
    assert "SELECT on its table_lineage" in denied.unseen[0].hint
    assert denied.snapshot["statements"] == json.loads(json.dumps(first.snapshot["statements"]))


def test_patterns_choose_and_what_is_not_chosen_any_more_stays_as_it_was(warehouse: Warehouse) -> None:
    there = warehouse.there
    for name in (ORDERS, "hr.staff.people", "system.access.audit", "main.information_schema.columns"):
        there.table(name)
    there.flows = [("7", "JOB", "1", "hr.staff.people", "hr.staff.all", "", ""), ("7", "JOB", "2", "hr.staff.people", ORDERS, "", "")]
    first = warehouse.poll(tables=["main.*"])
    assert (set(stated(first)), set(jobs(first))) == ({ORDERS}, {"7/job/2"})
    assert warehouse.poll(first, catalogs=["hr"]).snapshot["tables"]["assets"]["tables"].keys() == {ORDERS, "hr.staff.people"}
    assert "GET /api/2.1/unity-catalog/schemas" in there.requests


def test_pages_of_statements_keep_the_flows_of_a_job_together(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    there = warehouse.there
    monkeypatch.setattr(statements.groups_of, "__defaults__", (3,))
    there.most_rows = 3
    wide = [("7", "JOB", "2", f"main.a.t{number}", ORDERS, "", "") for number in range(5)]
    there.flows = [("7", "JOB", "1", ORDERS, REVENUE, "", ""), *wide, ("7", "JOB", "3", REVENUE, "main.a.z", "", "")]
    seen = warehouse.poll()
    assert {name: len(inputs) for name, (inputs, _) in jobs(seen).items()} == {"7/job/1": 1, "7/job/2": 3, "7/job/3": 1}
    assert [entry.what for entry in seen.unseen] == ["lineage of 7/JOB/2/"]
    for flow in wide[2:]:
        there.flows.remove(flow)
    assert warehouse.poll(seen).unseen == ()


def test_a_result_that_is_not_whole_is_none(warehouse: Warehouse) -> None:
    warehouse.there.flows = [("7", "JOB", "1", ORDERS, REVENUE, "", "")]
    warehouse.there.rows_left_out = 1
    with pytest.raises(SourceError, match="1 of 2 rows"):
        Workspace(warehouse.settings(), wait=lambda _: None).rows(ANY_FLOW)


def test_a_statement_that_does_not_end_is_cancelled(warehouse: Warehouse) -> None:
    waits: list[float] = []
    warehouse.there.outcome = {"state": "RUNNING"}
    workspace = Workspace(warehouse.settings(statement_timeout_s=10), wait=waits.append)
    with pytest.raises(TimedOutError, match="did not end within 10 s"):
        workspace.rows(ANY_FLOW)
    workspace.close()
    assert (sum(waits) >= 10, warehouse.there.requests[-1]) == (True, "POST /api/2.0/sql/statements/statement-0/cancel")


def test_an_oauth_client_logs_in_again_when_its_token_is_not_accepted_any_more(warehouse: Warehouse) -> None:
    there = warehouse.there
    there.table(ORDERS)
    login: dict[str, Any] = {"token": None, "client_id": CLIENT, "client_secret": "${given:secret}"}
    source = UnityObserver("dbx", warehouse.settings(**login))
    source.workspace.has_table(ORDERS)
    there.issued = []
    assert source.workspace.has_table(ORDERS)
    source.close()
    with pytest.raises(UnauthenticatedError, match="401"):
        warehouse.poll(token="${given:secret}")
    assert isinstance(warehouse.poll(**login), Observation)


def test_a_poll_ends_soon_when_it_is_stopped(warehouse: Warehouse) -> None:
    for name in (ORDERS, REVENUE, "main.stock.items"):
        warehouse.there.table(name)
    source = UnityObserver("dbx", warehouse.settings())
    source.stop = threading.Event()

    def stop_at_tables(request: Request) -> None:
        if request.parts[-1] == "tables":
            source.stop.set()  # type: ignore[union-attr]  # it is set above

    warehouse.there.override = stop_at_tables
    source.observe(None, NO_METADATA, T0)
    source.close()
    assert [request for request in warehouse.there.requests if "tables" in request or "statements" in request] == [
        "GET /api/2.1/unity-catalog/tables"
    ]


def test_many_tables_are_reported_by_several_polls_and_statements_begin_after_the_last(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MOST_BYTES", 1)
    there = warehouse.there
    for name in (ORDERS, REVENUE, "main.stock.items"):
        there.table(name)
    there.flows = [("7", "JOB", "1", ORDERS, REVENUE, "", "")]
    source, before = UnityObserver("dbx", warehouse.settings()), None
    events: list[dict[str, Any]] = []
    for poll in range(1, 20):
        noticed = source.noticed_changes(lambda: None)
        seen = source.observe(before, NO_METADATA, T0 + poll * MINUTE_US)
        events += seen.events
        before = json.loads(json.dumps(seen.snapshot))
        if source.noticed_changes(lambda: None) == noticed:
            break
        assert all("job" not in event for event in seen.events)
    source.close()
    assert len(events) == 4
    assert poll > 2


def test_the_kind_is_offered_and_tested_step_by_step(warehouse: Warehouse) -> None:
    assert KINDS.load("unity").settings is UnitySourceSettings
    warehouse.there.table(ORDERS)
    source = UnityObserver("dbx", warehouse.settings())
    assert [(check.step, check.works) for check in source.test()] == [
        ("list schemas", True),
        ("list tables", True),
        ("read lineage", True),
        ("read tags", True),
    ]
    alone = UnityObserver("dbx", warehouse.settings(warehouse_id=None))
    assert [(check.step, check.skipped) for check in alone.test()][-1] == ("read lineage and tags", True)
    assert not any("statements" in request for request in warehouse.there.requests[-6:])
    assert warehouse.poll(warehouse_id=None).snapshot.keys() == {"tables"}
    for found in (source, alone):
        found.close()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("s3://lake/a/b/", ("s3://lake", "a/b")),
        ("abfss://c@acc.dfs.core.windows.net/a", ("abfss://c@acc.dfs.core.windows.net", "a")),
        ("s3://lake", None),
        ("dbfs:/x", None),
    ],
)
def test_the_folder_of_the_files_is_another_name(text: str, name: tuple[str, str] | None) -> None:
    assert location_of(text) == name


@pytest.mark.parametrize("is_removed", [True, False], ids=["removed", "down"])
def test_a_warehouse_that_is_not_there_any_more_keeps_no_table_from_being_read(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, is_removed: bool
) -> None:
    there = warehouse.there
    there.table(ORDERS)
    there.tags = [(ORDERS, "", "tier", "gold"), (REVENUE, "", "tier", "gold")]
    monkeypatch.setattr(statements.groups_of, "__defaults__", (2,))
    there.most_rows = 2
    with monkeypatch.context() as small:
        small.setattr(walk, "MOST_BYTES", 1)
        first = warehouse.poll()
    assert first.snapshot["statements"]["cursor"]
    there.table(ORDERS, comment="New.")
    there.outcome = {"state": "FAILED", "error": {"error_code": "BAD_REQUEST", "message": "deleted"}}
    settings = {"warehouse_id": None} if is_removed else {}
    second = warehouse.poll(first, **settings)
    assert ORDERS in stated(warehouse.poll(second, **settings)) or ORDERS in stated(second)


def test_what_an_earlier_poll_of_a_walk_could_not_see_stays_unseen_until_the_walk_ends(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = warehouse.there
    for name in (ORDERS, "main.stock.items", "main.stock.parts"):
        there.table(name)
    there.denied = {"main.sales"}
    monkeypatch.setattr(walk, "MOST_BYTES", 1)
    seen = warehouse.poll()
    polls = 1
    while seen.snapshot["tables"]["cursor"]:
        seen = warehouse.poll(seen)
        polls += 1
        assert [entry.what for entry in seen.unseen] == ["schema main.sales: tables"]
    assert polls > 1
    there.denied = set()
    assert warehouse.poll(seen).unseen == ()


def test_tables_that_are_deleted_in_several_polls_start_the_warehouse_only_after_the_last(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = warehouse.there
    for number in range(3):
        there.table(f"main.sales.t{number}")
    first = warehouse.poll()
    there.tables.clear()
    there.table(ORDERS)
    monkeypatch.setattr(walk, "MOST_ASKED", 2)
    there.requests.clear()
    second = warehouse.poll(first)
    assert len(stated(second)) == 3
    assert not any("statements" in request for request in there.requests)
    assert stated(warehouse.poll(second)).keys() == {"main.sales.t2"}
    assert any("statements" in request for request in there.requests)


def test_a_statement_is_cancelled_when_the_poll_is_stopped(warehouse: Warehouse) -> None:
    source = UnityObserver("dbx", warehouse.settings())
    source.stop = threading.Event()

    def stop_at_statements(request: Request) -> None:
        if request.parts[-1] == "statements":
            source.stop.set()  # type: ignore[union-attr]  # it is set above

    warehouse.there.override = stop_at_statements
    source.observe(None, NO_METADATA, T0)
    source.close()
    assert warehouse.there.requests[-1] == "POST /api/2.0/sql/statements/statement-0/cancel"


def test_names_are_asked_for_as_they_are_and_patterns_match_them_in_any_case(warehouse: Warehouse) -> None:
    there = warehouse.there
    odd = "main.sales.a?b#c%2fd"
    there.table(odd)
    first = warehouse.poll(tables=["Main.Sales.*"])
    there.hidden = {odd}
    assert warehouse.poll(first, catalogs=["MAIN"]).events == ()
    assert stated(first).keys() == {odd}


def test_a_workspace_that_does_not_answer_is_not_blamed_on_the_credentials(warehouse: Warehouse) -> None:
    login: dict[str, Any] = {"token": None, "client_id": CLIENT, "client_secret": "${given:secret}"}
    with pytest.raises(UnreachableError):
        warehouse.poll(url="http://127.0.0.1:9", **login)
    with pytest.raises(UnauthenticatedError):
        warehouse.poll(**{**login, "client_secret": "${given:token}"})


@pytest.mark.parametrize("is_walked", [True, False])
def test_comments_and_tags_that_were_published_do_not_come_back(warehouse: Warehouse, is_walked: bool) -> None:
    items = {
        comment_id(""): (short_digest("One row each."),),
        comment_id("ID"): (short_digest("Its number."), short_digest("older")),
        tag_id("", "tier"): (short_digest("gold"),),
        tag_id("id", "pii"): (short_digest("true"),),
    }
    mark = Marks(short_digest("content"), short_digest("properties"), items).text
    warehouse.there.table(ORDERS, properties={"lineagebridge.marks": mark, "other.marks": "theirs"})
    warehouse.there.table(REVENUE)
    own = [(ORDERS, "", "tier", "gold"), (ORDERS, "id", "pii", ""), (REVENUE, "", "lineagebridge", mark), (REVENUE, "", "tier", "gold")]
    warehouse.there.tags = [*own, (ORDERS, "", "theirs", "1"), (ORDERS, "id", "tier", "gold")]
    if not is_walked:
        warehouse.there.denied = {"main.sales"}
    seen = warehouse.poll()
    found = stated(seen)
    assert found[ORDERS]["tags"]["tags"] == [
        {"key": "theirs", "value": "1", "source": "UNITY_CATALOG"},
        {"key": "tier", "value": "gold", "source": "UNITY_CATALOG", "field": "id"},
    ]
    assert "tags" not in found.get(REVENUE, {})
    if is_walked:
        assert "documentation" not in found[ORDERS]
        assert found[ORDERS]["schema"] == {"fields": [{"name": "id", "type": "bigint", "ordinal_position": 1}]}
        assert found[REVENUE]["documentation"] == {"description": "One row each."}
    warehouse.there.tags = own
    assert stated(warehouse.poll(seen))[ORDERS]["tags"] == {"_deleted": True}
    warehouse.there.tables[ORDERS]["comment"] = "Theirs now."
    warehouse.there.denied = set()
    assert stated(warehouse.poll(seen))[ORDERS]["documentation"] == {"description": "Theirs now."}
