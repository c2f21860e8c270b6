"""Targets that variables of the environment name, as the prototype had them."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.api.support import Server

from lineage_bridge.catalogs.continuous.status import Followed
from lineage_bridge.catalogs.environment import VARIABLES, targets_from_environment
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.config import load_settings
from lineage_bridge.errors import RequestError
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.targets import PublicationLedger, TargetRepository

EVERY = {name: f"value of {name}" for name in VARIABLES} | {
    "LINEAGE_BRIDGE_DATABRICKS_WORKSPACE_URL": "https://dbc-1.cloud.databricks.com",
    "LINEAGE_BRIDGE_DATABRICKS_WAREHOUSE_ID": "a1b2c3d4",
    "LINEAGE_BRIDGE_AWS_REGION": "eu-central-1",
    "LINEAGE_BRIDGE_AWS_DATAZONE_DOMAIN_ID": "dzd_4k2m8example",
    "LINEAGE_BRIDGE_GCP_PROJECT_ID": "sales-prod",
    "LINEAGE_BRIDGE_GCP_LOCATION": "europe-west3",
}

KINDS = TargetKinds(Path("/nowhere"))


def service(server: Server, in_file: dict[str, dict[str, str]] | None = None) -> TargetService:
    return TargetService(
        in_file or {},
        TargetRepository(server.state),
        PublicationLedger(server.state),
        TargetKinds(server.folder / "published"),
        server.publishing,
        lambda: 0,
        Followed(server.follow_repository, lambda _: 0, lambda: None, lambda: 0),
        targets_from_environment(EVERY, KINDS),
    )


def test_the_prototypes_variables_define_targets_and_stop_no_command() -> None:
    load_settings({}, EVERY, Path("/"), ignored=VARIABLES)
    assert targets_from_environment(EVERY, KINDS) == {
        "databricks": {
            "kind": "databricks",
            "url": "https://dbc-1.cloud.databricks.com",
            "token": "${env:LINEAGE_BRIDGE_DATABRICKS_TOKEN}",
            "warehouse_id": "a1b2c3d4",
        },
        "datazone": {"kind": "datazone", "region": "eu-central-1", "domain": "dzd_4k2m8example"},
        "google": {"kind": "google", "project": "sales-prod", "location": "europe-west3"},
    }


@pytest.mark.parametrize("missing", ["DATABRICKS_WORKSPACE_URL", "DATABRICKS_TOKEN"])
def test_half_of_an_access_defines_nothing(missing: str) -> None:
    assert "databricks" not in targets_from_environment({**EVERY, f"LINEAGE_BRIDGE_{missing}": ""}, KINDS)


def test_the_region_is_the_prototypes_unless_it_is_set() -> None:
    named = {"LINEAGE_BRIDGE_AWS_DATAZONE_DOMAIN_ID": "dzd_4k2m8example", "LINEAGE_BRIDGE_GCP_PROJECT_ID": "sales-prod"}
    found = targets_from_environment(named, KINDS)
    assert (found["datazone"]["region"], found["google"]["location"]) == ("us-east-1", "us")


def test_they_are_targets_as_others(ours: Server) -> None:
    targets = service(ours)
    assert [(record.name, record.origin, record.paused) for record in targets.records()] == [
        ("databricks", "environment", False),
        ("datazone", "environment", False),
        ("google", "environment", False),
    ]
    targets.target("databricks").close()
    with pytest.raises(RequestError, match="defined in the environment"):
        targets.remove("databricks")


def test_they_yield_to_any_other_target_of_their_kind_or_name(ours: Server) -> None:
    targets = service(ours, {"datazone": {"kind": "files", "file": "lineage.ndjson"}})
    targets.add("unity", "databricks", {"url": "https://dbc-2.cloud.databricks.com", "token": "${env:PATH}"}, replace=False)
    assert [(record.name, record.kind, record.origin) for record in targets.records()] == [
        ("datazone", "files", "file"),
        ("google", "google", "environment"),
        ("unity", "databricks", "added"),
    ]
    assert [target.name for target in targets.configured()] == ["datazone", "google", "unity"]


@pytest.mark.parametrize("url", ["https://token:hunter2@dbc-1.cloud.databricks.com", "dbc-1.cloud.databricks.com/hunter2"])
def test_an_invalid_one_is_none_and_its_value_is_not_shown(url: str, caplog: pytest.LogCaptureFixture) -> None:
    found = targets_from_environment({**EVERY, "LINEAGE_BRIDGE_DATABRICKS_WORKSPACE_URL": url}, KINDS)
    assert sorted(found) == ["datazone", "google"]
    assert "define no target: target databricks (databricks): setting url" in caplog.text
    assert "hunter2" not in caplog.text


def test_they_are_not_hidden_while_a_publication_to_them_runs(ours: Server) -> None:
    targets, repository = service(ours), TargetRepository(ours.state)
    settings = {"url": "https://dbc-2.cloud.databricks.com", "token": "${env:PATH}"}
    running = PublicationReport("running", False, False, False, 1)
    repository.save_report("databricks", running)
    for name, kind, own in (("unity", "databricks", settings), ("databricks", "files", {"file": "lineage.ndjson"})):
        with pytest.raises(RequestError, match="a publication to target databricks is running"):
            targets.add(name, kind, own, replace=False)
    targets.add("elsewhere", "files", {"file": "lineage.ndjson"}, replace=False)
    repository.save_report("databricks", replace(running, state="done"))
    assert targets.add("unity", "databricks", settings, replace=False).origin == "added"
