"""Any answer about connectors and Tableflow is read or refused, in full or in part."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sources.confluent.connect import test_connect
from tests.sources.confluent.polling import SECRET, Polling, polling, topic_metadata
from tests.sources.confluent.tableflow import test_tableflow
from tests.sources.http import Reply, Request
from tests.sources.ksqldb.test_any_answer import places

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.confluent.connect import plane as connect
from lineage_bridge.sources.confluent.tableflow import plane as tableflow

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, "", "x", [], [None], ["x"], {}, {"x": None}, {"id": {}}, [{"name": "x"}], 2**70, 1.5]
)


def connectors() -> test_connect.Cloud:
    api = test_connect.Cloud()
    api.connectors["own"] = test_connect.connector(test_connect.OWN, "sink", "FAILED", "FAILED RUNNING", trace="no", msg="none")
    return api


class Changing:
    """A service whose answers have some values replaced, chosen by their number over all answers."""

    def __init__(self, api: Callable[[Request], Reply]) -> None:
        self.api = api
        self.changes: list[tuple[int, Any]] = []

    def __call__(self, request: Request) -> Reply:
        body = copy.deepcopy(self.api(request).body)
        here = [position for position in places(body) if position[1] not in ("metadata", "next")]
        for at, junk in self.changes if here else ():
            container, key = here[at % len(here)]
            container[key] = junk
        return Reply(200, body)


@pytest.fixture(params=["connect", "tableflow"])
def changing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Changing, Polling]]:
    monkeypatch.setenv("SECRET", SECRET)
    is_connect = request.param == "connect"
    api = Changing(connectors() if is_connect else test_tableflow.Tableflow())
    with polling(api, connect.planes if is_connect else tableflow.planes, topic_metadata("shop.orders", "shop.public.orders")) as poller:
        yield api, poller


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.integers(0, 500), JUNK), min_size=1, max_size=2))
def test_any_answer(changing: tuple[Changing, Polling], changes: list[tuple[int, Any]]) -> None:
    api, plane = changing
    plane.snapshot, api.changes = None, []
    plane.poll()
    api.changes = changes
    try:
        seen = plane.poll()
    except SourceError:
        return
    assert all(encode(event) for event in seen.events)
    assert plane.shared_metadata is not None
    assert {event.get("eventType") for event in plane.poll().events} <= {"RUNNING", "START", "FAIL"}, (
        "a failure may be reported a poll later"
    )
    assert {event.get("eventType") for event in plane.poll().events} <= {"RUNNING"}
