"""Watching a stand-in of Confluent Cloud; everything but Spark is real."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.confluent import changes
from tests.confluent.installation import Installation, installed
from tests.confluent.organization.resources import DEV, STAGING

SPACE = f"confluent://{STAGING}/{DEV}"


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """Paused before its first poll; without the planes that no real broker serves here."""
    with installed(tmp_path, off=["metrics", "groups"]) as found:
        yield found


def test_watch_polls_the_source_and_prints_changes(call, installation: Installation) -> None:
    assert call("extract", "--url", installation.server.url).code in (0, 3)
    command = installation.command("watch", "--interval", "1", "--polls", "6")
    installation.wait(lambda: installation.get("/sources/cloud")["polls"] > 0 and installation.get("/sources/cloud")["state"] != "paused")
    changes.add_topic(installation.cloud.organization, DEV, "watched-topic")
    installation.cloud.fail("ksqldb", "broken")
    installation.cloud.fail("connect", "broken")
    out, err = command.communicate(timeout=120)
    assert command.returncode == 0
    assert "cloud is polled every 1 s" in err
    assert re.search(rf"^  \+ node dataset {SPACE} watched-topic$", out, re.MULTILINE)
    assert re.search(rf"^  not readable: connect {STAGING}/{DEV}.*: .*500", out, re.MULTILINE)
    assert len(re.findall(r"^\S+Z \d+ events?, took [\d.]+ s", out, re.MULTILINE)) == 6
    source = installation.get("/sources/cloud")
    assert (source["settings"]["interval_s"], source["state"]) == (1.0, "partial")
