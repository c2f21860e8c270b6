"""Files that OpenLineage's own Java client writes, read while it writes them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway  # type: ignore[import-untyped]  # it has no types
from tests.inputs.files.support import reading
from tests.inputs.support import Installation, installed, until
from tools.jars import fetch

from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.pipeline.streams.jars import default_cache, ivy_for

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
NAMES = ("first", "naïve über-job 注文", "line\nend and tab\t", "third")


@pytest.fixture(scope="module", name="client")
def _client() -> Iterator[Any]:
    """The package of the client, which the agent for Spark contains, in a Java process."""
    spark = Path(pyspark.__file__).parent / "jars"
    (py4j,) = spark.glob("py4j-*.jar")
    archives = os.pathsep.join(map(str, [*fetch("agent", default_cache(), ivy_for(os.environ)), spark / "*"]))
    options = ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    java = ivy_for(os.environ).java
    port = launch_gateway(jarpath=str(py4j), classpath=archives, javaopts=options, java_path=java, die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    try:
        yield gateway.jvm.io.openlineage.client
    finally:
        gateway.shutdown()


def run_event(name: str) -> str:
    """A run event for the client to read and write."""
    job = {"namespace": "java", "name": name}
    run = {"runId": "0190a6c8-0000-7000-8000-000000000001", "facets": {}}
    more = {"producer": "https://example.org/java", "schemaURL": f"{SCHEMA}#/$defs/RunEvent"}
    outputs = [{"namespace": "db://java", "name": name}]
    return json.dumps({"eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00Z", "run": run, "job": job, "outputs": outputs, **more})


def opened(client: Any, location: Path) -> Any:
    """A client that appends to a file."""
    transport = client.transports.FileTransport(client.transports.FileConfig(str(location)))
    return client.OpenLineageClient.builder().transport(transport).build()


def emit(client: Any, at: Any, name: str) -> None:
    at.emit(client.OpenLineageClientUtils.runEventFromJson(run_event(name)))


def jobs(installation: Installation) -> list[str]:
    """The names of jobs of the events in the log; there is nothing else."""
    assert {record.kind for record in installation.records()} <= {RecordKind.EVENT}
    return [json.loads(record.body)["job"]["name"] for record in installation.records()]


def test_a_file_is_read_while_the_client_appends_and_after_another_client_goes_on(client: Any, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    with installed(tmp_path) as installation:
        with reading(installation, folder=str(folder)):
            first = opened(client, folder / "events.ndjson")
            for count, name in enumerate(NAMES[:3], 1):
                emit(client, first, name)
                until(lambda count=count: len(jobs(installation)) >= count)  # type: ignore[misc]  # of this turn
            first.close()
        second = opened(client, folder / "events.ndjson")
        emit(client, second, NAMES[3])
        second.close()
        with reading(installation, folder=str(folder)) as reader:
            until(lambda: len(jobs(installation)) >= len(NAMES) and reader.meter.status.lag_files == 0)
        assert jobs(installation) == [*NAMES]


def test_a_file_for_each_event(client: Any, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        writer = opened(client, folder / f"{number}.json")
        emit(client, writer, name)
        writer.close()
    with installed(tmp_path) as installation:
        with reading(installation, folder=str(folder)) as reader:
            until(lambda: len(jobs(installation)) >= len(NAMES) and reader.meter.status.lag_files == 0)
        assert jobs(installation) == [*NAMES]
        assert [origin.stream for origin in installation.origins()] == [f"{number}.json" for number in range(len(NAMES))]
