"""Pushes: the publications of `publish`, asked for and answered in the formats of the prototype."""

from itertools import count
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import make_place

from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.projections.pushes import PROVIDERS
from lineage_bridge.store.state.targets import TargetRepository

COUNTERS = (
    "tables_updated",
    "properties_set",
    "comments_set",
    "bridge_rows_inserted",
    "external_metadata_registered",
    "lineage_relationships_created",
)


def push(server: Server, provider: str, options: Any = None, **query: str) -> Any:
    answer = server.client.post(f"/api/v1/push/{provider}", json=options or {}, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refusal(server: Server, provider: str, options: Any = None, **query: str) -> tuple[int, str]:
    answer = server.client.post(f"/api/v1/push/{provider}", json=options or {}, params=query)
    return answer.status_code, answer.json()["error"]["code"]


def test_a_push_is_the_publication_of_publish(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("databricks", request, ours)
    added(ours, place)
    first = push(ours, "databricks_uc", {"use_native_lineage": True}, graph_id=ours.services.graph_id)
    # three jobs and the datasets a to e; each job has its inputs and outputs
    assert [first[counter] for counter in COUNTERS] == [0, 0, 0, 0, 8, 7]
    assert (first["errors"], first["targets"], first["unchanged"]) == ([], ["there"], 0)
    assert "1 not expressible in the catalog: datasets that no job reads or writes" in first["skipped"]
    assert place.edges() == EDGES
    assert ours.ask("/targets/there/publication")["written"] == {"external_metadata": 8, "relationships": 7}
    again = push(ours, "databricks_uc")
    assert ([again[counter] for counter in COUNTERS], again["unchanged"], again["errors"]) == ([0] * 6, 3, [])
    assert published(ours, plan_only=True).counts == {}


def test_catalogs_that_take_events_count_them_as_tables(request: pytest.FixtureRequest, ours: Server) -> None:
    added(ours, make_place("datazone", request, ours))
    assert push(ours, "datazone")["tables_updated"] == 3
    assert push(ours, "datazone")["tables_updated"] == 0


def test_what_others_changed_is_skipped_and_not_overwritten(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("databricks", request, ours)
    added(ours, place)
    push(ours, "databricks_uc")
    place.plant("clean")
    found = push(ours, "databricks_uc")
    assert "job jobs clean was changed there" in found["skipped"]
    assert ("clean", "x", "y") in place.edges()


def test_a_catalog_that_cannot_be_reached_is_an_error_of_the_result(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("databricks", request, ours)
    added(ours, place, url="http://127.0.0.1:9", tries=1)
    found = push(ours, "databricks_uc")
    assert "target there: failed" in found["errors"][0]
    assert [found[counter] for counter in COUNTERS] == [0] * 6


def test_one_target_that_is_paused_does_not_hold_up_the_others(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("databricks", request, ours)
    added(ours, place)
    ours.targets.add("asleep", "databricks", place.settings, replace=False)
    ours.targets.pause("asleep", paused=True)
    found = push(ours, "databricks_uc")
    assert (found["targets"], found["errors"]) == (["there"], ["target asleep: target asleep is paused"])
    ours.targets.pause("there", paused=True)
    assert refusal(ours, "databricks_uc") == (422, "bad_argument")


@pytest.mark.parametrize("loss", ["replaced", "removed"])
def test_a_push_answers_for_its_own_publications_alone(request: pytest.FixtureRequest, ours: Server, loss: str) -> None:
    place, repository = make_place("databricks", request, ours), TargetRepository(ours.state)
    added(ours, place)
    ours.targets.add("unlucky", "databricks", place.settings, replace=False)
    begin, looks = ours.publishing.begin, count()

    def begin_slowly(name: str, report: PublicationReport) -> None:
        repository.save_report(name, report) if name == "unlucky" else begin(name, report)

    def lose_it(_: int) -> bool:
        if next(looks) == 2 and loss == "removed":  # the first two are those of the start
            repository.remove("unlucky")
        elif loss == "replaced":
            repository.save_report("unlucky", PublicationReport("done", True, True, False, 7, written={"relationships": 1000}))
        return True

    ours.publishing.begin, ours.publishing.is_publishing = begin_slowly, lose_it  # type: ignore[method-assign]  # a process that is slow
    found = push(ours, "databricks_uc")
    assert (found["targets"], found["lineage_relationships_created"], len(found["errors"])) == (["there"], 7, 1)
    assert {"replaced": "a later publication has replaced its report", "removed": "there is no target unlucky"}[loss] in found["errors"][0]


def test_why_nothing_can_be_pushed_has_a_code(request: pytest.FixtureRequest, ours: Server) -> None:
    kinds = {kind.kind for kind in ours.targets.kinds()}
    assert refusal(ours, "snowflake") == (422, "unknown_provider")
    for provider in PROVIDERS:
        code = (422, "provider_not_configured") if provider.kind in kinds else (501, "provider_not_available")
        assert refusal(ours, provider.name) == code
    added(ours, make_place("databricks", request, ours))
    assert refusal(ours, "databricks_uc", graph_id="../../name") == (404, "not_found")
    assert refusal(ours, "databricks_uc", {"warehouse": "x"}) == (422, "bad_argument")
    assert refusal(ours, "databricks_uc", {"create_bridge_table": True}) == (422, "bad_argument")
    assert refusal(ours, "databricks_uc", ["x"]) == (422, "bad_argument")


def test_options_are_compared_with_their_types_and_repeated_only_in_part(request: pytest.FixtureRequest, ours: Server) -> None:
    added(ours, make_place("databricks", request, ours))
    assert refusal(ours, "databricks_uc", {"set_properties": 0}) == (422, "bad_argument")
    for options in ({"x" * 5000: True}, {"set_properties": ["x" * 5000]}):
        answer = ours.client.post("/api/v1/push/databricks_uc", json=options)
        assert (answer.status_code, len(answer.json()["error"]["message"]) < 300) == (422, True)
    assert refusal(ours, "databricks_uc", {"set_properties": False}) == (422, "bad_argument")
    asked = {"set_properties": True, "set_comments": True, "bridge_table_name": None}
    assert push(ours, "databricks_uc", asked)["errors"] == []
    added(ours, make_place("databricks", request, ours), warehouse_id="")
    assert refusal(ours, "databricks_uc", {"set_comments": True}) == (422, "bad_argument")
    assert push(ours, "databricks_uc", {"set_properties": False, "set_comments": False})["errors"] == []


def test_pushes_take_the_room_of_publications(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("databricks", request, ours)
    for name in ("t0", "t1", "t2", "t3"):
        ours.targets.add(name, "files", {"file": f"{name}.ndjson"}, replace=False)
    added(ours, place)
    ours.publishing.stays = True
    for name in ("t0", "t1", "t2", "t3"):
        assert ours.client.post(f"/api/v1/targets/{name}/publish", json={"plan_only": True}).status_code == 202
    assert refusal(ours, "databricks_uc") == (503, "too_many_publications")


def test_the_providers_say_what_they_need(request: pytest.FixtureRequest, ours: Server) -> None:
    added(ours, make_place("databricks", request, ours))
    answer = ours.ask("/push/providers")
    assert answer["providers"] == ["databricks_uc", "aws_glue", "google", "datazone"]
    details = {item["provider"]: item for item in answer["details"]}
    assert [(details[name]["configured"], details[name]["targets"]) for name in ("databricks_uc", "aws_glue")] == [
        (True, ["there"]),
        (False, []),
    ]
    assert (details["databricks_uc"]["extra"], details["databricks_uc"]["installed"], details["databricks_uc"]["needs"]) == (
        "databricks",
        True,
        ["url"],
    )
    assert details["aws_glue"]["needs"] == ["region", "catalog_id"]


def test_the_catalogs_are_those_of_the_prototype(ours: Server) -> None:
    assert {(found["catalog_type"], found["node_type"], found["system_type"]) for found in ours.ask("/catalogs")} == {
        ("UNITY_CATALOG", "catalog_table", "databricks"),
        ("AWS_GLUE", "catalog_table", "aws"),
        ("GOOGLE_DATA_LINEAGE", "catalog_table", "google"),
        ("AWS_DATAZONE", "catalog_table", "aws"),
    }
