"""A trial: one producer against a server of its own, its graph compared with what was written by hand, its events recorded."""

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.producers.environments import ProducerError
from tests.producers.graphs import LINES, Expected, Graph, exported_graph
from tests.servers.broker import Kafka
from tests.servers.sink import TOPIC, EventSink
from tests.serving import Served, run

from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.log_record import RecordKind

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

END_S = 240.0


@dataclass(frozen=True)
class Trial:
    """A server without events, an empty folder for what the producer reads and writes, and the key that it sends."""

    served: Served
    folder: Path
    key: str
    stand_ins: dict[str, str] = field(default_factory=dict)
    """What is written in place of a text that is different in every run: a port, a folder."""

    def stand_in(self, text: str, replacement: str) -> None:
        """Name what stands for a text of this run, in its graph and in its recorded events."""
        self.stand_ins[text] = replacement

    def sink(self, kafka: Kafka | None = None) -> EventSink:
        """Where the producer sends its events: to the server, or to a topic that an input of the server reads."""
        if kafka is None:
            return EventSink(self.served.url, self.key)
        kafka.create_topics(TOPIC, partitions=2)
        settings = {"bootstrap_servers": kafka.bootstrap, "topics": [TOPIC], "poll_s": 0.2}
        body = json.dumps({"name": "producer", "kind": "kafka", "settings": settings}).encode()
        self.served.client.post("/api/v1/inputs", body)
        return EventSink(self.served.url, self.key, bootstrap=kafka.bootstrap)

    def settled(self, text: str) -> str:
        """A text as every run has it; longer texts are replaced first."""
        always = {self.served.url: "http://127.0.0.1:8000", str(self.folder): "/srv/trial", socket.gethostname(): "trial-host"}
        for found, replacement in sorted({**always, **self.stand_ins}.items(), key=lambda item: -len(item[0])):
            text = text.replace(found, replacement)
        return text

    def wait_for_state(self, namespace: str, job: str, state: str) -> None:
        """Return once a run of the job is in the state; a producer may report its end late. Raises ProducerError if it never does."""
        deadline = time.monotonic() + END_S
        states: list[str] = []
        while state not in states:
            if time.monotonic() > deadline:
                raise ProducerError(f"no run of {job} was reported to be {state}: {states}")
            time.sleep(1)
            self.catch_up()
            named = self.served.client.get("/api/v1/lineage/jobs", namespace=namespace)
            if any(found["name"] == job for found in named):
                states = [run["state"] for run in self.served.ask("/graph/runs", namespace=namespace, name=job)["runs"]]

    def catch_up(self) -> None:
        """Wait until answers reflect everything that the server has accepted, with more patience than a user has."""
        self.served.client.wait_for("", patience_s=END_S)

    def graph(self, expected: Expected) -> Graph:
        """The server's graph of everything that it has accepted."""
        self.catch_up()
        only = [word for kind in LINES for word in ("--only", kind)]
        lines = run("export", "--data-dir", self.served.paths.data_dir, *only)
        return exported_graph(self.settled(lines).splitlines(), expected)

    def refused(self) -> dict[str, int]:
        """How many events were rejected, by reason."""
        self.catch_up()
        counts: dict[str, int] = self.served.ask("/quarantine", limit=1)["counts"]
        return counts

    def events(self) -> Iterator[str]:
        """The events that the server keeps, in their order, each as one line of JSON."""
        log = LogReader(self.served.paths.log)
        for _, record in log.read(0, log.durable_end()):
            if record.kind == RecordKind.EVENT:
                yield self.settled(json.dumps(json.loads(record.body), ensure_ascii=False, separators=(",", ":")))

    def record(self, producer: str) -> Path:
        """Keep the events as the sample of this producer."""
        file = sample(producer)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{event}\n" for event in self.events()), encoding="utf-8")
        return file


def sample(producer: str) -> Path:
    """Where the recorded events of a producer are."""
    return SAMPLES / producer.partition("-")[0] / f"recorded-{producer}.ndjson"
