"""Apache Flink: a session cluster of one JobManager and one TaskManager, a SQL gateway, and OpenLineage's listener."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.process import answers, class_path, java, log_settings, running
from tests.servers.sink import EventSink

# The namespace of the jobs in the events of the listener.
NAMESPACE = "flink-jobs"
SLOTS = 8
OPENED = ("lang", "lang.reflect", "net", "io", "nio", "text", "time", "util", "util.concurrent", "util.concurrent.atomic")
OPENS = tuple(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in (*OPENED, "util.concurrent.locks"))


@dataclass(frozen=True)
class Answer:
    """The result of a statement: its rows, and the job that it started, if any."""

    rows: list[list[Any]]
    job: str


@dataclass(frozen=True)
class FlinkCluster:
    """A cluster that runs jobs: REST of the JobManager at `url`, of the SQL gateway at `gateway`."""

    url: str
    gateway: str

    def sql(self, statements: Sequence[str], settings: Mapping[str, str] | None = None) -> list[Answer]:
        """Runs statements one after the other in a session of their own; fails at the first error, with the gateway's message."""
        session = self._gateway("POST", "/v1/sessions", {"properties": dict(settings or {})})["sessionHandle"]
        return [self._run(session, statement) for statement in statements]

    def ask(self, path: str) -> Any:
        """The JSON that the JobManager answers a GET with."""
        answer = httpx.get(self.url + path, timeout=60, verify=False)
        assert answer.is_success, answer.text
        return answer.json()

    def state(self, job: str) -> str:
        """RUNNING, FINISHED, FAILED, CANCELED or a state on the way."""
        return str(self.ask(f"/jobs/{job}")["state"])

    def wait_for_state(self, job: str, state: str, seconds: float = 60.0) -> None:
        """Returns once the job is in the state."""
        deadline = time.monotonic() + seconds
        while (now := self.state(job)) != state:
            assert time.monotonic() < deadline, f"{now}, not {state}: {self.ask(f'/jobs/{job}/exceptions')}"
            time.sleep(0.1)

    def cancel(self, job: str) -> None:
        """Ends a job."""
        httpx.patch(f"{self.url}/jobs/{job}?mode=cancel", timeout=60).raise_for_status()
        self.wait_for_state(job, "CANCELED")

    def _run(self, session: str, statement: str) -> Answer:
        home = f"/v1/sessions/{session}"
        operation = self._gateway("POST", f"{home}/statements", {"statement": statement})["operationHandle"]
        rows, job, result = [], "", f"{home}/operations/{operation}/result/0"
        while result:
            answer = self._gateway("GET", result)
            rows += [row["fields"] for row in answer.get("results", {}).get("data", [])]
            job = answer.get("jobID", job)
            result = answer.get("nextResultUri", "") if answer["resultType"] != "EOS" else ""
            if answer["resultType"] == "NOT_READY":
                time.sleep(0.1)
        return Answer(rows, job)

    def _gateway(self, method: str, path: str, body: object = None) -> Any:
        answer = httpx.request(method, self.gateway + path, json=body, timeout=60, verify=False)
        assert answer.is_success, answer.text
        return answer.json()


def kafka_table(name: str, columns: str, topic: str, bootstrap: str) -> str:
    """A statement that makes a table of a topic with JSON in it, read from its beginning."""
    options = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": bootstrap,
        "properties.group.id": f"flink-{name}",
        "scan.startup.mode": "earliest-offset",
        "format": "json",
    }
    clauses = ", ".join(f"'{option}' = '{value}'" for option, value in options.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({clauses})"


def _settings(folder: Path, rest: int, rpc: int, sink: EventSink) -> dict[str, object]:
    (folder / "tmp").mkdir()
    settings: dict[str, object] = {
        "jobmanager.rpc.address": HOST,
        "jobmanager.rpc.port": rpc,
        "jobmanager.bind-host": HOST,
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": rest,
        "taskmanager.host": HOST,
        "taskmanager.bind-host": HOST,
        "taskmanager.numberOfTaskSlots": SLOTS,
        "taskmanager.cpu.cores": "2.0",
        "parallelism.default": 1,
        "io.tmp.dirs": folder / "tmp",
        "restart-strategy.type": "disable",
        "metrics.fetcher.update-interval": 500,
        "web.refresh-interval": 500,
        "web.submit.enable": "false",
        # The listener reports the end of a job that nobody waits for only with this setting.
        "execution.job-status-changed-listeners": "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory",
        "openlineage.enableDetachedJobTracking": "true",
        # The listener takes names with dots, as Kafka's are, from a file only: of Flink's settings it makes them nested.
        **({} if sink.bootstrap else dict(_flat("openlineage.transport", sink.transport))),
        "openlineage.job.namespace": NAMESPACE,
    }
    # Without Flink's scripts, every memory pool must be set.
    megabytes = {
        "framework.heap.size": 128,
        "task.heap.size": 192,
        "framework.off-heap.size": 128,
        "task.off-heap.size": 32,
        "managed.size": 64,
        "network.min": 64,
        "network.max": 64,
        "jvm-metaspace.size": 256,
        "jvm-overhead.min": 64,
        "jvm-overhead.max": 64,
    }
    return settings | {f"taskmanager.memory.{pool}": f"{size}m" for pool, size in megabytes.items()}


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Nested settings by names with dots."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    else:
        yield name, value


@contextmanager
def started(folder: Path, sink: EventSink) -> Iterator[FlinkCluster]:
    """A cluster whose listener reports every job to the sink."""
    own = sorted((archives.installed("flink") / "pyflink" / "lib").glob("*.jar"))
    # The listener's transport needs Kafka's client under its own name; Flink's connector has it under another.
    client = [jar for jar in archives.jars("kafka") if jar.name.startswith("kafka-clients-")] if sink.bootstrap else []
    libraries = class_path([*own, *archives.jars("flink"), *client])
    rest, rpc, gateway = free_ports(3)
    settings = _settings(folder, rest, rpc, sink)
    (folder / "config.yaml").write_text("".join(f"{name}: {value}\n" for name, value in settings.items()), encoding="utf-8")
    options = (*OPENS, log_settings(folder), f"-Djava.io.tmpdir={folder / 'tmp'}", "-cp", libraries)
    at_gateway = {"address": HOST, "port": gateway}
    commands: dict[str, list[str | Path]] = {
        "jobmanager": [
            *java("320m", *options, "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"),
            *("--configDir", folder),
        ],
        "taskmanager": [*java("320m", *options, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"), "--configDir", folder],
        "gateway": [
            *java("320m", *options, "org.apache.flink.table.gateway.SqlGateway"),
            *(f"-Dsql-gateway.endpoint.rest.{name}={value}" for name, value in at_gateway.items()),
        ],
    }
    cluster = FlinkCluster(f"http://{HOST}:{rest}", f"http://{HOST}:{gateway}")
    with ExitStack() as parts:
        environment = {"FLINK_CONF_DIR": str(folder)}
        if sink.bootstrap:
            environment["OPENLINEAGE_CONFIG"] = str(sink.settings_in(folder))
        processes = {
            name: parts.enter_context(running(name, command, folder, environment=environment)) for name, command in commands.items()
        }
        processes["jobmanager"].wait_until(lambda: answers(f"{cluster.url}/overview"))
        processes["taskmanager"].wait_until(lambda: cluster.ask("/overview")["slots-available"] == SLOTS)
        processes["gateway"].wait_until(lambda: answers(f"{cluster.gateway}/v1/info"))
        yield cluster
