"""Names of accounts, users and keys: no e-mail addresses, no secrets, and a failed listing removes nothing."""

import json
from typing import Any

import pytest
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.identities.plane import IdentitiesPlane, IdentityListing, planes
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings

ACCOUNTS = [{"id": "sa-1", "display_name": "order-service", "description": "x"}, {"id": "sa-2", "display_name": "flink-jobs"}]
USERS = [
    {"id": "u-1", "full_name": "Anna Kovacs", "email": "anna@acme.example"},
    {"id": "u-2", "full_name": "boris@acme.example", "email": "boris@acme.example"},
    {"id": "u-3", "email": "chloe@acme.example"},
]
KEYS = [
    {"id": "KEY1", "spec": {"secret": "hush", "owner": {"id": "sa-1"}, "resource": {"id": "lkc-1"}}},
    {"id": "KEY2", "spec": {"owner": {"id": "u-3"}}},
    {"id": "KEY3", "spec": {"owner": None}},
]


def api(request: Request) -> Reply:
    """Two entries a page."""
    data: dict[str, list[Any]] = {"service-accounts": ACCOUNTS, "users": USERS, "api-keys": KEYS}
    name, at = request.parts[-1], int(request.query.get("page_token", 0))
    following = f"/iam/v2/{name}?page_token={at + 2}" if at + 2 < len(data[name]) else None
    return Reply(200, {"metadata": {"next": following}, "data": data[name][at : at + 2]})


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CLOUD_SECRET", "s3cret")
    with standing(Standin(api, "CLOUDKEY:s3cret")) as standin:
        yield standin


def plane(url: str, **more: Any) -> IdentitiesPlane:
    settings = ConfluentSettings(url=url, timeout_s=20, **{"cloud": {"key": "CLOUDKEY", "secret": "${env:CLOUD_SECRET}"}, **more})
    (plane_,) = planes(PlaneContext(Organization(), Organization(), Clients(settings), settings))
    assert isinstance(plane_, IdentitiesPlane)
    return plane_


def test_ids_have_names_and_keys_have_their_owners_names(cloud: Standin):
    names = plane(cloud.url)
    observation = names.translate(names.fetch(None, 0), None, NO_METADATA, 0)
    assert names.shared_metadata(observation.snapshot).names == {
        "sa-1": "order-service",
        "sa-2": "flink-jobs",
        "u-1": "Anna Kovacs",
        "KEY1": "order-service",
        "KEY2": "u-3",
    }
    assert not observation.events
    assert not observation.unseen
    assert "@" not in json.dumps(observation.snapshot)
    assert "hush" not in json.dumps(observation.snapshot)
    assert names.translate(names.fetch(observation.snapshot, 1), observation.snapshot, NO_METADATA, 1) == observation


@pytest.mark.parametrize(
    "answer",
    [Reply(500, {"message": "broken"}), Reply(403, {}), Reply(200, b"<html>", "text/html"), Reply(200, {"data": 3})],
)
def test_a_failed_listing_removes_nothing(cloud: Standin, answer: Reply):
    names = plane(cloud.url)
    before = names.translate(names.fetch(None, 0), None, NO_METADATA, 0).snapshot
    cloud.failing["/iam/v2/users?page_size=100&page_token=2"] = answer
    after = names.translate(names.fetch(before, 1), before, NO_METADATA, 1)
    assert after.snapshot == before
    assert [unseen.what for unseen in after.unseen] == ["users"]


def test_an_account_that_is_no_longer_listed_has_no_name(cloud: Standin):
    names = plane(cloud.url)
    before = names.translate(names.fetch(None, 0), None, NO_METADATA, 0).snapshot
    cloud.failing["/iam/v2/users"] = Reply(200, {"data": []})
    after = names.translate(names.fetch(before, 1), before, NO_METADATA, 1)
    assert "u-1" not in names.shared_metadata(after.snapshot).names
    assert "u-1" in names.shared_metadata(before).names


def test_without_a_key_or_the_right_to_list_there_are_no_names(cloud: Standin):
    assert plane(cloud.url, cloud=None).unavailable_reason() == "no Cloud API key is set"
    assert not plane(cloud.url).unavailable_reason()
    cloud.failing["/iam"] = Reply(403, {"errors": [{"detail": "not yours"}]})
    with pytest.raises(SourceError, match="not yours"):
        plane(cloud.url).fetch(None, 0)


def test_an_empty_organization_has_no_names(cloud: Standin):
    names = plane(cloud.url)
    before = names.translate(names.fetch(None, 0), None, NO_METADATA, 0).snapshot
    assert names.shared_metadata(names.translate(names.empty_answer(), before, NO_METADATA, 0).snapshot).names == {}
    assert names.empty_answer() == IdentityListing({"service accounts": {}, "users": {}, "API keys": {}})
