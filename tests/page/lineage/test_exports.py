"""The picture of a lineage as files, in a browser."""

import csv
import json
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import TABLE, open_view

SVG = "{http://www.w3.org/2000/svg}"
PNG = b"\x89PNG\r\n\x1a\n"


def test_all_exports_have_what_is_drawn(page: Page, shown: Shown, tmp_path: Path) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TABLE, 'down': 2})}")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    drawn = page.locator(".react-flow__node").count()
    page.keyboard.press("e")
    files = {}
    for form in ("SVG", "PNG", "CSV", "JSON", "Mermaid", "OpenLineage"):
        with page.expect_download() as download:
            page.get_by_role("dialog", name="Export").get_by_role("button", name=form, exact=True).press("Enter")
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        files[form] = path.read_bytes()
    whole = json.loads(files["JSON"])
    names = {node["name"] for node in whole["nodes"]}
    assert len(whole["nodes"]) == drawn
    assert whole["link"] == page.url
    boxes = [title.text or "" for title in ET.fromstring(files["SVG"]).iterfind(f"{SVG}rect/{SVG}title")]
    assert {box.split(" in ")[0].split(" ", 1)[1] for box in boxes} == names
    assert files["PNG"].startswith(PNG)
    rows = list(csv.DictReader(files["CSV"].decode().splitlines()))
    assert {row[end] for row in rows for end in ("source_name", "target_name")} == names
    assert len(rows) == len(whole["links"])
    assert files["Mermaid"].decode().count("->") == len(whole["links"])
    jobs = {event["job"]["name"] for event in json.loads(files["OpenLineage"])}
    assert jobs == {node["name"] for node in whole["nodes"] if node["kind"] == "job"}
