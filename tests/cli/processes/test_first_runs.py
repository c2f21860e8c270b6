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
from tests.catalogs.google_login import service_account
from tests.catalogs.places import everything
from tests.catalogs.standins import atlan, databricks, datazone, glue, google
from tests.catalogs.standins.databricks import UnityCatalog
from tests.catalogs.standins.datahub import DataHub
from tests.catalogs.standins.dataplex import Dataplex
from tests.catalogs.standins.marquez import Marquez
from tests.catalogs.standins.openmetadata import OpenMetadata
from tests.catalogs.standins.server import Answer, Request, answering
from tests.cli.conftest import Server, serving
from tests.events import dataset, run_event
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.main import run

DOCS = Path(__file__).parents[3] / "docs" / "catalogs.md"
JOB, TOPICS, NAMESPACE = "score-orders", ("orders", "scores"), "kafka://broker:9092"
EDGE = (JOB, *TOPICS)
Follow = Callable[..., dict[str, Any]]


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
        with serving(folder / "data", AWS_ACCESS_KEY_ID="AKIATEST", AWS_SECRET_ACCESS_KEY="secret") as server:
            source, target = (dataset(name, NAMESPACE) for name in TOPICS)
            with Client(server.url) as client:
                client.post_events(run_event(job=JOB, namespace="fraud", inputs=[source], outputs=[target]), "application/json")
            server.fold()
            yield server


@pytest.fixture
def follow(call: Any, here: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Follow]:
    """Run the commands below a heading, publish, and return the report of that. Addresses, names and the secret are replaced as given,
    and more settings given.
    """
    data = ("--data-dir", str(here.paths.data_dir))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here.paths.data_dir.parent / "config"))
    added = ""

    def following(heading: str, *more: str, secret: str = "a secret", **replaced: str) -> dict[str, Any]:
        nonlocal added
        for command in _commands(heading):
            typed = command[: command.index("<")] if "<" in command else command
            given = [f"{name}={replaced[name]}" if (name := word.partition("=")[0]) in replaced else word for word in typed]
            is_add = given[:2] == ["target", "add"]
            if is_add:
                added = given[2]
            if given[0] == "secret":
                monkeypatch.setattr(sys, "stdin", io.StringIO(f"{secret}\n"))
            done = call(*given, *(more if is_add else ()), *(data if given[0] == "secret" else ("--url", here.url)))
            assert (done.code, done.err) == (0, ""), (command, done)
            assert "--plan" not in given or any(name in done.out for name in (JOB, *TOPICS))
        report: dict[str, Any] = json.loads(call("publish", added, "--json", "--url", here.url).out)
        return report

    yield following
    if added:
        assert call("target", "remove", added, "--url", here.url).code == 0


def _published(report: dict[str, Any], objects: int = 1) -> None:
    """The job is there, or its topics, whether the commands of the docs published it or the last step did."""
    assert (report["state"], report.get("error", "")) == ("done", "")
    assert report.get("unchanged", 0) + report.get("outcomes", {}).get("done", 0) == objects


def test_openlineage(follow: Follow) -> None:
    events: list[dict[str, Any]] = []

    def take(request: Request) -> Answer:
        if request.method == "POST" and request.body:
            events.append(json.loads(request.body))
        return Answer(201)

    with answering(take) as url:
        _published(follow("Catalogs: publishing lineage", url=url))
    assert [event["job"]["name"] for event in events if "job" in event] == [JOB]


def test_files(follow: Follow, here: Server) -> None:
    _published(follow("A first run"))
    (line,) = (here.paths.published / "catalog" / "lineage.ndjson").read_bytes().splitlines()
    assert json.loads(line)["job"]["name"] == JOB


def _setting(heading: str, name: str) -> str:
    """The value of a setting in the commands below a heading."""
    return next(word.partition("=")[2] for command in _commands(heading) for word in command if word.startswith(f"{name}="))


@pytest.mark.servers
def test_kafka(follow: Follow, kafka: Kafka) -> None:
    topic = _setting("kafka", "topic")
    kafka.create_topics(topic)
    _published(follow("kafka", bootstrap_servers=kafka.bootstrap))
    assert [json.loads(value)["job"]["name"] for value in everything(kafka, topic)] == [JOB]


def test_marquez(follow: Follow) -> None:
    there = Marquez()
    with answering(there.handle) as url:
        _published(follow("marquez", url=url))
    assert [name for _, name in there.jobs] == [JOB]


def test_openmetadata(follow: Follow) -> None:
    there = OpenMetadata()
    with answering(there.handle) as url:
        _published(follow("openmetadata", url=url))
    assert [event["job"]["name"] for event in there.events] == [JOB]


@pytest.mark.parametrize("form", ["aspects", "events"])
def test_datahub(follow: Follow, form: str) -> None:
    there = DataHub()
    with answering(there.handle) as url:
        _published(follow("datahub", f"form={form}", url=url))
    assert {edge[0] for edge in there.edges()} == {JOB}


@pytest.mark.servers
def test_kinesis(follow: Follow, kinesis_local: Kinesis) -> None:
    stream = _setting("kinesis", "stream")
    kinesis_local.create(stream)
    _published(follow("kinesis", f"endpoint_url={kinesis_local.url}", region=REGION))
    assert [json.loads(record["Data"])["job"]["name"] for record in kinesis_local.records(stream)] == [JOB]


def test_databricks(follow: Follow) -> None:
    there = UnityCatalog()
    with answering(there.handle) as url:
        _published(follow("databricks", secret=databricks.SECRET, url=url, client_id=databricks.CLIENT, warehouse_id=databricks.WAREHOUSE))
    assert there.edges() == {EDGE}


def test_atlan(follow: Follow) -> None:
    there = atlan.Atlan()
    with answering(there.handle) as url:
        _published(follow("atlan", secret=atlan.TOKEN, url=url))
    assert there.edges() == {EDGE}


def test_google(follow: Follow) -> None:
    there = google.DataLineage()
    key, there.key = service_account(google.PROJECT)
    with answering(there.handle) as url:
        _published(follow("google", f"url={url}", secret=key, project=google.PROJECT))
    assert there.edges() == {EDGE}


def test_dataplex(follow: Follow) -> None:
    there = Dataplex()
    key, there.key = service_account(google.PROJECT)
    with answering(there.handle) as url:
        _published(follow("dataplex", f"url={url}", secret=key, project=google.PROJECT), objects=len(TOPICS))
    assert {name for name, _, _ in there.entries()} == {*TOPICS}


def test_datazone(follow: Follow) -> None:
    there = datazone.DataZone()
    with answering(there.handle) as url:
        _published(follow("datazone", f"endpoint_url={url}", domain=datazone.DOMAIN))
    assert [event["job"]["name"] for event in there.events] == [JOB]


@pytest.mark.servers
def test_glue(follow: Follow, moto: Kinesis) -> None:
    there = glue.Glue(moto.url)
    there.create("first_run", *TOPICS)
    databases = json.dumps({NAMESPACE: "first_run"})
    with answering(there.handle) as url:
        _published(follow("glue", f"endpoint_url={url}", f"databases={databases}", region=glue.REGION), objects=len(TOPICS))
    (made,) = json.loads(there.table("first_run", TOPICS[1])["Parameters"]["lineagebridge.upstream"])
    assert (made["job"]["name"], [source["name"] for source in made["inputs"]]) == (JOB, [TOPICS[0]])
