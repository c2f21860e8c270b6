"""The server is given addresses that it may not call, in every way by which users give it one; and servers that send it elsewhere."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.api.attacks.conftest import Attacked
from tests.corpora.spellings import METADATA, SPELT

KEYS = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "${env:PATH}"}
OAUTH = {
    "bootstrap_servers": "127.0.0.1:9",
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "OAUTHBEARER",
    "oauth_client_id": "me",
    "oauth_client_secret": "${env:PATH}",
}
BY_URL: dict[str, tuple[str, dict[str, Any], str]] = {
    "connect source": ("sources", {"kind": "connect"}, "url"),
    "ksqldb source": ("sources", {"kind": "ksqldb"}, "url"),
    "flink source": ("sources", {"kind": "flink"}, "url"),
    "registry source": ("sources", {"kind": "registry"}, "url"),
    "kafka source, token": ("sources", {"kind": "kafka", **OAUTH}, "oauth_token_url"),
    "flink source, gateway": ("sources", {"kind": "flink", "url": "http://localhost:9"}, "gateway_url"),
    "flink source, history": ("sources", {"kind": "flink", "url": "http://localhost:9"}, "history_url"),
    "msk-connect source": ("sources", {"kind": "msk-connect", "region": "eu-central-1", **KEYS}, "endpoint_url"),
    "glue source": ("sources", {"kind": "glue", "region": "eu-central-1", **KEYS}, "endpoint_url"),
    "unity source": ("sources", {"kind": "unity", "token": "${env:PATH}"}, "url"),
    "kafka input, token": ("inputs", {"kind": "kafka", "topics": ["t"], **OAUTH}, "oauth_token_url"),
    "kinesis input": ("inputs", {"kind": "kinesis", "stream": "s", "region": "eu-central-1", **KEYS}, "endpoint_url"),
    "s3 input": ("inputs", {"kind": "s3", "bucket": "bucket", "region": "eu-central-1", **KEYS}, "endpoint_url"),
    "s3 input, roles": ("inputs", {"kind": "s3", "bucket": "bucket", "role_arn": "arn:aws:iam::123456789012:role/r"}, "sts_endpoint_url"),
    "gcs input": ("inputs", {"kind": "gcs", "bucket": "bucket", "anonymous": True}, "endpoint_url"),
    "azure input": (
        "inputs",
        {"kind": "azure", "account": "account", "container": "container", "sas_token": "${env:PATH}"},
        "endpoint_url",
    ),
    "openlineage target": ("targets", {"kind": "openlineage"}, "url"),
    "atlan target": ("targets", {"kind": "atlan", "connection": "lineage", "token": "${env:PATH}"}, "url"),
    "glue target": ("targets", {"kind": "glue", "region": "eu-central-1", "catalog_id": "123456789012", **KEYS}, "endpoint_url"),
    "datazone target": ("targets", {"kind": "datazone", "region": "eu-central-1", "domain": "dzd_1", **KEYS}, "endpoint_url"),
    "kinesis target": ("targets", {"kind": "kinesis", "stream": "s", "region": "eu-central-1", **KEYS}, "endpoint_url"),
    "google target": ("targets", {"kind": "google", "project": "p-1", "location": "eu", "token": "${env:PATH}"}, "url"),
    "dataplex target": ("targets", {"kind": "dataplex", "project": "p-1", "location": "eu", "token": "${env:PATH}"}, "url"),
    "kafka target, token": ("targets", {"kind": "kafka", "topic": "t", **OAUTH}, "oauth_token_url"),
}
"""Each way to give an address: the collection, the other settings, and the one that is the address."""
CLOUD = {"kind": "confluent", "cloud": {"key": "CLOUDKEY", "secret": "${env:PATH}"}}
IN_CLOUD: dict[str, Callable[[str], dict[str, Any]]] = {
    "url": lambda host: {"url": f"https://{host}"},
    "telemetry_url": lambda host: {"telemetry_url": f"https://{host}"},
    "flink_url": lambda host: {"flink_url": f"https://{host}/{{cloud}}/{{region}}"},
    "kafka_urls": lambda host: {"kafka_urls": {"lkc-1": f"https://{host}"}},
    "registry_urls": lambda host: {"registry_urls": {"env-1": f"https://{host}"}},
    "audit_log": lambda host: {"audit_log": {"key": "K", "secret": "${env:PATH}", "bootstrap_servers": f"localhost:9,{host}:9092"}},
}
"""Each way to give a source of Confluent Cloud an address."""
BY_SERVER: dict[str, tuple[str, dict[str, Any]]] = {
    "kafka source": ("sources", {"kind": "kafka"}),
    "kafka input": ("inputs", {"kind": "kafka", "topics": ["t"]}),
    "kafka target": ("targets", {"kind": "kafka", "topic": "t"}),
}
HOSTS = (*SPELT, *(f"[{host}]" if ":" in host else host for host in METADATA))


@pytest.fixture(scope="module")
def client(attacked: Attacked) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {attacked.key}"}
    with httpx.Client(base_url=f"{attacked.url}/api/v1", headers=headers, trust_env=False, timeout=120) as made:
        yield made


def add(client: httpx.Client, collection: str, settings: dict[str, Any], name: str = "ssrf") -> httpx.Response:
    kind = settings["kind"]
    rest = {key: value for key, value in settings.items() if key != "kind"}
    return client.post(f"/{collection}", json={"name": name, "kind": kind, "settings": rest})


def test_no_spelling_of_a_refused_address_is_accepted_in_any_setting(attacked: Attacked, client: httpx.Client) -> None:
    with attacked.serving_others():
        for collection, settings, setting in BY_URL.values():
            for host in HOSTS:
                answer = add(client, collection, {**settings, setting: f"http://{host}:8083"})
                assert answer.status_code == 422, (settings["kind"], host, answer.text)
                assert f"setting {setting}" in answer.json()["error"]["message"], (settings["kind"], host, answer.text)
        for setting, given in IN_CLOUD.items():
            for host in HOSTS:
                answer = add(client, "sources", {**CLOUD, **given(host)})
                assert answer.status_code == 422, (setting, host, answer.text)
                assert f"setting {setting}" in answer.json()["error"]["message"], (setting, host, answer.text)
        for collection, settings in BY_SERVER.values():
            for host in HOSTS:
                answer = add(client, collection, {**settings, "bootstrap_servers": f"localhost:9,{host}:9092"})
                assert answer.status_code == 422, (settings["kind"], host, answer.text)
                assert "setting bootstrap_servers" in answer.json()["error"]["message"], (settings["kind"], host, answer.text)
    for collection in ("sources", "inputs", "targets"):
        assert client.get(f"/{collection}").json()[collection] == []


def test_no_spelling_of_a_refused_address_is_accepted_with_a_task(attacked: Attacked, client: httpx.Client) -> None:
    key = {"api_key": "CLOUDKEY", "api_secret": "hush"}
    with attacked.serving_others():
        for host in HOSTS:
            asked = {"cloud_credentials": key, "sr_endpoints": {"env-1": "https://psrc.example", "env-2": f"https://{host}"}}
            answer = client.post("/tasks/extract", json=asked)
            assert answer.status_code == 422, (host, answer.text)
            assert "setting registry_urls" in answer.json()["error"]["message"], (host, answer.text)
            assert "may not be called" in answer.json()["error"]["message"], (host, answer.text)
            assert "hush" not in answer.text
            named = client.post("/tasks/extract", params={"source": f"https://{host}"}, json={"cloud_credentials": key})
            assert named.status_code == 422, (host, named.text)
            assert client.post(f"/tasks/https%3A%2F%2F{quote(host, safe='')}/resume").status_code == 404, host
            for change in ({"urls": {"env-1": f"https://{host}"}}, {"cloud_credentials": {**key, "url": f"https://{host}"}}):
                assert client.post("/tasks/extract", json=change).status_code == 422, (host, change)
    assert client.get("/tasks").json() == []


@pytest.mark.parametrize(
    "setting",
    [
        "bootstrap.servers",
        "metadata.broker.list",
        "plugin.library.paths",
        "sasl.kerberos.kinit.cmd",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.jwt.template.file",
        "sasl.oauthbearer.token.endpoint.url",
    ],
)
def test_no_property_of_a_client_names_an_address_a_command_a_library_or_a_file_to_send(client: httpx.Client, setting: str) -> None:
    for collection, settings in BY_SERVER.values():
        asked = {**settings, "bootstrap_servers": "localhost:9", "properties": {setting: "${env:PATH}"}}
        answer = add(client, collection, asked)
        assert answer.status_code == 422, answer.text
        assert f"{setting} cannot be set in `properties`" in answer.json()["error"]["message"]


@contextmanager
def sending_elsewhere() -> Iterator[tuple[str, list[str], list[str]]]:
    """A server that answers each request with a redirect to another one: its address, what it was asked, and what the other was asked."""
    asked: list[str] = []
    reached: list[str] = []

    def handler(seen: list[str], status: int, target: str) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                seen.append(f"{self.command} {self.path}")
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(status)
                if target:
                    self.send_header("Location", f"{target}{self.path}")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815 - the names that the base class calls

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name there
                """Nothing is logged."""

        return Handler

    with ThreadingHTTPServer(("127.0.0.1", 0), handler(reached, 200, "")) as other:
        target = f"http://127.0.0.1:{other.server_port}"
        with ThreadingHTTPServer(("127.0.0.1", 0), handler(asked, 307, target)) as first:
            threads = [threading.Thread(target=server.serve_forever) for server in (other, first)]
            for thread in threads:
                thread.start()
            try:
                yield f"http://127.0.0.1:{first.server_port}", asked, reached
            finally:
                for server in (first, other):
                    server.shutdown()
                for thread in threads:
                    thread.join()


@pytest.mark.parametrize("way", [way for way in BY_URL if "," not in way])
def test_a_redirect_to_another_host_is_not_followed(attacked: Attacked, client: httpx.Client, way: str) -> None:
    collection, settings, setting = BY_URL[way]
    name = way.replace(" ", "-")
    with sending_elsewhere() as (url, asked, reached), attacked.serving_others():
        added = add(client, collection, {**settings, setting: url, "timeout_s": 5}, name)
        assert added.status_code == 201, added.text
        answer = client.post(f"/{collection}/{name}/test")
        assert answer.status_code == 200, answer.text
        client.delete(f"/{collection}/{name}").raise_for_status()
    assert asked
    assert reached == [], answer.text
