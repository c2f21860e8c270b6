"""A schema registry: Apicurio, which answers Confluent's REST API and keeps everything in memory."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.process import answers, java, running

API = "/apis/ccompat/v7"


@dataclass(frozen=True)
class Registry:
    """A registry that is ready; `url` is where Confluent's API begins."""

    url: str

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer; fails when it is an error, with the registry's words."""
        answer = httpx.request(method, self.url + path, json=body, timeout=60, verify=False)
        assert answer.is_success, answer.text
        return answer.json()

    def register(self, subject: str, schema: object, kind: str = "AVRO", references: Mapping[str, str] | None = None) -> int:
        """The id of a new version of a subject. A schema that is not text is written as JSON.

        `references` are the subjects, each in its newest version, of the names that the schema refers to.
        """
        text = schema if isinstance(schema, str) else json.dumps(schema)
        named = [
            {"name": name, "subject": other, "version": self.versions(other)[-1]} for name, other in sorted((references or {}).items())
        ]
        body = {"schema": text, "schemaType": kind, "references": named}
        return int(self.ask("POST", f"/subjects/{subject}/versions", body)["id"])

    def versions(self, subject: str) -> Sequence[int]:
        """The versions of a subject, in order."""
        return sorted(self.ask("GET", f"/subjects/{subject}/versions"))

    def newest(self, subject: str) -> Any:
        """The newest version of a subject: its schema, type, id and references."""
        return self.ask("GET", f"/subjects/{subject}/versions/latest")


@contextmanager
def started(folder: Path) -> Iterator[Registry]:
    """An empty registry."""
    home = archives.unpacked("registry")
    (port,) = free_ports(1)
    settings = {
        "quarkus.http.host": HOST,
        "quarkus.http.port": port,
        "apicurio.rest.deletion.artifact.enabled": "true",
        "apicurio.rest.deletion.artifact-version.enabled": "true",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    (program,) = [*home.glob("*-runner.jar"), *home.glob("quarkus-run.jar")]
    registry = Registry(f"http://{HOST}:{port}{API}")
    with running("registry", [*java("256m", *options), "-jar", program], folder) as process:
        process.wait_until(lambda: answers(f"{registry.url}/subjects"))
        yield registry
