"""Every call of the OpenAPI document, with arguments that it allows, that it forbids, and that name what is there."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance
from tests.api.support import LINEAGE, NOW, URL, Server, running
from tests.events import KEY

from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.demo import events as demo
from lineage_bridge.graph.ids import graph_id

CHECKS: Final = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
TRIED: Final = settings(
    max_examples=3,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# Threads of tasks that earlier calls began draw random numbers while arguments are made, which is no fault of the arguments.
pytestmark = [pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")]
POSITIVE, NEGATIVE = GenerationMode("positive"), GenerationMode("negative")
MODES: Final = ((POSITIVE, False), (POSITIVE, True), (NEGATIVE, False))
"""What calls are made of, and whether they name what is there."""
TIMES: Final = {"as_of", "at", "until", "before", "after", "baseline_since", "baseline_until", "min_position"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Server]:
    """The demo, and an event in quarantine."""
    with running(tmp_path_factory.mktemp("declared"), empty_store) as server:
        server.send(*demo.events(NOW, "edition"), b'{"no": "event"}')
        server.client = server.client_of(not_found_wait_s=0.0)
        yield server


@pytest.fixture(scope="module")
def document(server: Server) -> Any:
    """What the server declares, with the server behind it. Calls come from its own machine."""

    async def local(scope: Any, receive: Any, send: Any) -> None:
        await server.client.app({**scope, "client": ("127.0.0.1", 50_000)}, receive, send)

    found = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    found.app = local
    found.config.update(base_url=URL)
    return found


@pytest.fixture(scope="module")
def known(server: Server) -> Mapping[str, Any]:
    """Arguments that name what is there."""
    topic: dict[str, Any] = {"namespace": "kafka://broker.internal:9092", "name": "order-events-enriched"}
    event = server.ask("/lineage/datasets/lineage", **topic, depth=1)["events"][0]
    source, target = event["inputs"][0], event["outputs"][0]
    (rejected,) = server.ask("/quarantine")["items"]
    (node, *_) = server.ask(f"/graphs/{graph_id(KEY)}/nodes")["nodes"]
    return {
        **topic,
        "job": event["job"],
        "run_id": event["run"]["runId"],
        "event_id": rejected["event_id"],
        "node_id": node["node_id"],
        "graph_id": graph_id(KEY),
        "key": "schema",
        "q": "order",
        "since": "2026-11-01T00:00:00Z",
        **{f"source_{name}": source[name] for name in source},
        **{f"target_{name}": target[name] for name in target},
    }


def named(case: Case, known: Mapping[str, Any]) -> None:
    """Let a call name what is there; leave out the times and positions that it need not have, which would name nothing."""
    path, query, job = case.path_parameters, case.query, known["job"]
    path.update({name: known[name] for name in path.keys() & known.keys()})
    query.update({name: known[name] for name in query.keys() & known.keys()})
    if "job" in case.operation.path or "runs" in case.operation.path:
        query.update({name: job[name] for name in query.keys() & job.keys()})
    if "job" in query:
        query["job"] = job["name"]
    for name in TIMES & query.keys():
        del query[name]
    case.headers.clear()


def wait_for_nothing(case: Case) -> None:
    """Let a call be answered at once, and its answer be complete then."""
    case.query.update(dict.fromkeys({"wait", "wait_s"} & case.query.keys(), 0))
    if case.operation.path.endswith("/stream"):
        case.query.setdefault("for_s", 0)


def declared_as_answered(operation: Any, mode: GenerationMode, known: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the answers to some arguments of a call."""

    @TRIED
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers_as_declared(case: Case) -> None:
        if known:
            named(case, known)
        wait_for_nothing(case)
        case.call_and_validate(checks=CHECKS)

    try:
        answers_as_declared()
    except Unsatisfiable:  # a call without arguments has no forbidden ones
        pass
    except FailureGroup as failures:
        yield from (f"{operation.label}: {failure}" for failure in failures.exceptions)


def test_the_document_is_valid_for_its_version(document: Any) -> None:
    document.validate()


def test_answers_are_as_declared(document: Any, known: Mapping[str, Any]) -> None:
    operations = [found.ok() for found in document.get_all_operations()]
    wrong = [
        text for operation in operations for mode, names in MODES for text in declared_as_answered(operation, mode, known if names else {})
    ]
    assert wrong == []


SCOPES: Final = ("read", "ingest", "operate", "admin")
ONCE: Final = settings(TRIED, max_examples=1)


@pytest.fixture(params=["empty", "filled"])
def asking(request: pytest.FixtureRequest, tmp_path: Path, empty_store: Path) -> Iterator[tuple[Server, Any]]:
    """A server that asks for keys, with an empty or a filled store, and what it declares, with the server behind it."""
    with running(tmp_path, empty_store) as server:
        if request.param == "filled":
            server.send(*demo.events(NOW, "edition"), b'{"no": "event"}')
        else:
            server.fold()
        found = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
        found.app = server.asking_for_keys(not_found_wait_s=0.0).app
        found.config.update(base_url=URL)
        yield server, found


def beyond_rights(operation: Any, keys: Mapping[str, dict[str, str]]) -> Iterator[str]:
    """What is wrong with the answers to a call of each principal."""
    needed = operation.definition.raw.get("x-required-scope")
    wrong: list[str] = []

    @ONCE
    @given(case=operation.as_strategy(generation_mode=POSITIVE))
    def answers_each(case: Case) -> None:
        wait_for_nothing(case)
        for scope, key in keys.items():
            answer = case.call(headers=key)
            if (answer.status_code == 403) != (needed not in (None, scope)):
                wrong.append(f"{operation.label} as {scope}: {answer.status_code} {answer.text[:200]}")
            case.validate_response(answer, checks=CHECKS)

    try:
        answers_each()
    except FailureGroup as failures:
        wrong += [f"{operation.label}: {failure}" for failure in failures.exceptions]
    return iter(wrong)


def test_each_principal_gets_what_is_declared_and_nothing_beyond_its_rights(asking: tuple[Server, Any]) -> None:
    server, document = asking
    keys = {scope: server.key(f"of-this-test/{scope}", scope) for scope in SCOPES}  # no name that a call may be made with
    operations = [found.ok() for found in document.get_all_operations()]
    assert [text for operation in operations for text in beyond_rights(operation, keys)] == []


def test_what_the_guard_and_the_encoding_refuse_is_declared(server: Server, document: Any) -> None:
    for found in document.get_all_operations():
        operation, client = found.ok(), server.client_of(access=AccessPolicy(allowed_hosts=frozenset()))
        answer = client.request(operation.method, operation.path)
        assert answer.status_code == 403
        assert operation.is_valid_response(answer), operation.label
    for path in ("", "/batch", "/events"):
        answer = server.client.post(LINEAGE + path, content=b"{}", headers={"content-encoding": "br"})
        assert answer.status_code == 415
        assert document[LINEAGE + path]["POST"].is_valid_response(answer)
