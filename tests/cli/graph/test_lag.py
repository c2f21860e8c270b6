"""Questions for something that is not found while events are not in the answers yet."""

import json
from collections.abc import Iterator

import pytest
from tests.sources.http import Reply, Request, Standin, standing

ORDERS = {"kind": "dataset", "namespace": "db", "name": "orders", "id": "00"}

NEIGHBOURHOOD = {"origin": ORDERS, "nodes": [], "edges": []}


class LaggingServer:
    """A server whose answers contain the dataset `orders` once its readiness was asked for `catches_up_after` times."""

    def __init__(self) -> None:
        self.pipeline, self.catches_up_after, self.question = "ok", 4, 0
        self.has_store = True

    def answer(self, request: Request) -> Reply:
        behind = self.question < self.catches_up_after
        if request.parts[-1] == "ready":
            self.question += 1
            lag = {"bytes": 1000 if behind else 0, "caught_up": not behind}
            return Reply(200, {"parts": {"pipeline": {"state": self.pipeline}}, "lag": lag})
        if behind and not self.has_store:
            return Reply(503, {"error": {"message": "there is no graph store"}})
        if request.parts[-1] == "search":
            return Reply(200, {"results": [] if behind or request.query["q"] != "orders" else [ORDERS]})
        if not behind and request.query["kind"] == "dataset" and request.query["name"] == "orders":
            return Reply(200, NEIGHBOURHOOD)
        return Reply(
            404, {"error": {"message": "there is no dataset so far: 1,000 bytes of events are not in the graph yet", "hint": "ask again"}}
        )


@pytest.fixture
def lagging() -> LaggingServer:
    return LaggingServer()


@pytest.fixture
def url(lagging: LaggingServer) -> Iterator[str]:
    with standing(Standin(lagging.answer)) as server:
        yield server.url


def test_a_search_without_results_waits_for_pending_events(call, url):
    result = call("search", "orders", "--url", url)
    assert "orders" in result.out
    assert result.err == "nothing found yet; 1.0 kB of events are not in the answers yet: waiting for them, at most 120 s\n"


def test_a_server_without_a_graph_is_waited_for(call, url, lagging):
    lagging.has_store, lagging.pipeline = False, "absent"
    result = call("search", "orders", "--url", url)
    assert "orders" in result.out
    assert "waiting for them" in result.err


def test_a_search_without_results_does_not_wait_when_answers_are_complete(call, url, lagging):
    lagging.catches_up_after = 0
    result = call("search", "nothing", "--url", url)
    assert (result.out, result.err) == ("", "no dataset or job matches 'nothing'\n")


def test_an_error_points_to_the_status_if_the_pipeline_is_down(call, url, lagging):
    lagging.pipeline, lagging.catches_up_after = "dead", 1000
    result = call("lineage", "db", "orders", "--url", url)
    assert result.code == 1
    assert result.err == (
        "error: there is no dataset so far: 1,000 bytes of events are not in the graph yet "
        "(try again when `lineage-bridge status` says that answers are complete)\n"
    )


def test_a_dataset_is_asked_for_again_before_it_is_taken_for_a_job(call, url):
    result = call("lineage", "db", "orders", "--json", "--url", url)
    assert result.code == 0, result.err
    assert json.loads(result.out) == NEIGHBOURHOOD
