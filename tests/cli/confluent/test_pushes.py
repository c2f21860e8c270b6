"""The prototype's ways to push: what was extracted, and what a watch finds, goes to a stand-in of Unity Catalog that variables name."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.catalogs.standins.databricks import TOKEN, UnityCatalog
from tests.catalogs.standins.server import answering
from tests.confluent import changes
from tests.confluent.installation import Installation, installed
from tests.confluent.organization.resources import DEV


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
    pause(installation)
    unpublished = call("extract", "--push-lineage", "--json", *url)
    answer = json.loads(unpublished.out)
    assert (unpublished.code, answer["status"]) == (1, "completed")
    assert (answer["pushes"]["databricks"]["state"], answer["pushes"]["databricks"]["error"]) == ("failed", "target databricks is paused")
    resume(installation)
    answer = json.loads(call("extract", "--push-lineage", "--json", *url).out)
    report = answer["pushes"]["databricks"]
    assert (answer["status"], report["state"], report["outcomes"].keys() - {"done", "refused"}) == ("completed", "done", set())
    assert report["written"]["relationships"] == len(there.lineage) > 0
    pause(installation)
    watching = installation.command("watch", "--push-uc", "--push", "databricks_uc", "--interval", "1", "--polls", "6", "--json")
    installation.wait(lambda: installation.get("/sources/cloud")["polls"] > 0 and installation.get("/sources/cloud")["state"] != "paused")
    changes.add_topic(installation.cloud.organization, DEV, "watched-topic")
    assert watching.stdout
    first = next(line["pushes"] for line in map(json.loads, watching.stdout) if "pushes" in line)
    assert first["databricks"]["error"] == "target databricks is paused"
    resume(installation)
    out, _ = watching.communicate(timeout=120)
    pushed = [line["pushes"]["databricks"]["state"] for line in map(json.loads, out.splitlines()) if "pushes" in line]
    assert (watching.returncode, pushed[-1]) == (0, "done")


def test_a_watch_that_ends_with_something_unpublished_says_so(call, installation: Installation) -> None:
    pause(installation)
    watched = call("watch", "--push-uc", "--interval", "1", "--polls", "1", "--url", installation.server.url)
    assert (watched.code, "target databricks: not published: target databricks is paused" in watched.err) == (1, True)


def pause(installation: Installation) -> None:
    httpx.post(f"{installation.server.url}/api/v1/targets/databricks/pause", timeout=60).raise_for_status()


def resume(installation: Installation) -> None:
    httpx.post(f"{installation.server.url}/api/v1/targets/databricks/resume", timeout=60).raise_for_status()
