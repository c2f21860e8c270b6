"""The stand-in of Confluent Cloud: one HTTP server on loopback that serves all its APIs, with their keys, rate limits and refusals.

Clusters, registries and Flink regions are under prefixes of its address, as its own answers say. A test changes `organization`, makes
calls fail with `fail`, and reads the calls from `calls`.
"""

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.confluent.apis import connect, control_plane, flink, kafka, ksqldb, metrics, rate_limits, registry, tableflow
from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.build import build, secrets
from tests.confluent.organization.values import Json


class Plane(NamedTuple):
    """One API. `skip`: how many parts after the first precede the API's own path; `scope`: scope of the keys that it accepts."""

    name: str
    answer: Callable[["Cloud", Request], Answer]
    scope: str = "cloud"
    skip: int = 0
    limit: tuple[int, float] = rate_limits.OTHERS


PLANES = {
    **{
        first: Plane(name, control_plane.answer)
        for first, name in (
            ("org", "org"),
            ("cmk", "cmk"),
            ("srcm", "srcm"),
            ("ksqldbcm", "ksqldbcm"),
            ("fcpm", "fcpm"),
            ("iam", "iam"),
            ("pim", "pim"),
            ("usm", "usm"),
        )
    },
    "connect": Plane("connect", connect.answer),
    "kafka-rest": Plane("kafka", kafka.answer, "kafka", 1),
    "flink": Plane("flink", flink.answer, "flink", 1),
    "registry": Plane("registry", registry.answer, "registry", 1, rate_limits.REGISTRY),
    "governance": Plane("registry", registry.answer, "registry", 1, rate_limits.REGISTRY),
    "ksql": Plane("ksqldb", ksqldb.answer, "ksqldb", 1),
    "tableflow": Plane("tableflow", tableflow.answer, "tableflow"),
    "v2": Plane("metrics", metrics.answer, limit=rate_limits.METRICS),
}
PAGES = ("half", "circle")
FAILURES = ("broken", "slow", "refused", "half", "circle", "truncated", "html", "limited", "gone", "odd")


class Failure(NamedTuple):
    """A failure of the calls that `where` matches: the start of a path, or an API's name and perhaps an id (`kafka`, `kafka lkc-..`)."""

    where: str
    how: str
    slow_s: float
    healed: threading.Event


class Call(NamedTuple):
    """A call: its API, API key, path with query, the status of the answer, and its time (monotonic seconds)."""

    plane: str
    key: str
    method: str
    target: str
    status: int
    at: float


