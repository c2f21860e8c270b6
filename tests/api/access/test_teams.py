"""Principals that are limited to namespaces: every question of the API, asked by a team of a graph that it shares with others."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.api.support import NOW, Server
from tests.events import T0
from tests.visibility.teamwork import OWN, Name, Scene, make_scene

from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.teams import Teams
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.scopes import REQUIREMENTS
from lineage_bridge.config.people import TeamSettings
from lineage_bridge.model.access import AccessScope
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.state.keys import WatchedKeys
from lineage_bridge.visibility.border import BEYOND

SEEDS = (1, 2)
TEAMS = {"ours": TeamSettings(namespaces=OWN)}
TRIED_ELSEWHERE = {
    "GET /api/v1/analysis": "test_an_analysis_is_of_ones_own",
    "GET /api/v1/graph/pulse/stream": "tests/api/routes/page/test_rate_stream.py",
    "GET /api/v1/pins": "tests/api/routes/operations/test_pins.py",
    "GET /api/v1/pins/{pin_id}": "as above",
    "POST /api/v1/pins": "as above",
    "DELETE /api/v1/pins/{pin_id}": "as above",
    "GET /api/v1/push/providers": "test_what_is_of_all_is_refused",
    "GET /api/v1/ready": "tells of the server",
    "GET /metrics": "test_what_is_of_all_is_refused",
    "GET /api/v1/source-kinds": "tells of the program",
    "GET /api/v1/sources": "test_what_is_of_all_is_refused",
    "GET /api/v1/sources/{name}": "as above",
    "GET /api/v1/input-kinds": "tells of the program",
    "GET /api/v1/inputs": "test_what_is_of_all_is_refused",
    "GET /api/v1/inputs/{name}": "as above",
    "GET /api/v1/target-kinds": "tells of the program",
    "GET /api/v1/targets": "test_what_is_of_all_is_refused",
    "GET /api/v1/targets/{name}": "as above",
    "GET /api/v1/targets/{name}/ledger": "as above",
    "GET /api/v1/targets/{name}/publication": "as above",
    "GET /api/v1/tasks": "as above",
    "GET /api/v1/tasks/{task_id}": "as above",
}
Question = tuple[str, str, dict[str, Any]]
"""The route, the path below /api/v1, and the arguments."""


def clients(server: Server, *, neighbours: bool) -> tuple[TestClient, TestClient]:
    """A client of the team, and one of a principal without limits."""
    watched = KeyAuthenticator(WatchedKeys(server.state), server.services.key, lambda: NOW, teams=Teams(TEAMS, neighbours=neighbours))
    keys = {name: server.key(f"{name}{neighbours}", "read", namespaces=OWN if name == "ours" else ()) for name in ("ours", "all")}
    found = {name: server.client_of("192.0.2.1", access=AccessPolicy(watched, required=True), not_found_wait_s=0.0) for name in keys}
    for name, headers in keys.items():
        found[name].headers.update(headers)
    return found["ours"], found["all"]


@pytest.fixture(params=SEEDS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return make_scene(request.param)


@pytest.fixture
def filled(server: Server, scene: Scene) -> Server:
    server.send(*scene.events)
    for event in scene.rejected.values():
        server.client.post("/api/v1/lineage", content=event)
    server.fold()
    return server


def questions(scene: Scene, server: Server, names: dict[Name, str]) -> Iterator[Question]:
    """Every question, about every dataset, job and run of all teams. `names`: node ids."""
    graph, early = server.services.graph_id, format_time(T0 - 1)
    for route in (
        "/aliases",
        "/changes",
        "/graph/drift",
        "/graphs",
        "/graphs/confluent/view",
        "/graphs/enriched/view",
        "/lineage/datasets",
    ):
        yield route, route, {}
    yield from _of_the_estate()
    for route in ("/lineage/events", "/lineage/jobs", "/quarantine"):
        yield route, route, {}
    yield "/lineage/jobs", "/lineage/jobs", {"type": "job"}
    yield "/graphs/enriched/view", "/graphs/enriched/view", {"names": "standard"}
    yield "/lineage/events", "/lineage/events", {"records": "true", "namespace": "*"}
    yield "/lineage/datasets", "/lineage/datasets", {"namespace": "*", "limit": 1, "offset": 2}
    yield "/graph/facets/foreign", "/graph/facets/foreign", {}
    yield "/graph/diff", "/graph/diff", {"since": early, "limit": 5000}
    for path in ("", "/nodes", "/edges", "/export"):
        yield f"/graphs/{{graph_id}}{path}", f"/graphs/{graph}{path}", {}
    yield "/graphs/{graph_id}/nodes", f"/graphs/{graph}/nodes", {"limit": 2, "offset": 1}
    yield "/graphs/{graph_id}/edges", f"/graphs/{graph}/edges", {"limit": 2, "offset": 1}
    for words in ("x", "set", "select", "column", "described", "owner", "kafka", "failure", "bad"):
        yield "/search", "/search", {"q": words, "limit": 1000}
    yield "/search", "/search", {"has": "schema"}
    for work in scene.jobs:
        about = {"namespace": work.job[0], "name": work.job[1]}
        yield from _of_run(work.run)
        yield "/lineage/jobs/detail", "/lineage/jobs/detail", about
        yield "/graph/runs", "/graph/runs", about
        yield "/graph/facets/history", "/graph/facets/history", {**about, "kind": "job", "key": "sql"}
        yield "/graph/statistics", "/graph/statistics", {"job_namespace": work.job[0], "job_name": work.job[1], "since": early}
        yield "/search", "/search", {"q": work.job[1]}
        yield "/search", "/search", {"q": f"query{work.job[1]}"}
        yield from _around(about, "job")
    for name in (*scene.datasets, *scene.other_names):
        yield from _of_dataset(name, scene)
    for name, event_id in ((name, _event_id(server, event)) for name, event in scene.rejected.items()):
        yield "/quarantine/{event_id}/body", f"/quarantine/{event_id}/body", {"name": name[1]}
    for id_ in names.values():
        yield "/graphs/{graph_id}/nodes/{node_id:path}", f"/graphs/{graph}/nodes/{id_}", {}
        for direction in ("upstream", "downstream"):
            yield f"/graphs/{{graph_id}}/query/{direction}/{{node_id:path}}", f"/graphs/{graph}/query/{direction}/{id_}", {"hops": 8}


def _of_the_estate() -> Iterator[Question]:
    for scale in ("environment", "system"):
        yield "/estate", "/estate", {"scale": scale, "namespaces": 1000}
        yield "/estate", "/estate", {"scale": scale, "limit": 1}


def _of_run(run: str) -> Iterator[Question]:
    yield "/graph/runs/{run_id:path}", f"/graph/runs/{run}", {}
    yield "/graph/runs/{run_id:path}/tree", f"/graph/runs/{run}/tree", {}
    yield "/lineage/events/{run_id:path}", f"/lineage/events/{run}", {}
    yield "/graph/runs", "/graph/runs", {"parent": run}
    yield "/graph/statistics", "/graph/statistics", {"run": run}
    for direction in ("upstream", "downstream"):
        yield "/graph/runs/{run_id:path}/lineage", f"/graph/runs/{run}/lineage", {"direction": direction, "depth": 9}


def _of_dataset(name: Name, scene: Scene) -> Iterator[Question]:
    about = {"namespace": name[0], "name": name[1]}
    for route in (
        "/lineage/datasets/detail",
        "/graph/schemas",
        "/graph/schemas/diff",
        "/graph/life",
        "/graph/facets/foreign",
        "/graph/access",
    ):
        yield route, route, about
    for key in ("schema", "columnLineage"):
        yield "/graph/facets/history", "/graph/facets/history", {**about, "key": key}
    for direction in ("upstream", "downstream", "both"):
        yield "/lineage/datasets/lineage", "/lineage/datasets/lineage", {**about, "direction": direction, "depth": 20}
    for direction in ("upstream", "downstream"):
        whole = {**about, "direction": direction, "indirect": "true", "held": "true", "access": "true", "suggestions": "true"}
        yield "/graph/trace", "/graph/trace", whole
        yield "/graph/trace", "/graph/trace", {**about, "direction": direction, "field": f"column{name[1]}"}
    yield "/graph/statistics", "/graph/statistics", {**about, "since": format_time(T0)}
    yield "/lineage/events", "/lineage/events", {"dataset_namespace": name[0], "dataset": name[1]}
    yield "/search", "/search", {"q": f"described{name[1]}"}
    yield "/search", "/search", {"owner": f"owner{name[1]}"}
    yield "/lineage/datasets/detail", "/lineage/datasets/detail", {**about, "name": name[1][:-1]}
    yield from _around(about, "dataset")
    yield "/graph/ledger", "/graph/ledger", {"target_namespace": name[0], "target_name": name[1]}
    yield "/overview", "/overview", {}
    yield "/graph/schemas/changes", "/graph/schemas/changes", {"since": format_time(T0 - 1)}
    yield "/graph/impact", "/graph/impact", {"namespace": "*", "flows": "true", "details": "true"}
    for other in scene.datasets[::2]:
        ends = {"source_namespace": name[0], "source_name": name[1], "target_namespace": other[0], "target_name": other[1]}
        yield "/graph/paths", "/graph/paths", ends
        yield "/graph/ledger", "/graph/ledger", ends


def _around(about: dict[str, str], kind: str) -> Iterator[Question]:
    for direction in ("upstream", "downstream", "both"):
        whole = {**about, "kind": kind, "direction": direction, "depth": 20}
        yield "/graph/neighbourhood", "/graph/neighbourhood", {**whole, "columns": "true"}
        yield "/graph/neighbourhood", "/graph/neighbourhood", {**whole, "depth": 1, "details": "true"}
        yield "/graph/neighbourhood", "/graph/neighbourhood", {**whole, "at": format_time(NOW - 1)}
        yield "/graph/diff", "/graph/diff", {**whole, "since": format_time(T0 + 1)}
        yield "/graph/timeline", "/graph/timeline", {**whole, "since": format_time(T0 - 1)}
        yield "/graph/pulse", "/graph/pulse", {**whole, "window_s": 86_400}
        if direction != "both":
            yield "/graph/impact", "/graph/impact", {**whole, "flows": "true", "details": "true"}


def is_about_others(scene: Scene, path: str, query: dict[str, Any]) -> bool:
    """Whether a question is about a dataset, job or run that others own."""
    ends = [
        (query[f"{end}namespace"], query[f"{end}name"])
        for end in ("", "source_", "target_", "job_")
        if f"{end}namespace" in query and f"{end}name" in query
    ]
    foreign = any(end in scene.names and not scene.is_own(end) for end in ends)
    runs = [work for work in scene.jobs if work.run in path or work.run in query.values()]
    return foreign or any(not scene.is_own(work.job) for work in runs)


def _event_id(server: Server, event: bytes) -> str:
    return next(record.event_id.hex() for record in server.stored() if record.body == event)


def ids_of(client: TestClient, scene: Scene) -> dict[Name, str]:
    """Opaque ids of nodes, as a principal without limits sees them."""
    found: dict[Name, str] = {}
    for name in (*scene.datasets, *scene.other_names):
        answer = client.get("/api/v1/graph/neighbourhood", params={"namespace": name[0], "name": name[1], "direction": "both"}).json()
        found.update({(node["namespace"], node["name"]): node["id"] for node in answer["nodes"]})
    return found


def node_ids(client: TestClient, server: Server) -> dict[Name, str]:
    nodes = client.get(f"/api/v1/graphs/{server.services.graph_id}/nodes").json()["nodes"]
    return {(node["namespace"], node["name"]): node["node_id"] for node in nodes}


def secret_words(scene: Scene, ids: dict[Name, str], *, neighbours: bool) -> set[str]:
    """What no answer may contain: words of others, their ids and runs, but for what one's own producers wrote, and names of neighbours."""
    seen = scene.neighbours if neighbours else set()
    foreign = set(scene.names) - scene.own_names
    words = {f"{prefix}{name[1]}" for name in foreign for prefix in ("column", "described", "owner", "query", "failure")}
    words |= {name[0] for name in foreign} - {name[0] for name in (*seen, *scene.own_names)}
    words |= {name[1] for name in foreign - seen} | {ids[name] for name in foreign - seen if name in ids}
    words |= {work.run for work in scene.jobs if not scene.is_own(work.job)}
    return words | {name[1] for name in scene.rejected if not scene.is_own(name)}


