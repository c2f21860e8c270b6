"""The first runs that docs/catalogs.md shows: each command works as it stands there, but for the address and the folder of the data."""

import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs.places import everything
from tests.catalogs.standins.datahub import DataHub
from tests.catalogs.standins.marquez import Marquez
from tests.catalogs.standins.openmetadata import OpenMetadata
from tests.catalogs.standins.openmetadata_entities import OpenMetadataEntities
from tests.catalogs.standins.server import Answer, Request, answering
from tests.cli.conftest import Server, serving
from tests.events import dataset, run_event
from tests.servers.broker import Kafka

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.main import run

DOCS = Path(__file__).parents[3] / "docs" / "catalogs.md"
JOB, TOPICS = "score-orders", ("orders", "scores")


def _commands(heading: str) -> list[list[str]]:
    """The commands of `lineage-bridge` in the first code block below a heading."""
    section = re.split(r"^#+ ", DOCS.read_text().partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    block = section.split("```")[1].replace("\\\n", " ")
    lines = (line.strip().removeprefix("$ ") for line in block.splitlines())
    found = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("lineage-bridge ")]
    assert found, f"docs/catalogs.md shows no commands below {heading}"
    return found


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a key for secrets, whose graph has one job that reads one topic and writes another."""
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        assert run(["secret", "key", "--data-dir", str(folder / "data")]) == 0
        with serving(folder / "data") as server:
            source, target = (dataset(name, "kafka://broker:9092") for name in TOPICS)
            with Client(server.url) as client:
                client.post_events(run_event(job=JOB, namespace="fraud", inputs=[source], outputs=[target]), "application/json")
            server.fold()
            yield server


@pytest.fixture
def follow(call: Any, here: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Any]]]:
    """Run the commands below a heading, publish, and return the report of that. Addresses and names are replaced as given."""
    data = ("--data-dir", str(here.paths.data_dir))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here.paths.data_dir.parent / "config"))
    added = ""

    def following(heading: str, *more: str, **replaced: str) -> dict[str, Any]:
        nonlocal added
        for command in _commands(heading):
            given = [f"{name}={replaced[name]}" if (name := word.partition("=")[0]) in replaced else word for word in command]
            is_add = given[:2] == ["target", "add"]
            if is_add:
                added = given[2]
            if given[0] == "secret":
                monkeypatch.setattr(sys, "stdin", io.StringIO("a secret\n"))
            done = call(*given, *(more if is_add else ()), *(data if given[0] == "secret" else ("--url", here.url)))
            assert (done.code, done.err) == (0, ""), (command, done)
            assert "--plan" not in given or JOB in done.out
        report: dict[str, Any] = json.loads(call("publish", added, "--json", "--url", here.url).out)
        return report

    yield following
    if added:
        assert call("target", "remove", added, "--url", here.url).code == 0


def _published(report: dict[str, Any]) -> None:
    """The job is there, whether the commands of the docs published it or the last step did."""
    assert (report["state"], report.get("error", "")) == ("done", "")
    assert report.get("unchanged", 0) + report.get("outcomes", {}).get("done", 0) == 1


def test_openlineage(follow: Callable[..., dict[str, Any]]) -> None:
    events: list[dict[str, Any]] = []

    def take(request: Request) -> Answer:
        if request.method == "POST" and request.body:
            events.append(json.loads(request.body))
        return Answer(201)

    with answering(take) as url:
        _published(follow("Catalogs: publishing lineage", url=url))
    assert [event["job"]["name"] for event in events if "job" in event] == [JOB]


def test_files(follow: Callable[..., dict[str, Any]], here: Server) -> None:
    _published(follow("A first run"))
    (line,) = (here.paths.published / "catalog" / "lineage.ndjson").read_bytes().splitlines()
    assert json.loads(line)["job"]["name"] == JOB


@pytest.mark.servers
def test_kafka(follow: Callable[..., dict[str, Any]], kafka: Kafka) -> None:
    topic = next(word.partition("=")[2] for command in _commands("kafka") for word in command if word.startswith("topic="))
    kafka.create_topics(topic)
    _published(follow("kafka", bootstrap_servers=kafka.bootstrap))
    assert [json.loads(value)["job"]["name"] for value in everything(kafka, topic)] == [JOB]


def test_marquez(follow: Callable[..., dict[str, Any]]) -> None:
    there = Marquez()
    with answering(there.handle) as url:
        _published(follow("marquez", url=url))
    assert [name for _, name in there.jobs] == [JOB]


def test_openmetadata(follow: Callable[..., dict[str, Any]]) -> None:
    there = OpenMetadata()
    with answering(there.handle) as url:
        _published(follow("openmetadata", url=url))
    assert [event["job"]["name"] for event in there.events] == [JOB]


def test_openmetadata_by_its_entities(follow: Callable[..., dict[str, Any]]) -> None:
    there = OpenMetadataEntities(lambda kind, name: [] if (kind, name.partition(".")[0]) == ("topic", "kafka_prod") else None)
    with answering(there.handle) as url:
        _published(follow("Pipelines and lineage in OpenMetadata", url=url))
    assert there.edges() == {(JOB, *TOPICS)}


@pytest.mark.parametrize("form", ["aspects", "events"])
def test_datahub(follow: Callable[..., dict[str, Any]], form: str) -> None:
    there = DataHub()
    with answering(there.handle) as url:
        _published(follow("datahub", f"form={form}", url=url))
    assert {edge[0] for edge in there.edges()} == {JOB}
