"""Pins: short links to views, which refer and hold no data."""

import pytest
from starlette.testclient import TestClient
from tests.api.support import NOW, Server

from lineage_bridge.api.routes.page.pins import LONGEST_ADDRESS, LONGEST_NAME
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.state.pins import PinStore

VIEW = "view/lineage?kind=dataset&namespace=kafka%3A%2F%2Fb%3A9092&name=orders+%22x%22&up=3"


def keep(client: TestClient, status: int = 201, **asked: str) -> dict[str, str]:
    answer = client.post("/api/v1/pins", json={"address": VIEW, **asked})
    assert answer.status_code == status, answer.text
    found: dict[str, str] = answer.json()
    return found


def test_an_address_is_kept_under_an_id_and_removed(server: Server) -> None:
    pin = keep(server.client, name="wrong revenue")
    assert len(pin["id"]) == 16
    assert pin == {**pin, "address": VIEW, "name": "wrong revenue", "created_at": format_time(NOW)}
    assert keep(server.client, 200, name="wrong revenue") == pin, "the same again is the same pin"
    other = keep(server.client, address="view/estate")
    assert {item["id"] for item in server.ask("/pins")["pins"]} == {pin["id"], other["id"]}
    assert server.ask(f"/pins/{pin['id']}") == pin
    assert server.client.delete(f"/api/v1/pins/{pin['id']}").json() == {"removed": True}
    assert server.ask(f"/pins/{pin['id']}", 404)["error"]["code"] == "not_found"
    assert server.client.delete(f"/api/v1/pins/{pin['id']}").status_code == 404
    assert server.ask("/pins")["pins"] == [other]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://evil.example/view/lineage",
        "//evil.example/view/lineage",
        "/view/lineage",
        "view/../../auth/logout",
        "view/%2e%2e/\nview/lineage",
        "javascript:alert(1)",
        "view/x/../../auth/logout",
        "view/x/%2e%2E/auth",
        "view/lineage?name=a b",
        "view/lineage?name=\u202e",
        "view/lineage#top",
        "view/pin/abc",
        "view/lineage?" + "a" * LONGEST_ADDRESS,
    ],
)
def test_only_addresses_of_views_of_this_page_are_kept(server: Server, address: str) -> None:
    assert keep(server.client, 422, address=address)["error"]
    assert server.ask("/pins")["pins"] == []


def test_names_are_bounded_and_requests_are_of_the_form(server: Server) -> None:
    keep(server.client, 422, name="n" * (LONGEST_NAME + 1))
    keep(server.client, 422, color="red")
    keep(server.client, name="n" * LONGEST_NAME, address="view/lineage?" + "a" * (LONGEST_ADDRESS - 13))


def test_pins_are_bounded_in_number(server: Server) -> None:
    client = server.client_of(pins=PinStore(server.state, most=2))
    keep(client, address="view/estate")
    keep(client)
    refused = keep(client, 422, address="view/search?q=x")["error"]
    assert "the limit of this server" in str(refused)
    keep(client, 200)


def test_pins_of_one_author_are_bounded_in_number(server: Server) -> None:
    client = server.asking_for_keys(pins=PinStore(server.state, most_of_author=1))
    ada, ben = server.key("ada", "read"), server.key("ben", "read")

    def kept(headers: dict[str, str], address: str) -> tuple[int, str]:
        answer = client.post("/api/v1/pins", json={"address": address}, headers=headers)
        return answer.status_code, answer.text

    assert kept(ada, VIEW)[0] == 201
    status, text = kept(ada, "view/estate")
    assert status == 422
    assert "'ada' has 1 pins, the limit for one author" in text
    assert kept(ada, VIEW)[0] == 200
    assert kept(ben, VIEW)[0] == 201


def test_what_changes_nothing_is_not_recorded(server: Server) -> None:
    pin = keep(server.client)
    for _ in range(3):
        assert keep(server.client, 200) == pin
    assert [entry["action"] for entry in server.ask("/audit")["changes"]].count("POST /pins") == 1


def test_lists_are_paged_and_newest_first(server: Server) -> None:
    for number in range(3):
        server.parts.now_us = NOW + number
        keep(server.client, address=f"view/search?q={number}")
    first = server.client.get("/api/v1/pins", params={"limit": 2})
    assert [item["address"][-1] for item in first.json()["pins"]] == ["2", "1"]
    assert 'rel="next"' in first.headers["link"]
    assert [item["address"][-1] for item in server.ask("/pins", limit=2, offset=2)["pins"]] == ["0"]


def test_who_keeps_lists_and_removes(server: Server) -> None:
    client = server.asking_for_keys()
    ours, ada, operator = (
        server.key("ours", "read", namespaces=("kafka://own",)),
        server.key("ada", "read"),
        server.key("op", "read", "operate"),
    )
    sender = server.key("etl", "ingest")

    def pinned(headers: dict[str, str], address: str) -> str:
        answer = client.post("/api/v1/pins", json={"address": address}, headers=headers)
        assert answer.status_code == 201, answer.text
        found: str = answer.json()["id"]
        return found

    def listed(headers: dict[str, str]) -> set[str]:
        return {item["author"] for item in client.get("/api/v1/pins", headers=headers).json()["pins"]}

    mine, hers = pinned(ours, VIEW), pinned(ada, VIEW)
    assert mine != hers
    assert (listed(ours), listed(ada)) == ({"ours"}, {"ours", "ada"}), "addresses contain names of others"
    assert client.get(f"/api/v1/pins/{hers}", headers=ours).json()["author"] == "ada", "who was given an id"
    assert client.post("/api/v1/pins", json={"address": VIEW}, headers=sender).status_code == 403
    refused = client.delete(f"/api/v1/pins/{mine}", headers=ada)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "missing_scope")
    assert client.delete(f"/api/v1/pins/{hers}", headers=ada).status_code == 200
    assert client.delete(f"/api/v1/pins/{mine}", headers=operator).status_code == 200
    recorded = [(entry["principal"], entry["action"]) for entry in server.ask("/audit")["changes"]]
    assert recorded.count(("ada", "POST /pins")) == 1
    assert ("op", "DELETE /pins/{pin_id}") in recorded
    assert ("ada", "DELETE /pins/{pin_id}") in recorded
    assert len([entry for entry in recorded if "pins" in entry[1]]) == 4