@pytest.mark.parametrize("neighbours", [True, False], ids=["names", "nothing"])
def test_no_answer_has_a_word_of_others(filled: Server, scene: Scene, *, neighbours: bool) -> None:
    ours, everybody = clients(filled, neighbours=neighbours)
    words = secret_words(scene, ids_of(everybody, scene), neighbours=neighbours)
    pattern, written = re.compile("|".join(map(re.escape, sorted(words)))), scene.own_texts
    leaks = []
    asked = list(questions(scene, filled, node_ids(everybody, filled)))
    for route, path, query in asked:
        answer = ours.get(f"/api/v1{path}", params=query)
        assert answer.status_code in ((404,) if is_about_others(scene, path, query) else (200, 404, 422)), (path, query, answer.text)
        # An error says what was asked for, and so may links to the next page.
        given = f"{path} {json.dumps(query)}"
        found = {word for word in pattern.findall(answer.text + str(answer.headers)) if word not in given}
        if route.startswith(("/lineage/events", "/quarantine")) or neighbours:
            found = {word for word in found if word not in written}
        leaks += [(path, query, word) for word in sorted(found)]
    assert leaks == []
    assert {route for route, *_ in asked} | {route.removeprefix("GET /api/v1") for route in TRIED_ELSEWHERE} == {
        route.removeprefix("GET /api/v1") for route, needed in REQUIREMENTS.items() if needed is AccessScope.READ
    }