class Cloud:
    """The stand-in's state. `organization` may be changed at any time; `limits.on` turns rate limits on; `clock` returns seconds."""

    def __init__(self, organization: Json) -> None:
        self.organization, self.url = organization, ""
        self.secrets = frozenset(secrets(organization))
        self.registries: dict[str, str] = {}
        self.clock: Callable[[], float] = time.monotonic
        self.limits = rate_limits.RateLimits(self._now)
        self.calls: list[Call] = []
        self.lock = threading.RLock()
        self._failures: list[Failure] = []
        self._later: list[tuple[float, Callable[[Json], None]]] = []
        credentials = [entry for group in organization["credentials"].values() for entry in ([group] if "key" in group else group.values())]
        self.keys = {credential["key"]: credential for credential in credentials}

    def fail(self, where: str, how: str, slow_s: float = 5.0) -> None:
        """From now on calls fail: broken (500), slow, held (answered once healed), refused (403), half (the first page is whole, the next
        is a 500), circle (a page leads to itself; both make pages short), truncated, html (200), limited (429 for ever), gone (404), odd
        (lists have entries that cannot be read)."""
        assert how in (*FAILURES, "held"), how
        self._failures.append(Failure(where, how, slow_s, threading.Event()))

    def heal(self, where: str = "") -> None:
        """End the failures of these calls, or all failures."""
        healed = [failure for failure in self._failures if where in ("", failure.where)]
        self._failures = [failure for failure in self._failures if failure not in healed]
        for failure in healed:
            failure.healed.set()

    def later(self, seconds: float, change: Callable[[Json], None]) -> None:
        """Change the organization at the first call after this many seconds."""
        self._later.append((self.clock() + seconds, change))

    def _now(self) -> float:
        return self.clock()

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """The number of calls by API and key."""
        return Counter((call.plane, call.key) for call in self.calls)

    def settings(self, prefix: str = "STANDIN") -> Json:
        """Settings of a source that observes everything. Secrets are references to the variables of `environment`."""
        credentials = self.organization["credentials"]

        def reference(credential: Json) -> Json:
            return {"key": credential["key"], "secret": f"${{env:{prefix}_{credential['key']}}}"}

        many = {
            name: {id_: reference(credential) for id_, credential in credentials[name].items()}
            for name in ("kafka", "registry", "flink", "ksqldb", "tableflow")
        }
        addresses = {"url": self.url, "telemetry_url": self.url, "flink_url": self.url + "/flink/{cloud}/{region}"}
        return {**addresses, "cloud": reference(credentials["cloud"]), "metrics": reference(credentials["metrics"]), **many}

    def environment(self, prefix: str = "STANDIN") -> dict[str, str]:
        """The variables that `settings` refers to."""
        return {f"{prefix}_{key}": credential["secret"] for key, credential in self.keys.items()}

    def handle(self, method: str, target: str, headers: dict[str, str], body: Any, client: str) -> Answer:
        """The answer to a call, by all rules. The call is recorded."""
        with self.lock:
            due = [change for change in self._later if change[0] <= self.clock()]
            self._later = [change for change in self._later if change not in due]
            for _, change in due:
                change(self.organization)
        split = urlsplit(target)
        parts = tuple(unquote(part) for part in split.path.strip("/").split("/"))
        plane = PLANES.get(parts[0])
        if plane is None:
            return error(404, f"no resource at {split.path}")
        name = "catalog" if plane.name == "registry" and "catalog" in parts[2:3] else plane.name
        key, credential = self._authenticate(headers)
        request = Request(method, split.path, parts[plane.skip :], parse_qs(split.query), body, headers, credential or {})
        answer = self._judged(plane, name, parts, request, credential, key, client)
        self.calls.append(Call(name, key, method, target, answer.status, time.monotonic()))
        return answer

    def _authenticate(self, headers: dict[str, str]) -> tuple[str, Json | None]:
        kind, _, text = headers.get("authorization", "").partition(" ")
        try:
            key, _, secret = base64.b64decode(text).decode().partition(":")
        except ValueError:
            return "", None
        credential = self.keys.get(key) if kind == "Basic" else None
        return key, credential if credential and credential["secret"] == secret else None

    def _judged(
        self, plane: Plane, name: str, parts: tuple[str, ...], request: Request, credential: Json | None, key: str, client: str
    ) -> Answer:
        """The answer after rate limits, the key's rights, and failures that a test has set."""
        counted_by = {"metrics": f"metrics {client}", "registry": f"registry {parts[1:2]}", "catalog": f"registry {parts[1:2]}"}.get(
            name, f"key {key}"
        )
        verdict = self.limits.ask(counted_by, plane.limit)
        failure = self._failure(name, parts, request.path)
        if not verdict.passes or (failure and failure.how == "limited"):
            answer = error(429, "Too many requests.", name)
            return answer._replace(headers={**verdict.headers, "Retry-After": verdict.headers["X-RateLimit-Reset"]})
        paged_request = _in_small_pages(request) if failure and failure.how in PAGES else request
        answer = self._allowed(plane, name, parts, credential) or self._failing(failure, request) or self._answered(plane, paged_request)
        if failure:
            answer = _spoiled(failure, request, answer)
        return answer._replace(headers={**verdict.headers, **answer.headers})

    def _allowed(self, plane: Plane, name: str, parts: tuple[str, ...], credential: Json | None) -> Answer | None:
        """A refusal: 401 for an unknown key, 403 for a key without access."""
        if credential is None:
            return error(401, "invalid API key", name)
        ids = parts[1:2] if plane.scope in ("kafka", "registry", "ksqldb") else ()
        if credential["scope"] != plane.scope or credential["role"] == "none" or any(id_ not in credential["resources"] for id_ in ids):
            return error(403, f"the API key {credential['key']} does not give access to this resource", name)
        return None

    def _failure(self, name: str, parts: tuple[str, ...], path: str) -> Failure | None:
        targets = {name, f"{name} {parts[1] if len(parts) > 1 else ''}"}
        return next(
            (
                failure
                for failure in self._failures
                if failure.where in targets or (failure.where[:1] == "/" and path.startswith(failure.where))
            ),
            None,
        )

    def _failing(self, failure: Failure | None, request: Request) -> Answer | None:
        if failure is None:
            return None
        if failure.how == "slow":
            time.sleep(failure.slow_s)
        if failure.how == "held":
            failure.healed.wait()
        if failure.how == "broken" or (failure.how == "half" and (request.value("page_token") or request.value("offset", "0") != "0")):
            return error(500, "Internal Server Error")
        if failure.how in ("refused", "gone"):
            return error(403 if failure.how == "refused" else 404, "Forbidden" if failure.how == "refused" else "Not Found")
        return None

    def _answered(self, plane: Plane, request: Request) -> Answer:
        with self.lock:
            answer = plane.answer(self, request)
            return answer if isinstance(answer.body, bytes) else answer._replace(body=json.dumps(answer.body).encode())


