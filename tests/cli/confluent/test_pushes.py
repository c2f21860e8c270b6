"""The prototype's ways to push: what was extracted, and what a watch finds, goes to a stand-in of Unity Catalog that variables name."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.catalogs.standins.databricks import TOKEN, UnityCatalog
from tests.catalogs.standins.server import answering
from tests.confluent import changes
from tests.confluent.installation import Installation, installed
from tests.confluent.organization.resources import DEV

pytestmark = pytest.mark.long


@pytest.fixture
def there() -> UnityCatalog:
    found = UnityCatalog()
    found.page = 1000
    return found


@pytest.fixture
def installation(there: UnityCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    with answering(there.handle) as url:
        monkeypatch.setenv("LINEAGE_BRIDGE_DATABRICKS_WORKSPACE_URL", url)
        monkeypatch.setenv("LINEAGE_BRIDGE_DATABRICKS_TOKEN", TOKEN)
        with installed(tmp_path, off=["metrics", "groups"]) as found:
            yield found


def test_what_is_extracted_and_what_a_watch_finds_is_pushed(call, there: UnityCatalog, installation: Installation) -> None:
    url = ("--url", installation.server.url)
    missing = call("extract", "--push", "aws_glue", *url)
    assert (missing.code, "aws_glue has no target" in missing.err, installation.get("/tasks")) == (2, True, [])
    answer = json.loads(call("extract", "--push-lineage", "--json", *url).out)
    report = answer["pushes"]["databricks"]
    assert (answer["status"], report["state"], report["outcomes"].keys() - {"done", "refused"}) == ("completed", "done", set())
    assert report["written"]["relationships"] == len(there.lineage) > 0
    watching = installation.command("watch", "--push-uc", "--push", "databricks_uc", "--interval", "1", "--polls", "4", "--json")
    installation.wait(lambda: installation.get("/sources/cloud")["polls"] > 0 and installation.get("/sources/cloud")["state"] != "paused")
    changes.add_topic(installation.cloud.organization, DEV, "watched-topic")
    out, _ = watching.communicate(timeout=120)
    assert watching.returncode == 0
    pushed = [line["pushes"] for line in map(json.loads, out.splitlines()) if "pushes" in line]
    assert pushed
    assert {(name, found["state"]) for reports in pushed for name, found in reports.items()} == {("databricks", "done")}
