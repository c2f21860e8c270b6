"""What other OpenLineage servers answer, and what is published coming back."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, Other, added, published
from tests.catalogs.places import Place, edges_of
from tests.events import KEY, dataset, job_event

from lineage_bridge.catalogs.http import TargetClient
from lineage_bridge.catalogs.kinds.openlineage import OpenLineageSettings
from lineage_bridge.errors import BusyError
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.log_record import RecordKind

LINEAGE = "/api/v1/lineage"


def _there(other: Other, url: str = "") -> Place:
    return Place("openlineage", {"url": url or other.url, "events": "jobs", "at_once": 1}, set, has_datasets=True)


def test_a_200_that_tells_of_a_failure_is_no_success(ours: Server, other: Other, faulty: Callable) -> None:
    proxy = faulty(other.url)
    proxy.answer(200, LINEAGE, body=b'{"status": "failure", "message": "unknown table"}')
    added(ours, _there(other, proxy.url))
    assert published(ours).outcomes == {"refused": 4}


def test_compressed_events_are_the_same(ours: Server, other: Other) -> None:
    added(ours, _there(other), compress=True)
    assert published(ours).outcomes == {"done": 4}
    assert edges_of([json.loads(record.body) for record in other.server.stored()]) == EDGES


# what comes back


@pytest.mark.parametrize("events", ["jobs", "runs"])
def test_what_comes_back_is_no_evidence_and_is_not_published_again(ours: Server, other: Other, events: str) -> None:
    """A second LineageBridge publishes to the first what it got from it, and one job of its own."""
    added(ours, _there(other), events=events)
    published(ours)
    other.server.send(job_event("own", inputs=[dataset("e")], outputs=[dataset("f")]))
    before = _export(ours)
    back = Place("files", {"events": events}, set)
    added(other.server, back)
    published(other.server)
    lines = (other.server.folder / "published" / "lineage.ndjson").read_bytes().splitlines()
    codes = [ours.client.post(LINEAGE, content=line) for line in lines]
    ours.fold()
    by_job = {json.loads(line).get("job", {}).get("name"): answer for line, answer in zip(lines, codes, strict=True)}
    assert by_job["own"].status_code == 201
    for name in ("clean", "load", "declared"):
        assert (by_job[name].status_code, by_job[name].json()["code"]) == (409, "own_publication")
    rejected = [record for record in ours.stored() if record.kind == RecordKind.REJECTED]
    assert len(rejected) == len(lines) - 1
    assert {line for line in _export(ours) if '"own"' not in line and '"f"' not in line} >= before
    assert {item.name for item in published(ours).operations} == {"own"}


def test_each_installation_is_named_once_in_the_order_of_publishing(ours: Server, other: Other) -> None:
    added(ours, _there(other))
    published(ours)
    other.server.fold()
    added(other.server, Place("files", {"events": "jobs"}, set))
    published(other.server)
    events = list(map(json.loads, (other.server.folder / "published" / "lineage.ndjson").read_bytes().splitlines()))
    marks = [
        event[kind]["facets"]["lineagebridge_publication"]["installations"]
        for event in events
        for kind in ("job", "dataset")
        if kind in event
    ]
    assert marks == [[graph_id(KEY), graph_id(other.server.key_bytes)]] * 4


def _export(server: Server) -> set[str]:
    """All nodes and edges of the graph, without times."""
    nodes = server.ask(f"/graphs/{graph_id(KEY)}/nodes", limit=1000)
    edges = server.ask(f"/graphs/{graph_id(KEY)}/edges", limit=1000)
    return {
        json.dumps({key: item[key] for key in ("node_id", "src_id", "dst_id") if key in item})
        for page in (nodes, edges)
        for item in _items(page)
    }


def _items(page: Any) -> list:
    return page if isinstance(page, list) else next(value for value in page.values() if isinstance(value, list))


# tries


def test_each_try_of_a_request_has_headers_of_its_own(other: Other, faulty: Callable) -> None:
    """A token may expire while a target is waited for."""
    proxy, tokens = faulty(other.url), iter("abc")
    proxy.answer(503, "/api", times=2)
    seen: list[str] = []

    def headers() -> dict[str, str]:
        seen.append(next(tokens))
        return {"X-Token": seen[-1]}

    def thrice(request: Callable[[], Any], _call: str = "", /) -> Any:
        for _ in range(2):
            with pytest.raises(BusyError):
                request()
        return request()

    client = TargetClient(OpenLineageSettings.model_validate({"url": proxy.url}), thrice)
    assert client.call("GET", "/api/v1/health", None, headers).status == 200
    assert seen == ["a", "b", "c"]
    client.close()