def test_ones_own_is_as_everybody_sees_it(filled: Server, scene: Scene) -> None:
    both = clients(filled, neighbours=True)
    for name in sorted(scene.own_names):
        about, kind = {"namespace": name[0], "name": name[1]}, "job" if name[0].endswith("jobs") else "dataset"
        same(both, f"/lineage/{kind}s/detail", about, _without_foreign_names)
        same(both, "/graph/facets/history", {**about, "kind": kind, "key": "sql"})
        for direction in ("upstream", "downstream"):
            around = {**about, "kind": kind, "direction": direction, "depth": 20}
            same(both, "/graph/neighbourhood", around, lambda walk: _own_of_walk(scene, walk))
            impacts = [client.get("/api/v1/graph/impact", params=around).json() for client in both]
            assert _own(scene, impacts[0]["affected"]) == _own(scene, impacts[1]["affected"])
            assert _affected(scene, impacts[0]) == _affected(scene, impacts[1])
    for route, members in (("/lineage/datasets", OWN), ("/lineage/jobs", OWN), ("/lineage/events", OWN)):
        same(both, route, {}, lambda found, spaces=members: [item for item in found if _namespace(item) in spaces])
    for name in scene.own_names:
        if not name[0].endswith("jobs"):
            events = {"dataset_namespace": name[0], "dataset": name[1]}
            same(both, "/lineage/events", events, lambda found: [item for item in found if _namespace(item) in OWN])
    for work in scene.jobs:
        if scene.is_own(work.job):
            same(both, f"/lineage/events/{work.run}", {})
    for words in ("set", "mine", "query", "described", "x"):
        same(both, "/search", {"q": words, "limit": 1000}, lambda page: [item for item in page["results"] if item["namespace"] in OWN])
    same(both, "/changes", {"kind": "node"}, lambda feed: [c["node"] for c in feed["changes"] if scene.is_own(_name(c["node"]))])


