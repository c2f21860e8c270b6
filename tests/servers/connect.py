"""Kafka Connect: one distributed worker with Debezium, file, JDBC and mirror connectors."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.broker import Kafka
from tests.servers.postgres import Postgres
from tests.servers.process import answers, class_path, java, log_settings, properties, running

PLUGINS = ("debezium-postgres", "debezium-jdbc")
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
FILE_SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
DEBEZIUM = "io.debezium.connector.postgresql.PostgresConnector"
JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
MIRROR = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
NEW_TOPICS = {"topic.creation.default.replication.factor": "1", "topic.creation.default.partitions": "1"}


@dataclass(frozen=True)
class Connect:
    """A worker that takes connectors, at `url`. `folder` is a place for files that connectors read and write."""

    url: str
    folder: Path

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer (None of an empty one); fails with the worker's message when it is an error."""
        answer = httpx.request(method, self.url + path, json=body, timeout=60, verify=False)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Makes a connector, or gives it another configuration."""
        self.ask("PUT", f"/connectors/{name}/config", dict(config))

    def delete(self, name: str) -> None:
        """Ends a connector."""
        self.ask("DELETE", f"/connectors/{name}")

    def status(self, name: str) -> Any:
        """The status of the connector and its tasks."""
        return self.ask("GET", f"/connectors/{name}/status")

    def wait_for_state(self, name: str, state: str, tasks: int = 1, seconds: float = 60.0) -> Any:
        """The status once the connector has that many tasks and all are in the state: RUNNING, FAILED, PAUSED."""
        deadline = time.monotonic() + seconds
        while True:
            answer = httpx.get(f"{self.url}/connectors/{name}/status", timeout=60, verify=False)
            status = answer.json() if answer.is_success else {}
            if [task["state"] for task in status.get("tasks", [])] == [state] * tasks:
                return status
            assert time.monotonic() < deadline, f"not {state}: {answer.text}"
            time.sleep(0.1)

    def wait_for_topics(self, name: str, topics: list[str], seconds: float = 60.0) -> None:
        """Wait until the connector has used these topics, which the worker learns by reading its own topic of states."""
        deadline = time.monotonic() + seconds
        while (found := self.topics(name)) != topics:
            assert time.monotonic() < deadline, f"not {topics}: {found}"
            time.sleep(0.1)

    def topics(self, name: str) -> list[str]:
        """The topics that the connector has used until now."""
        return sorted(self.ask("GET", f"/connectors/{name}/topics")[name]["topics"])


def capture_config(postgres: Postgres, prefix: str, tables: str) -> dict[str, str]:
    """A connector that captures the changes of tables (`schema.table`, between commas) to topics that begin with the prefix."""
    return {
        **NEW_TOPICS,
        "connector.class": DEBEZIUM,
        "tasks.max": "1",
        "database.hostname": postgres.host,
        "database.port": str(postgres.port),
        "database.user": postgres.user,
        "database.password": postgres.password,
        "database.dbname": postgres.database,
        "topic.prefix": prefix,
        "plugin.name": "pgoutput",
        "slot.name": prefix,
        "publication.name": prefix,
        "publication.autocreate.mode": "filtered",
        "table.include.list": tables,
    }


def mirror_config(kafka: Kafka, topics: str, alias: str = "east") -> dict[str, str]:
    """A connector that mirrors topics of the broker to the broker itself, under names that begin with the alias."""
    return {
        "connector.class": MIRROR,
        "tasks.max": "1",
        "source.cluster.alias": alias,
        "target.cluster.alias": "west",
        "source.cluster.bootstrap.servers": kafka.bootstrap,
        "target.cluster.bootstrap.servers": kafka.bootstrap,
        "topics": topics,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    }


def _settings(kafka: Kafka, port: int, plugins: Path) -> dict[str, object]:
    settings: dict[str, object] = {
        "bootstrap.servers": kafka.bootstrap,
        "group.id": "connect",
        "listeners": f"http://{HOST}:{port}",
        "rest.advertised.host.name": HOST,
        "offset.storage.partitions": 2,
        "status.storage.partitions": 2,
        "offset.flush.interval.ms": 1000,
        "scheduled.rebalance.max.delay.ms": 0,
        "topic.tracking.allow.reset": "true",
        "plugin.path": plugins,
        # Nothing else looks into every class of every archive.
        "plugin.discovery": "service_load",
    }
    for side in ("key", "value"):
        settings |= {f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter", f"{side}.converter.schemas.enable": "false"}
    for topic in ("config", "offset", "status"):
        settings |= {f"{topic}.storage.topic": f"connect-{topic}s", f"{topic}.storage.replication.factor": 1}
    return settings


@contextmanager
def started(folder: Path, kafka: Kafka) -> Iterator[Connect]:
    """A worker that is ready, on a broker."""
    plugins, files = folder / "plugins", folder / "files"
    plugins.mkdir()
    files.mkdir()
    for plugin in PLUGINS:
        (plugins / plugin).symlink_to(archives.unpacked(plugin, "debezium-openlineage"))
    (port,) = free_ports(1)
    settings = properties(folder, "worker", _settings(kafka, port, plugins))
    libraries = class_path(archives.jars("kafka"))
    command = java("512m", log_settings(folder), "-cp", libraries, "org.apache.kafka.connect.cli.ConnectDistributed", str(settings))
    connect = Connect(f"http://{HOST}:{port}", files)
    with running("connect", command, folder) as process:
        process.wait_until(lambda: answers(f"{connect.url}/connectors"))
        yield connect
