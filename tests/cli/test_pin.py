"""Pins on the command line."""

import json

import pytest

VIEW = "view/impact?namespace=ns&name=review%2Fview%2Forders"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "/",
        "https://tools.example/",
        "https://tools.example/lineage/",
        "https://tools.example/review/",
        "https://tools.example/view/",
        "/overview/",
        "preview/",
    ],
)
def test_a_pin_keeps_the_view_of_an_address_below_any_prefix(server, call, before: str):
    kept = call("pin", "add", f"{before}{VIEW}", "--name", before, "--url", server.url, "--json")
    assert json.loads(kept.out)["address"] == VIEW
    assert call("pin", "remove", json.loads(kept.out)["id"], "--url", server.url).code == 0