def same(clients: tuple[TestClient, TestClient], path: str, query: dict[str, Any], part: Any = lambda answer: answer) -> None:
    """Both get the same part of an answer."""
    answers = [client.get(f"/api/v1{path}", params=query) for client in clients]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert part(answers[0].json()) == part(answers[1].json()), (path, query)


def _name(item: dict[str, Any]) -> Name:
    return item["namespace"], item["name"]


def _namespace(item: dict[str, Any]) -> str:
    about = item if "namespace" in item else item["job"] if "job" in item else item["dataset"]
    return str(about["namespace"])


def _own(scene: Scene, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if scene.is_own(_name(item.get("node", item)))]


def _own_of_walk(scene: Scene, walk: dict[str, Any]) -> dict[str, Any]:
    """What of a walk is one's own: nodes with their distances, edges and ports between them."""
    nodes = _own(scene, walk["nodes"])
    ids = {node["id"] for node in nodes}
    edges = [edge for edge in walk["edges"] if {edge["source"], edge["target"], edge["job"]} <= ids]
    return {"nodes": nodes, "edges": edges, "ports": [port for port in walk["ports"] if {port["job"], port["dataset"]} <= ids]}


def _affected(scene: Scene, impact: dict[str, Any]) -> int:
    """How many datasets and jobs are affected, each once whatever its names."""
    listed = {scene.other_names.get(_name(item["node"]), _name(item["node"])) for item in impact["affected"]}
    return len(listed) + int(sum(impact.get("beyond", {}).values()))


def _without_foreign_names(detail: dict[str, Any]) -> dict[str, Any]:
    """A job's datasets and the runs around its newest run may be beyond the border."""
    run = {key: value for key, value in detail.get("latest_run", {}).items() if "parent" not in key and key not in ("inputs", "outputs")}
    return {**detail, "latest_run": run, "latest_inputs": [], "latest_outputs": []}


def test_the_oracle_knows_how_far_a_walk_leads(filled: Server, scene: Scene) -> None:
    """What of one's own a walk reaches by way of others is what the events say, read by hand."""
    ours, _ = clients(filled, neighbours=False)
    for name in filter(scene.is_own, scene.datasets):
        walk = ours.get(
            "/api/v1/graph/neighbourhood", params={"namespace": name[0], "name": name[1], "direction": "downstream", "depth": 50}
        ).json()
        reached = {_name(node) for node in walk["nodes"] if "distance" in node and node["kind"] == "dataset"}
        assert {scene.other_names.get(node, node) for node in reached if node[0] != BEYOND} == {
            node for node in scene.reached(name, down=True) if scene.is_own(node)
        }
