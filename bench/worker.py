"""A stand-in for a Kafka Connect worker with many connectors, in a process of its own: answers in the shapes of the real one."""

import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection

PER_CONNECTOR = 5
"""Topics of a connector."""
_TASK = {"state": "RUNNING", "worker_id": "10.0.0.1:8083"}
_CLASSES = ("io.debezium.connector.postgresql.PostgresConnector", "io.confluent.connect.jdbc.JdbcSinkConnector")


def topics_of(number: int) -> list[str]:
    """The topics of a connector. Sources and sinks take turns: a sink reads what the source before it writes."""
    return [f"shop{number // 2}.public.t{table}" for table in range(PER_CONNECTOR)]


def config_of(number: int, version: int) -> dict[str, str]:
    """The configuration of a connector, in a version."""
    common = {"tasks.max": "1", "transforms": "route", "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter"}
    common |= {"transforms.route.regex": "none-(.*)", "transforms.route.replacement": "$1", "version": str(version)}
    if number % 2:
        jdbc = f"jdbc:postgresql://dwh{number % 20}.example.com:5432/lake"
        own = {
            "topics": ",".join(topics_of(number)),
            "connection.url": jdbc,
            "connection.password": "hunter2",
            "table.name.format": "${topic}",
        }
    else:
        own = {"topic.prefix": f"shop{number // 2}", "database.hostname": f"db{number % 50}.example.com", "database.port": "5432"}
        own |= {"database.dbname": "shop", "database.password": "hunter2"}
        own["table.include.list"] = ",".join(f"public.t{table}" for table in range(PER_CONNECTOR))
    return {"name": name_of(number), "connector.class": _CLASSES[number % 2], **common, **own}


def name_of(number: int) -> str:
    """The name of a connector."""
    return f"connector-{number}"


class _Worker:
    def __init__(self, connectors: int) -> None:
        self.versions = [0] * connectors
        self.rounds = self.requests = 0

    def answer(self, path: str) -> object:
        path, _, query = path.partition("?")
        if path == "/requests":
            return self.requests
        self.requests += 1
        parts = path.strip("/").split("/")
        if path == "/":
            return {"version": "4.3.1", "commit": "c", "kafka_cluster_id": "bench"}
        if path == "/connectors":
            self.rounds += bool(query)
            return (
                {name_of(n): self._entry(n) for n in range(len(self.versions))} if query else list(map(name_of, range(len(self.versions))))
            )
        if parts[0] == "connector-plugins":
            return [] if len(parts) > 1 else [{"class": name, "type": "source", "version": "1"} for name in _CLASSES]
        if parts[0] == "change":
            self.versions[: int(parts[1])] = [version + 1 for version in self.versions[: int(parts[1])]]
            return {}
        return self._detail(int(parts[1].rpartition("-")[2]), parts[2])

    def _entry(self, number: int) -> object:
        name, direction = name_of(number), "sink" if number % 2 else "source"
        tasks = [{"connector": name, "task": 0}]
        return {
            "info": {"name": name, "config": config_of(number, self.versions[number]), "tasks": tasks, "type": direction},
            "status": {"name": name, "connector": _TASK, "tasks": [{"id": 0, **_TASK}], "type": direction},
        }

    def _detail(self, number: int, what: str) -> object:
        name = name_of(number)
        if what == "topics":
            return {name: {"topics": topics_of(number)}}
        if what == "offsets" and number % 2:
            read = [
                {"partition": {"kafka_topic": topic, "kafka_partition": 0}, "offset": {"kafka_offset": 1000 * self.rounds}}
                for topic in topics_of(number)
            ]
            return {"offsets": read}
        if what == "offsets":
            return {"offsets": [{"partition": {"server": f"shop{number // 2}"}, "offset": {"lsn": self.rounds}}]}
        return [{"id": {"connector": name, "task": 0}, "config": config_of(number, self.versions[number])}]


@contextmanager
def worker(connectors: int) -> Iterator[str]:
    """The address of a stand-in with so many connectors.

    GET /change/N changes the configuration of the first N, GET /requests counts the other requests.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, connectors), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _serve(pipe: "Connection[int, int]", connectors: int) -> None:
    made = _Worker(connectors)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = json.dumps(made.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(server.server_port)
    server.serve_forever()