def _in_small_pages(request: Request) -> Request:
    """The request with the smallest page size: an API may always return less per page than was requested."""
    body = {**request.body, "limit": 1} if isinstance(request.body, dict) and "limit" in request.body else request.body
    short = {"limit": ["1"]} if "limit" in request.query else {"page_size": ["1"]}
    return request._replace(query={**request.query, **short}, body=body)


def _spoiled(failure: Failure, request: Request, answer: Answer) -> Answer:
    """The answer, truncated, replaced by an HTML page, or with a link to its own page."""
    if failure.how == "truncated":
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        return answer._replace(body=body[: len(body) // 2])
    if failure.how == "html":
        return Answer(200, b"<html><body>We will be back soon.</body></html>", "text/html")
    if failure.how == "odd" and answer.status == 200:
        return answer._replace(body=json.dumps(_with_odd_entries(json.loads(answer.body), request)).encode())
    if failure.how == "circle" and answer.status == 200:
        body = json.loads(answer.body)
        if isinstance(body, dict) and "metadata" in body and body["metadata"].get("next"):
            first = request.value("page_token")
            following = body["metadata"]["next"]
            body["metadata"]["next"] = following if not first else following.partition("page_token=")[0] + f"page_token={first}"
        return answer._replace(body=json.dumps(body).encode())
    return answer


def _with_odd_entries(body: Any, request: Request) -> Any:
    """The answer, with an empty entry and null in each list of entries."""
    if isinstance(body, list):
        return [*body, {}, None]
    member = next((member for member in ("data", "entities") if isinstance(body.get(member), list)), "")
    if member:
        return {**body, member: [*body[member], {}, None]}
    return {**body, "odd": {}} if request.path.endswith("/connectors") else body


@contextmanager
def running(
    organization: Json | None = None, brokers: dict[str, str] | None = None, registries: dict[str, str] | None = None
) -> Iterator[Cloud]:
    """Runs the stand-in.

    `brokers`: cluster id to the real brokers (host:port) that play the cluster. `registries`: registry id to the address of a real
    one, which serves its subjects and schemas; `apis.registry.register` fills it.
    """
    cloud = Cloud(organization or build())
    cloud.registries.update(registries or {})
    for cluster in cloud.organization["kafka_clusters"]:
        if cluster["id"] in (brokers or {}):
            cluster["kafka_bootstrap_endpoint"] = f"SASL_SSL://{(brokers or {})[cluster['id']]}"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet for an answer: two of them wait for each other

        def do_GET(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = raw
            headers = {key.lower(): value for key, value in self.headers.items()}
            answer = cloud.handle(self.command, self.path, headers, body, self.client_address[0])
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": answer.content_type, "Content-Length": str(len(content)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, *_: Any) -> None:
            """A client that hangs up is not an error."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    cloud.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield cloud
    finally:
        cloud.heal()
        server.shutdown()
        server.server_close()
